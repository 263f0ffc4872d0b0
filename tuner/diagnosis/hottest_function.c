/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "tuner/diagnosis/gpu_impl.h"
#include "tuner/bound/function.h"

static const double SHARE_LEAST = 0.1, GAIN_LEAST = 1.01;

static const json_t *functions_of(const struct study *study, size_t row) {
	const json_t *functions = json_object_get(study_row(study, row)->counted, "functions");
	return json_is_array(functions) ? functions : NULL;
}

static void evidence_add(struct finding *finding, const struct gpu_hot *hot) {
	finding_evidence(finding, EVIDENCE_COUNTER, 100 * hot->share, "%",
	                 "%.0f %% of the GPU's time: %.0f launches of %.3g ms each", 100 * hot->share, hot->launches,
	                 1e3 * hot->mean_s);
	finding_evidence(finding, EVIDENCE_COUNTER, fmax(hot->sm, hot->memory), "%",
	                 "its SMs reach %.0f %% of their peak, caches and memory %.0f %%", hot->sm, hot->memory);
	for (size_t i = 0; i < 2 && hot->stalls[i].name; i++)
		finding_evidence(finding, EVIDENCE_COUNTER, 100 * hot->stalls[i].share, "%", "%.0f %% of its warps %s (%s)",
		                 100 * hot->stalls[i].share, hot->stalls[i].words, hot->stalls[i].name);
	finding_known(finding, EVIDENCE_COUNTER, hot->warps, "%", NULL, "%.0f %% of the warps that fit are there",
	              hot->warps);
}

static double known(const struct study *study, size_t row) {
	struct gpu_hot hot;
	return gpu_hot_find(functions_of(study, row), &hot) ? hot.share : NAN;
}

/* Reads the functions of the winner, if they were counted. */
static void examine(const struct study *study, struct findings *findings) {
	size_t rows[GPU_SUBJECTS];
	struct gpu_hot hot;
	char words[GPU_HOT_WORDS];
	if (gpu_subjects(study, known, rows) == 0 || !gpu_hot_find(functions_of(study, rows[0]), &hot) ||
	    hot.share < SHARE_LEAST)
		return;
	gpu_hot_words(&hot, words, sizeof words);
	char subject[PROBE_TEXT];
	struct finding *finding = findings_add(findings, CONFIDENCE_HIGH, hot.gain >= GAIN_LEAST ? hot.gain : 1,
	                                       "%.80s takes %.0f %% of the GPU's time in %s and %s", hot.name,
	                                       100 * hot.share, gpu_subject_words(study, rows[0], subject), words);
	evidence_add(finding, &hot);
	gpu_subject_about(finding, study, rows[0]);
}

const struct diagnosis diagnosis_hottest_function = {
	.name = "hottest_function",
	.summary = "the function of a GPU that takes the most time, and what bounds it",
	.device = "cuda",
	.examine = examine,
	.always = true,
};
