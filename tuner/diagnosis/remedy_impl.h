/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A parameter with a value that suffers from something which its other values prevent, and only with several threads.
 */
#ifndef TUNER_DIAGNOSIS_REMEDY_IMPL_H
#define TUNER_DIAGNOSIS_REMEDY_IMPL_H
#include "tuner/diagnosis/diagnosis_probe.h"

struct remedy {
	size_t column;
	struct study_ratio ratio; /* time of the value that suffers over that of the other */
	int bad, good;            /* levels */
	size_t problem_row;       /* the problem; SIZE_MAX: all measured ones */
	struct study_ratio alone; /* the same with one thread; pairs is 0 if not measured */
	bool only_together;       /* one thread does not show the effect */
};
struct remedy_words {
	const char *names; /* of the column */
	const char *bad, *good;
	const char *sure_bad, *sure_good; /* a column of any name counts if it has one of each; NULL: none does */
};
/* Finds one for each value and problem for which it holds; returns their number. */
size_t remedies_find(const struct study *study, const struct remedy_words *words, struct remedy found[PROBE_CASES]);
/* Is it more than the distance of memory can cost, so that something else has to add to it? */
bool remedy_beyond_distance(const struct remedy *remedy);
/* Sets "compare .." of both values, or a sweep over threads if one thread was never measured. */
void remedy_next(struct finding *finding, const struct study *study, const struct remedy *remedy);
#endif
