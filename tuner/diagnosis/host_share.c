/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bottleneck moves from the GPU to the host and the copies before these take half of the time: each optimisation of
 * the GPU makes their share larger, and limits what the next one can bring (Amdahl, 1967). */
#include <math.h>

#include "base/mem.h"
#include "tuner/diagnosis/gpu_impl.h"

/* Beyond MOST the host or the copies alone are the bottleneck, which are other diagnoses. */
static const double SHARE_LEAST = 0.2, SHARE_MOST = 0.5, GROWS = 1.5, SUM_MOST = 1.05, NOTHING = 0.01;

/* The parts of the host and of the copies, NAN if the GPU's own time or both of them are unknown. */
static double rest_of(const struct study *study, size_t row) {
	double gpu = gpu_kernel_time(study, row), cpu = study_figure(study, row, "cpu_s"),
		   copies = gpu_copy_time(study, row);
	double time = study_row(study, row)->value, known = (isnan(cpu) ? 0 : cpu) + (isnan(copies) ? 0 : copies);
	if (!(gpu > 0) || (isnan(cpu) && isnan(copies)) || gpu + known > SUM_MOST * time)
		return NAN;
	return known;
}

static double share_of(const struct study *study, size_t row) {
	return rest_of(study, row) / study_row(study, row)->value;
}

/* The slowest and the fastest row of a problem. */
static bool ends_find(const struct study *study, size_t problem, size_t *slow, size_t *fast) {
	*slow = *fast = SIZE_MAX;
	for (size_t r = 0; r < study_rows(study); r++) {
		/* A version that has all on the GPU does not show where the others' time goes. */
		if (!study_usable(study, r) || !study_same_problem(study, r, problem) || !(share_of(study, r) > NOTHING))
			continue;
		*slow = *slow == SIZE_MAX || study_row(study, r)->value > study_row(study, *slow)->value ? r : *slow;
		*fast = *fast == SIZE_MAX || study_row(study, r)->value < study_row(study, *fast)->value ? r : *fast;
	}
	return *slow != *fast;
}

static void report(const struct study *study, struct findings *findings, size_t slow, size_t fast) {
	double before = share_of(study, slow), now = share_of(study, fast), cpu = study_figure(study, fast, "cpu_s");
	double copies = gpu_copy_time(study, fast), time = study_row(study, fast)->value;
	mem_auto char *from = probe_words(study, slow, ""), *to = probe_words(study, fast, "");
	struct finding *finding =
		findings_add(findings, CONFIDENCE_MEDIUM, 1 / (1 - now),
	                 "the bottleneck moves to the host and the copies: they take %.0f %% of the "
	                 "time now and took %.0f %% when the GPU "
	                 "was slower; even an infinitely fast GPU would bring at most %.2g times more",
	                 100 * now, 100 * before, 1 / now);
	finding_evidence(finding, EVIDENCE_FIGURE, 100 * before, "%", "%s: %.0f %% of %.3g ms", from, 100 * before,
	                 1e3 * study_row(study, slow)->value);
	finding_evidence(finding, EVIDENCE_FIGURE, 100 * now, "%", "%s: %.0f %% of %.3g ms", to, 100 * now, 1e3 * time);
	finding_known(finding, EVIDENCE_FIGURE, 100 * cpu / time, "%", NULL, "the host takes %.0f %%", 100 * cpu / time);
	finding_known(finding, EVIDENCE_FIGURE, 100 * copies / time, "%", NULL, "copies take %.0f %%", 100 * copies / time);
	gpu_next_counters(finding, study, fast, "GPU_ACTIVITY");
}

static void examine(const struct study *study, struct findings *findings) {
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem), slow, fast;
	for (size_t i = problems; i-- > 0;) {
		if (!ends_find(study, problem[i], &slow, &fast))
			continue;
		double before = share_of(study, slow), now = share_of(study, fast);
		double apart = study_row(study, slow)->value / study_row(study, fast)->value;
		double time = study_row(study, fast)->value, cpu = study_figure(study, fast, "cpu_s") / time;
		double copies = gpu_copy_time(study, fast) / time;
		if (now < SHARE_LEAST || cpu > SHARE_MOST || copies > SHARE_MOST || now < GROWS * before ||
		    apart <= 1 + probe_limit(study))
			continue;
		report(study, findings, slow, fast);
		return;
	}
}

const struct diagnosis diagnosis_host_share = {
	.name = "host_share",
	.summary = "the host and the copies take a growing share as the GPU gets faster",
	.device = "cuda",
	.examine = examine,
	.always = true, /* figures are compared, not times */
};
