/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Problems at which more threads stop to help while they help at others. */
#ifndef TUNER_DIAGNOSIS_SATURATION_H
#define TUNER_DIAGNOSIS_SATURATION_H
#include "tuner/diagnosis/probe.h"

struct saturation {
	size_t problem, other; /* rows: the problem that stops, the one that goes on */
	bool other_is_larger;
	struct curve curve;             /* of the first */
	double stop, next, most;        /* threads: where it stops, one step on, and up to which the other goes on */
	struct study_ratio own, others; /* gain from there to the most threads */
};
/* One for each problem that stops beside one that does not, on teams for which the machine has room. Allocated at
 * *found; returns how many. */
size_t saturations_find(const struct study *study, bool other_is_larger, struct saturation **found);
void saturation_evidence(struct finding *finding, const struct study *study, const struct saturation *one);
/* Row of the least time of that problem with that many threads. */
size_t saturation_row(const struct study *study, const struct saturation *one, double threads);

#endif
