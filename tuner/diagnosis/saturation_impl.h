/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Problems that stop gaining from more threads while others still gain. */
#ifndef TUNER_DIAGNOSIS_SATURATION_IMPL_H
#define TUNER_DIAGNOSIS_SATURATION_IMPL_H
#include "tuner/diagnosis/diagnosis_probe.h"

struct saturation {
	size_t problem, other; /* rows of the problem that stops scaling and of the one that continues */
	bool other_is_larger;
	struct curve curve; /* of the problem that stops */
	double stop, next,
		most; /* threads: where it stops, one step further, and the most for which the other one scales */
	struct study_ratio own, others; /* gain from there to the most threads */
};
/* Finds one for each problem that stops while another one does not, among teams that the machine has room for.
 * Allocated at *found; returns the number. */
size_t saturations_find(const struct study *study, bool other_is_larger, struct saturation **found);
void saturation_evidence(struct finding *finding, const struct study *study, const struct saturation *one);
/* The fastest row of that problem with that many threads. */
size_t saturation_row(const struct study *study, const struct saturation *one, double threads);
#endif
