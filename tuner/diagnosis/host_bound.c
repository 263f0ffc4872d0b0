/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The host works between launches while the GPU is idle. */
#include <math.h>

#include "tuner/diagnosis/gpu_impl.h"

static const double SHARE_LEAST = 0.5, GAP_LEAST = 50 /* us, if no ceiling is known */;

static double idle_of(const struct study *study, size_t row) { /* s */
	double copies = gpu_copy_time(study, row);
	return study_row(study, row)->value - gpu_kernel_time(study, row) - (isnan(copies) ? 0 : copies);
}

static double share_of(const struct study *study, size_t row) {
	return idle_of(study, row) / study_row(study, row)->value;
}

/* The idle time alone is not enough: SMs without a warp or the host's own time must be known to agree, and neither may
 * contradict. */
static bool is_idle(const struct study *study, size_t row) {
	double active = study_counter(study, row, "gpu_cycles_active"), cpu = study_figure(study, row, "cpu_s");
	double idle = idle_of(study, row), gap = 1e6 * idle / gpu_launches(study, row),
		   launch = 4 * study_ceiling(study, "round_trip", NULL, 0);
	if (!(share_of(study, row) >= SHARE_LEAST) || gap <= (isnan(launch) ? GAP_LEAST : launch))
		return false;
	if (isnan(active) && isnan(cpu))
		return false;
	return (isnan(active) || active <= 50) && (isnan(cpu) || cpu >= idle / 2);
}

static void examine(const struct study *study, struct findings *findings) {
	size_t rows[GPU_SUBJECTS], count = gpu_subjects(study, share_of, rows);
	for (size_t i = 0; i < count; i++) {
		size_t row = rows[i];
		if (!is_idle(study, row))
			continue;
		double share = share_of(study, row), cpu = study_figure(study, row, "cpu_s");
		char subject[PROBE_TEXT], own[PROBE_TEXT];
		struct finding *finding =
			findings_add(findings, isnan(cpu) ? CONFIDENCE_MEDIUM : CONFIDENCE_HIGH, 1 / (1 - fmin(share, 0.99)),
		                 "the GPU waits for the host: it is idle for %.0f %% of the time of %s", 100 * share,
		                 gpu_subject_words(study, row, subject));
		gpu_subject_about(finding, study, row);
		finding_evidence(finding, EVIDENCE_COUNTER, 1e3 * gpu_kernel_time(study, row), "ms",
		                 "%s of kernels in a run of %s",
		                 study_value_text(study, gpu_kernel_time(study, row), own, sizeof own),
		                 study_value_text(study, study_row(study, row)->value, subject, sizeof subject));
		finding_known(finding, EVIDENCE_FIGURE, 1e3 * cpu, "ms", NULL, "the host's own work takes %s",
		              study_value_text(study, cpu, own, sizeof own));
		gpu_next_counters(finding, study, row, "GPU_ACTIVITY");
	}
}

const struct diagnosis diagnosis_host_bound = {
	.name = "host_bound",
	.summary = "the GPU waits for the host between launches",
	.device = "cuda",
	.examine = examine,
	.counted = true,
};
