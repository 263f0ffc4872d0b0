/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The host starts kernels one by one, and short ones end before the next one is started. */
#include <math.h>

#include "tuner/diagnosis/gpu_impl.h"

static const double SHARE_LEAST = 0.3, ESTIMATED_LEAST = 0.5, GAP_MOST = 50 /* us, if no ceiling is known */;

static double kernel_share(const struct study *study, size_t row) {
	return gpu_kernel_time(study, row) / study_row(study, row)->value / 2; /* they may overlap */
}

static double gap_of(const struct study *study, size_t row) { /* us per launch in which nothing runs */
	double copies = gpu_copy_time(study, row);
	double idle = study_row(study, row)->value - gpu_kernel_time(study, row) - (isnan(copies) ? 0 : copies);
	return 1e6 * idle / gpu_launches(study, row);
}

static double share_of(const struct study *study, size_t row) {
	double gap = gap_of(study, row), launch = study_ceiling(study, "launch", NULL, 0);
	double most = 4 * study_ceiling(study, "round_trip", NULL, 0);
	double each = 1e6 * study_row(study, row)->value / gpu_launches(study, row);
	if (isnan(gap))
		return launch / each >= ESTIMATED_LEAST ? fmin(1, launch / each) : 0;
	return gap <= (isnan(most) ? GAP_MOST : most) ? gap / each : 0;
}

static void found(const struct study *study, size_t row, struct findings *findings) {
	double share = share_of(study, row), launches = gpu_launches(study, row), gap = gap_of(study, row);
	double launch = study_ceiling(study, "launch", NULL, 0), time = study_row(study, row)->value;
	enum confidence sure = isnan(gap) ? CONFIDENCE_LOW : isnan(launch) ? CONFIDENCE_MEDIUM : CONFIDENCE_HIGH;
	char subject[PROBE_TEXT];
	struct finding *finding =
		findings_add(findings, sure, 1 / (1 - fmin(share, 0.9)), "%s spends %.0f %% of its time starting kernels",
	                 gpu_subject_words(study, row, subject), 100 * share);
	gpu_subject_about(finding, study, row);
	finding_evidence(finding, EVIDENCE_COUNTER, launches, NULL, "%.0f launches in a run of %.3g ms", launches,
	                 1e3 * time);
	finding_known(finding, EVIDENCE_COUNTER, gap, "us", "the time of kernels and copies alone (GPU_ACTIVITY)",
	              "nothing runs for %.1f us per launch", gap);
	finding_known(finding, EVIDENCE_CEILING, launch, "us", "the smallest time of a launch",
	              "a launch takes at least %.1f us", launch);
	if (isnan(launch))
		gpu_next_ceilings(finding, study);
	else
		gpu_next_counters(finding, study, row, "GPU_ACTIVITY");
}

static void examine(const struct study *study, struct findings *findings) {
	size_t rows[GPU_SUBJECTS], count = gpu_subjects(study, gpu_launches, rows);
	if (!gpu_possible(study, kernel_share) || gpu_trend_of(study, gpu_launches, 1).verdict == GPU_DIFFERS)
		return;
	for (size_t i = 0; i < count; i++)
		if (share_of(study, rows[i]) >= SHARE_LEAST)
			found(study, rows[i], findings);
}

const struct diagnosis diagnosis_launch_overhead = {
	.name = "launch_overhead",
	.summary = "starting kernels takes longer than running them",
	.device = "cuda",
	.examine = examine,
	.counted = true,
};
