/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A parameter one of whose values suffers from something that its other values prevent, and only where there are
 * several threads. */
#ifndef TUNER_DIAGNOSIS_REMEDY_H
#define TUNER_DIAGNOSIS_REMEDY_H
#include "tuner/diagnosis/probe.h"

struct remedy {
	size_t column;
	struct study_ratio ratio; /* how many times as long the value that suffers takes */
	int bad, good;            /* levels */
	size_t problem_row;       /* the problem, SIZE_MAX: all that were measured */
	struct study_ratio alone; /* the same with one thread; pairs 0: not measured */
	bool only_together;       /* one thread shows nothing of the kind */
};
struct remedy_words {
	const char *names; /* of the column */
	const char *bad, *good;
};
/* One for each value and problem where it holds; returns how many. */
size_t remedies_find(const struct study *study, const struct remedy_words *words, struct remedy found[PROBE_CASES]);
/* "compare .." of both values, or a sweep over threads where one thread was never measured. */
void remedy_next(struct finding *finding, const struct study *study, const struct remedy *remedy);

#endif
