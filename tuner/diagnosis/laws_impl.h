/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The laws that impossible_time.c judges each time by, and how a row breaks one. */
#ifndef TUNER_DIAGNOSIS_LAWS_IMPL_H
#define TUNER_DIAGNOSIS_LAWS_IMPL_H
#include "tuner/diagnosis/diagnosis_probe.h"

struct wrong {
	enum evidence kind;
	double value;
	const char *unit;
	char text[3 * PROBE_TEXT];
	/* set by the caller, which asks for many rows: of probe_problems, and whether times follow the teams, or are too
	 * few to tell */
	size_t problem[PROBE_PROBLEMS], problems;
	bool teams_known, few;
};

enum judged { LAW_WORK, LAW_POINT /* of a curve */, LAW_SIZE /* a configuration at all sizes */ };

struct law {
	bool (*breaks)(const struct study *study, size_t row, struct wrong *wrong);
	enum judged judged;
};
/* Each ends with NULL. */
extern const struct law laws_of_work[], laws_of_sizes[], laws_of_teams[], laws_of_contrasts[];

/* Is it more than chance puts a single time beside what others predict? far: the logarithm of the ratio. */
bool law_is_far(double far);

/* Says how a time breaks a law, with a number of this unit. Returns true. */
bool law_broken(struct wrong *wrong, double value, const char *unit, const char *text, ...)
	__attribute__((format(printf, 4, 5)));
#endif
