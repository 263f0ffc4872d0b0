/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared memory moves 128 bytes per cycle of an SM, which is one wavefront. */
#include <math.h>

#include "tuner/diagnosis/gpu_impl.h"

static const double SHARE_LEAST = 0.5;

static void found(const struct study *study, size_t row, const struct gpu_trend *trend, struct findings *findings) {
	double share = gpu_shared_share(study, row);
	bool counted = !isnan(study_counter(study, row, "gpu_shared_load_wavefronts"));
	char subject[PROBE_TEXT];
	struct finding *finding = findings_add(
		findings, gpu_confidence(trend, counted ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW), fmax(1, 1 / share),
		"%s is limited by shared memory, at the rate of its passes", gpu_subject_words(study, row, subject));
	gpu_subject_about(finding, study, row);
	finding_evidence(finding, EVIDENCE_CEILING, 100 * share, "%", "its passes are %.0f %% of the GPU's measured rate",
	                 100 * share);
	gpu_trend_evidence(finding, trend, "the passes through shared memory");
	if (!counted)
		finding_missing(finding, EVIDENCE_COUNTER, "the number of passes (GPU_SHARED)");
	gpu_next_counters(finding, study, row, "GPU_SHARED");
}

static void examine(const struct study *study, struct findings *findings) {
	size_t rows[GPU_SUBJECTS], count = gpu_subjects(study, gpu_shared_share, rows);
	struct gpu_trend trend = gpu_trend_of(study, gpu_wavefronts, 1);
	if (!gpu_possible(study, gpu_shared_share))
		return;
	for (size_t i = 0; i < count; i++)
		if (gpu_shared_share(study, rows[i]) >= SHARE_LEAST)
			found(study, rows[i], &trend, findings);
}

const struct diagnosis diagnosis_shared_memory = {
	.name = "shared_memory",
	.summary = "passes through shared memory near its peak rate",
	.device = "cuda",
	.examine = examine,
	.counted = true,
};
