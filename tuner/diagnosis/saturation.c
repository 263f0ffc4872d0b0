/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/diagnosis/saturation_impl.h"

#include <math.h>

#include "base/mem.h"

static const double GOES_ON = 1.2, SIZE_APART = 2;

/* The problem on that side that gains most from larger teams. */
static bool other_find(const struct study *study, struct saturation *one, const size_t *problem, size_t problems) {
	int a = one->curve.level[one->curve.stop], b = one->curve.level[one->curve.count - 1];
	one->other = SIZE_MAX;
	for (size_t i = 0; i < problems; i++) {
		struct curve curve = one->curve;
		double apart = probe_size(study, problem[i]) / probe_size(study, one->problem);
		curve.scope.problem_row = problem[i];
		if (one->other_is_larger ? apart < SIZE_APART : apart > 1 / SIZE_APART)
			continue;
		struct study_ratio gain = curve_gain(study, &curve, a, b);
		if (gain.pairs && (one->other == SIZE_MAX || gain.ratio > one->others.ratio)) {
			one->other = problem[i];
			one->others = gain;
		}
	}
	return one->other != SIZE_MAX && one->others.ratio >= GOES_ON && probe_over(study, &one->others);
}

static bool is_saturated(const struct study *study, struct saturation *one, const size_t *problem, size_t problems) {
	struct probe_scope scope = {-1, -1, one->problem, 0, isfinite(probe_room(study)) ? probe_room(study) : 0};
	if (!curve_make(study, scope, &one->curve) || one->curve.stop + 1 >= one->curve.count)
		return false;
	one->stop = one->curve.threads[one->curve.stop];
	/* Beyond the cores, only their second threads differ, which share too much to tell one reason from another. */
	if (study_host(study)->cores > 0 && one->stop >= study_host(study)->cores)
		return false;
	one->next = one->curve.threads[one->curve.stop + 1];
	one->most = one->curve.threads[one->curve.count - 1];
	one->own =
		curve_gain(study, &one->curve, one->curve.level[one->curve.stop], one->curve.level[one->curve.count - 1]);
	return one->own.pairs && other_find(study, one, problem, problems);
}

size_t saturations_find(const struct study *study, bool other_is_larger, struct saturation **found) {
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem), count = 0, kept = 0;
	mem_auto struct probe_case *cases = mem_alloc(problems + 1, sizeof *cases);
	int threads = probe_threads(study);
	*found = mem_alloc(problems + 1, sizeof **found);
	for (size_t i = 0; i < problems && problems > 1 && threads >= 0; i++) {
		struct saturation *one = &(*found)[count];
		*one = (struct saturation){.problem = problem[i], .other_is_larger = other_is_larger};
		if (is_saturated(study, one, problem, problems))
			cases[count++].ratio = probe_apart(&one->others, &one->own);
	}
	probe_hold(study, cases, count);
	if (count && (!follows(study, threads) || !follows(study, FOLLOWS_PROBLEM)))
		count = 0;
	for (size_t i = 0; i < count; i++)
		if (cases[i].holds)
			(*found)[kept++] = (*found)[i];
	return kept;
}

size_t saturation_row(const struct study *study, const struct saturation *one, double threads) {
	struct probe_scope scope = {-1, -1, one->problem, threads, threads};
	return probe_best(study, &scope);
}

void saturation_evidence(struct finding *finding, const struct study *study, const struct saturation *one) {
	struct study_ratio before = one->curve.speedup[one->curve.stop];
	char other[PROBE_TEXT];
	finding_evidence(finding, EVIDENCE_SCALING, before.ratio, "x", "%.2f times as fast with %g thread%s as with %g",
	                 before.ratio, one->stop, probe_s(one->stop), one->curve.threads[0]);
	finding_evidence(finding, EVIDENCE_SCALING, one->own.ratio, "x", "from %g to %g threads %.2f times [%.2f, %.2f]",
	                 one->stop, one->most, one->own.ratio, one->own.ci[0], one->own.ci[1]);
	finding_evidence(finding, EVIDENCE_CONTRAST, one->others.ratio, "x", "at %s that brings %.2f times [%.2f, %.2f]",
	                 probe_problem(study, one->other, other), one->others.ratio, one->others.ci[0], one->others.ci[1]);
}
