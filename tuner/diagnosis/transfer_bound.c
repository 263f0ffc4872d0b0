/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies between the host and the GPU within the measured time. */
#include <math.h>

#include "tuner/diagnosis/gpu_impl.h"

static const double SHARE_LEAST = 0.3, ONLY = 0.995 /* the run measures copies */;

static double share_of(const struct study *study, size_t row) {
	return gpu_copy_time(study, row) / study_row(study, row)->value;
}

static void found(const struct study *study, size_t row, const struct gpu_trend *trend, struct findings *findings) {
	double share = share_of(study, row), kernels = gpu_kernel_time(study, row);
	char subject[PROBE_TEXT], copies[PROBE_TEXT], run[PROBE_TEXT];
	struct finding *finding =
		findings_add(findings, gpu_confidence(trend, CONFIDENCE_MEDIUM), 1 / (1 - fmin(share, 0.9)),
	                 "%s spends %.0f %% of its time on copies between host and GPU",
	                 gpu_subject_words(study, row, subject), 100 * share);
	gpu_subject_about(finding, study, row);
	finding_evidence(finding, EVIDENCE_COUNTER, 1e3 * gpu_copy_time(study, row), "ms", "%s of copies in a run of %s",
	                 study_value_text(study, gpu_copy_time(study, row), copies, sizeof copies),
	                 study_value_text(study, study_row(study, row)->value, run, sizeof run));
	finding_known(finding, EVIDENCE_COUNTER, 1e3 * kernels, "ms", NULL, "and %s of kernels",
	              study_value_text(study, kernels, run, sizeof run));
	gpu_trend_evidence(finding, trend, "the time of copies");
	double bytes = study_counter(study, row, "gpu_copy_up_bytes") + study_counter(study, row, "gpu_copy_down_bytes");
	double rate = bytes / gpu_copy_time(study, row) / 1e9, ceiling = study_ceiling(study, "upload", NULL, 0);
	if (rate > 0 && ceiling > 0)
		finding_evidence(finding, EVIDENCE_CEILING, rate, "GB/s",
		                 "they reach %.1f GB/s; from pinned memory %.1f are possible", rate, ceiling);
	else
		finding_missing(finding, EVIDENCE_COUNTER,
		                "the rate of the copies (GPU_ACTIVITY), and the rate that is possible (--ceilings)");
	gpu_next_counters(finding, study, row, "GPU_ACTIVITY");
}

/* Looks for bytes that take a detour through another buffer, or that are copied at all. */
static void words_examine(const struct study *study, struct findings *findings) {
	static const char *const slow[] = {"pageable", "managed", "copied", "copies", NULL};
	static const char *const fast[] = {"pinned", "mapped", "resident", "kept", NULL};
	struct gpu_contrast contrast;
	if (gpu_contrasts(study, slow, fast, &contrast, 1) == 0)
		return;
	struct finding *finding = findings_add(findings, gpu_contrast_confidence(&contrast), contrast.ratio.ratio,
	                                       "copies between host and GPU take longer than necessary");
	gpu_contrast_about(finding, study, &contrast);
	finding_missing(finding, EVIDENCE_COUNTER, "the time of copies and of kernels (GPU_ACTIVITY)");
	gpu_next_counters(finding, study, study_winner(study), "GPU_ACTIVITY");
}

static void examine(const struct study *study, struct findings *findings) {
	size_t rows[GPU_SUBJECTS], count = gpu_subjects(study, share_of, rows);
	struct gpu_trend trend = gpu_trend_of(study, gpu_copy_time, 1);
	for (size_t i = 0; i < count && gpu_possible(study, share_of) && trend.verdict != GPU_DIFFERS; i++)
		if (share_of(study, rows[i]) >= SHARE_LEAST && share_of(study, rows[i]) < ONLY)
			found(study, rows[i], &trend, findings);
	words_examine(study, findings);
}

const struct diagnosis diagnosis_transfer_bound = {
	.name = "transfer_bound",
	.summary = "copies between host and GPU take a large part of the time",
	.device = "cuda",
	.examine = examine,
	.counted = true,
};
