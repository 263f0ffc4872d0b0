/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared memory moves 128 bytes per cycle of an SM, which is one wavefront. Threads of a warp that access different
 * words of a bank wait for each other (NVIDIA, CUDA C++ Best Practices Guide 13.0, "Shared Memory and Memory Banks").
 */
#include <math.h>

#include "tuner/diagnosis/gpu_impl.h"

static const double SHARE_LEAST = 0.5, CONFLICTS_LEAST = 0.5, WAVEFRONT = 128;

static double share_of(const struct study *study, size_t row) {
	return gpu_share_of(study, row, WAVEFRONT * gpu_wavefronts(study, row), "shared", NULL);
}

/* The conflicts per instruction. */
static double conflicts_of(const struct study *study, size_t row) {
	double conflicts = study_counter(study, row, "gpu_shared_load_conflicts") +
	                   study_counter(study, row, "gpu_shared_store_conflicts");
	double all = study_counter(study, row, "gpu_shared_loads") + study_counter(study, row, "gpu_shared_stores");
	return all > 0 ? conflicts / all : NAN;
}

static void found(const struct study *study, size_t row, const struct gpu_trend *trend, struct findings *findings) {
	double share = share_of(study, row), conflicts = conflicts_of(study, row);
	bool counted = !isnan(study_counter(study, row, "gpu_shared_load_wavefronts"));
	struct finding *finding = findings_add(
		findings, gpu_confidence(trend, counted ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW),
		conflicts >= CONFLICTS_LEAST ? fmin(1 + conflicts, 2) : 1, "%s is limited by shared memory%s",
		gpu_subject_words(study, row),
		conflicts >= CONFLICTS_LEAST ? ": its threads access the same banks" : ", at the rate of its passes");
	gpu_subject_about(finding, study, row);
	finding_evidence(finding, EVIDENCE_CEILING, 100 * share, "%", "its passes are %.0f %% of the GPU's measured rate",
	                 100 * share);
	finding_known(finding, EVIDENCE_COUNTER, conflicts, NULL, NULL, "an access meets %.2f bank conflicts", conflicts);
	gpu_trend_evidence(finding, trend, "the passes through shared memory");
	if (!counted)
		finding_missing(finding, EVIDENCE_COUNTER, "the number of passes and bank conflicts (GPU_SHARED)");
	gpu_next_counters(finding, study, row, "GPU_SHARED");
}

static void examine(const struct study *study, struct findings *findings) {
	size_t rows[GPU_SUBJECTS], count = gpu_subjects(study, share_of, rows);
	struct gpu_trend trend = gpu_trend_of(study, gpu_wavefronts, 1);
	if (!gpu_possible(study, share_of))
		return;
	for (size_t i = 0; i < count; i++)
		if (share_of(study, rows[i]) >= SHARE_LEAST)
			found(study, rows[i], &trend, findings);
}

const struct diagnosis diagnosis_shared_memory = {
	.name = "shared_memory",
	.summary = "passes through shared memory near its peak rate, or bank conflicts",
	.device = "cuda",
	.examine = examine,
};
