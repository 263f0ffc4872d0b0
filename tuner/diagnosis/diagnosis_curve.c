/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/diagnosis/diagnosis_probe.h"

struct study_ratio curve_gain(const struct study *study, const struct curve *curve, int a, int b) {
	struct probe_scope scope = curve->scope;
	return study_contrast(study, (size_t)probe_threads(study), a, b, probe_in, &scope);
}

/* The smallest team that no larger one beats. */
static size_t stop_find(const struct study *study, const struct curve *curve) {
	for (size_t i = 0; i + 1 < curve->count; i++) {
		bool beaten = false;
		for (size_t j = i + 1; j < curve->count && !beaten; j++) {
			struct study_ratio gain = curve_gain(study, curve, curve->level[i], curve->level[j]);
			beaten = probe_over(study, &gain);
		}
		if (!beaten)
			return i;
	}
	return curve->count - 1;
}

bool curve_make(const struct study *study, struct probe_scope scope, struct curve *curve) {
	int threads = probe_threads(study), first = -1;
	*curve = (struct curve){.scope = scope};
	for (int l = 0; threads >= 0 && l < (int)study_column(study, (size_t)threads)->levels; l++) {
		struct probe_scope one = scope;
		double team = value_number(study_column(study, (size_t)threads)->level[l]);
		one.least = one.most = team;
		if (team < scope.least || (scope.most > 0 && team > scope.most) || probe_best(study, &one) == SIZE_MAX)
			continue;
		first = first < 0 ? l : first;
		struct study_ratio speedup = {.ratio = 1, .ci = {1, 1}, .p = 1};
		if (l != first)
			speedup = study_contrast(study, (size_t)threads, first, l, probe_in, &scope);
		if ((l != first && speedup.pairs == 0) || curve->count == CURVE_MAX)
			continue;
		curve->level[curve->count] = l;
		curve->threads[curve->count] = team;
		curve->speedup[curve->count++] = speedup;
	}
	if (curve->count < 2)
		return false;
	curve->stop = stop_find(study, curve);
	return true;
}
