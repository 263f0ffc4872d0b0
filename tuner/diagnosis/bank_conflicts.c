/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads of a warp that access different words of a bank of shared memory wait for each other, which takes further
 * passes (NVIDIA, CUDA C++ Best Practices Guide 13.0, "Shared Memory and Memory Banks"). By Amdahl's law at most the
 * share of the time in which shared memory is busy with such passes is lost. */
#include <math.h>

#include "tuner/diagnosis/gpu_impl.h"

static const double EACH_LEAST = 0.2;

/* The conflicts an access. */
static double each_of(const struct study *study, size_t row) {
	double all = study_counter(study, row, "gpu_shared_loads") + study_counter(study, row, "gpu_shared_stores");
	return all > 0 ? gpu_conflicts(study, row) / all : NAN;
}

static double gain_of(const struct study *study, size_t row) {
	double lost = gpu_shared_share(study, row) * gpu_conflicts(study, row) / gpu_wavefronts(study, row);
	return lost < 0.9 ? 1 / (1 - lost) : isnan(lost) ? NAN : 10;
}

static void examine(const struct study *study, struct findings *findings) {
	size_t rows[GPU_SUBJECTS], count = gpu_subjects(study, each_of, rows);
	for (size_t i = 0; i < count && gpu_possible(study, gpu_shared_share); i++) {
		double each = each_of(study, rows[i]), share = 100 * gpu_shared_share(study, rows[i]),
			   gain = gain_of(study, rows[i]);
		if (!(each >= EACH_LEAST) || gain < gpu_margin(study))
			continue;
		char subject[PROBE_TEXT];
		struct finding *finding = findings_add(findings, isnan(gain) ? CONFIDENCE_LOW : CONFIDENCE_MEDIUM, gain,
		                                       "threads of a warp access the same banks of shared memory in %s",
		                                       gpu_subject_words(study, rows[i], subject));
		gpu_subject_about(finding, study, rows[i]);
		finding_evidence(finding, EVIDENCE_COUNTER, each, NULL, "an access meets %.2f bank conflicts", each);
		finding_known(finding, EVIDENCE_CEILING, share, "%", "the rate of shared memory",
		              "the passes through shared memory are %.0f %% of the GPU's measured rate", share);
		if (isnan(share))
			gpu_next_ceilings(finding, study);
		else
			gpu_next_counters(finding, study, rows[i], "GPU_SHARED");
	}
}

const struct diagnosis diagnosis_bank_conflicts = {
	.name = "bank_conflicts",
	.summary = "threads of a warp that access different words of a bank of shared memory",
	.device = "cuda",
	.examine = examine,
	.counted = true,
};
