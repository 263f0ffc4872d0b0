/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Registers that a thread has too few of are kept in local memory, which is global memory behind L1 (NVIDIA, CUDA C++
 * Best Practices Guide 13.0, "Local Memory"). */
#include <math.h>

#include "tuner/diagnosis/gpu_impl.h"

static const double PART_LEAST = 0.2;

static double spilled_of(const struct study *study, size_t row) {
	struct gpu_function function;
	return gpu_function_main(study, row, &function) ? function.spill_bytes : NAN;
}

/* The part of the accesses to L1 that is none to global memory. */
static double local_part(const struct study *study, size_t row) {
	double all = study_counter(study, row, "gpu_l1_sectors");
	double global =
		study_counter(study, row, "gpu_global_load_sectors") + study_counter(study, row, "gpu_global_store_sectors");
	return fmax(0, all - global) / all;
}

static void examine(const struct study *study, struct findings *findings) {
	size_t rows[GPU_SUBJECTS], count = gpu_subjects(study, spilled_of, rows);
	for (size_t i = 0; i < count; i++) {
		double spilled = spilled_of(study, rows[i]), part = local_part(study, rows[i]);
		if (!(spilled > 0 && part >= PART_LEAST))
			continue;
		double gain = gpu_gain_most(study, rows[i], (1 - part) * gpu_dram_bytes(study, rows[i]));
		if (gain < gpu_margin(study))
			continue;
		char subject[PROBE_TEXT];
		struct finding *finding = findings_add(findings, CONFIDENCE_MEDIUM, gain,
		                                       "%s has too few registers for a thread and keeps some in local memory",
		                                       gpu_subject_words(study, rows[i], subject));
		gpu_subject_about(finding, study, rows[i]);
		finding_evidence(finding, EVIDENCE_FIGURE, spilled, "B", "the compiler spills %.0f bytes", spilled);
		finding_evidence(finding, EVIDENCE_COUNTER, 100 * part, "%", "%.0f %% of what L1 is asked for is local memory",
		                 100 * part);
		gpu_next_counters(finding, study, rows[i], "GPU_MEM");
	}
}

const struct diagnosis diagnosis_register_spills = {
	.name = "register_spills",
	.summary = "registers that are kept in local memory, which takes the time of the caches",
	.device = "cuda",
	.examine = examine,
	.counted = true,
};
