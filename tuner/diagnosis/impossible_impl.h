/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of single times. */
#ifndef TUNER_DIAGNOSIS_IMPOSSIBLE_IMPL_H
#define TUNER_DIAGNOSIS_IMPOSSIBLE_IMPL_H
#include "tuner/diagnosis/diagnosis_probe.h"

struct wrong {
	enum evidence kind;
	double value;
	const char *unit;
	char text[3 * PROBE_TEXT];
	/* set by the caller, which asks for many rows: of probe_problems */
	size_t problem[PROBE_PROBLEMS], problems;
};
/* src: impossible_neighbours.c */
bool impossible_by_neighbours(const struct study *study, size_t row, struct wrong *wrong);

#endif
