/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The laws of impossible_time.c that need more than a row and its problem. */
#ifndef TUNER_DIAGNOSIS_JUDGE_IMPL_H
#define TUNER_DIAGNOSIS_JUDGE_IMPL_H
#include "tuner/diagnosis/diagnosis_probe.h"

/* Which kind of law is broken: one about work, about a point of a curve, or about a configuration at all sizes. */
enum judged { LAW_WORK, LAW_POINT, LAW_SIZE };

struct wrong {
	enum evidence kind;
	double value;
	const char *unit;
	char text[3 * PROBE_TEXT];
	/* set by the caller, which asks for many rows: of probe_problems, and whether times follow the teams */
	size_t problem[PROBE_PROBLEMS], problems;
	bool teams_known, few;
	enum judged judged;
};

/* The time of the configuration of `row` at a problem; NAN. */
double judge_time_at(const struct study *study, size_t row, size_t problem);

/* judge_curves.c: they say whether a row breaks a law, and set what it breaks. */
bool judge_beyond_linear(const struct study *study, size_t row, struct wrong *wrong);
bool judge_beyond_core(const struct study *study, size_t row, struct wrong *wrong);
bool judge_is_spike(const struct study *study, size_t row, struct wrong *wrong);
bool judge_ignores_size(const struct study *study, size_t row, struct wrong *wrong);
bool judge_exceeds_whole(const struct study *study, size_t row, struct wrong *wrong);
#endif
