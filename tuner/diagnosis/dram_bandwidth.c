/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Williams, Waterman, Patterson, Roofline: an insightful visual performance model for multicore architectures, 2009. */
#include <math.h>

#include "tuner/diagnosis/gpu_impl.h"

static const double SHARE_LEAST = 0.7, SHARE_MOST = 1.05 /* a larger share is served by a cache */;

static double most_of(const struct study *study) {
	double read = study_ceiling(study, "read", "dram", 0), copy = study_ceiling(study, "copy", "dram", 0);
	return fmax(read, copy);
}

static double counted_share(const struct study *study, size_t row) {
	return gpu_dram_bytes(study, row) / study_row(study, row)->value / most_of(study) / 1e9;
}

/* The share by the bytes that it must move at least. */
static double least_share(const struct study *study, size_t row) {
	return study_work(study, row, "bytes") / study_row(study, row)->value / most_of(study) / 1e9;
}

static double share_of(const struct study *study, size_t row) {
	double counted = counted_share(study, row);
	return isnan(counted) ? least_share(study, row) : counted;
}

static void found(const struct study *study, size_t row, struct findings *findings) {
	bool counted = !isnan(gpu_dram_bytes(study, row));
	double share = share_of(study, row), least = least_share(study, row), rate = share * most_of(study);
	struct gpu_trend trend = gpu_trend_of(study, gpu_dram_bytes, 1);
	char subject[PROBE_TEXT];
	struct finding *finding = findings_add(
		findings, counted ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM, counted && least < share ? share / least : 1,
		"%s is at %.0f %% of the GPU's memory bandwidth", gpu_subject_words(study, row, subject), 100 * share);
	gpu_subject_about(finding, study, row);
	finding_evidence(finding, counted ? EVIDENCE_COUNTER : EVIDENCE_FIGURE, rate, "GB/s", "%s %.0f GB/s",
	                 counted ? "it moves" : "it must move at least", rate);
	finding_evidence(finding, EVIDENCE_CEILING, most_of(study), "GB/s", "the measured bandwidth of the memory is %.0f",
	                 most_of(study));
	if (counted && least < share)
		finding_evidence(finding, EVIDENCE_FIGURE, share / least, NULL,
		                 "%.2f times the bytes that it must move at least", share / least);
	gpu_trend_evidence(finding, &trend, "the bytes moved");
	if (!counted)
		finding_missing(finding, EVIDENCE_COUNTER, "the bytes that the memory moved (GPU)");
	gpu_next_counters(finding, study, row, "GPU_MEM");
}

static void examine(const struct study *study, struct findings *findings) {
	size_t rows[GPU_SUBJECTS], count = gpu_subjects(study, share_of, rows);
	for (size_t i = 0; i < count && gpu_possible(study, counted_share); i++)
		if (share_of(study, rows[i]) >= SHARE_LEAST && share_of(study, rows[i]) <= SHARE_MOST)
			found(study, rows[i], findings);
}

const struct diagnosis diagnosis_dram_bandwidth = {
	.name = "dram_bandwidth",
	.summary = "the GPU's memory at its measured bandwidth",
	.device = "cuda",
	.examine = examine,
	.counted = true,
};
