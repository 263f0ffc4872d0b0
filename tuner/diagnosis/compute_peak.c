/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The peak to compare with is that of the counted operations, or that of the type that the problem names. */
#include <math.h>
#include <string.h>

#include "tuner/diagnosis/gpu_impl.h"

static const double SHARE_LEAST = 0.7, ISSUE_LEAST = 85, SM_BUSY = 70;

static double flops_of(const struct study *study, size_t row, const char *kind) {
	static const char *const of[][3] = {{"gpu_sp_add", "gpu_sp_mul", "gpu_sp_fma"},
	                                    {"gpu_dp_add", "gpu_dp_mul", "gpu_dp_fma"}};
	const char *const *names = of[kind[2] == '6'];
	return study_counter(study, row, names[0]) + study_counter(study, row, names[1]) +
	       2 * study_counter(study, row, names[2]);
}

static double counted_share(const struct study *study, size_t row) {
	return fmax(gpu_share_of(study, row, flops_of(study, row, "fp32"), "fp32", NULL),
	            gpu_share_of(study, row, flops_of(study, row, "fp64"), "fp64", NULL));
}

/* Additions with a minimum are the only measured peak of whole numbers. */
static double type_share(const struct study *study, size_t row) {
	struct value type;
	if (!study_value(study, row, "type", &type) || type.type != VALUE_WORD)
		return NAN;
	const char *peak = strcmp(type.as.w, "int32") == 0 ? "addmin" : strcmp(type.as.w, "int16") == 0 ? "addmin2" : NULL;
	return peak ? gpu_share_of(study, row, study_work(study, row, "ops"), peak, NULL) : NAN;
}

static double issue_share(const struct study *study, size_t row) {
	double issue = study_counter(study, row, "gpu_issue_active"), busy = study_counter(study, row, "gpu_cycles_active");
	double counted =
		100 * study_counter(study, row, "gpu_instructions") / study_counter(study, row, "gpu_sm_cycles") / 4;
	return fabs(counted / issue - 1) < 0.2 && busy >= SM_BUSY && issue >= ISSUE_LEAST ? issue / 100 : NAN;
}

static double share_of(const struct study *study, size_t row) {
	return fmax(fmax(counted_share(study, row), type_share(study, row)), issue_share(study, row));
}

static void found(const struct study *study, size_t row, struct findings *findings) {
	double counted = counted_share(study, row), type = type_share(study, row), issue = issue_share(study, row);
	bool high = counted >= SHARE_LEAST || type >= SHARE_LEAST;
	char subject[PROBE_TEXT];
	struct finding *finding =
		findings_add(findings, counted >= SHARE_LEAST || (high && issue > 0) ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM, 1,
	                 "%s computes at %.0f %% of the GPU's measured peak", gpu_subject_words(study, row, subject),
	                 100 * share_of(study, row));
	gpu_subject_about(finding, study, row);
	finding_known(finding, EVIDENCE_COUNTER, 100 * counted, "%", NULL,
	              "counted operations: %.0f %% of the measured peak", 100 * counted);
	finding_known(finding, EVIDENCE_CEILING, 100 * type, "%", NULL,
	              "additions with a minimum: %.0f %% of the measured peak", 100 * type);
	finding_known(finding, EVIDENCE_COUNTER, 100 * issue, "%", NULL, "schedulers issued in %.0f %% of the cycles",
	              100 * issue);
	if (isnan(counted) && isnan(type))
		finding_missing(finding, EVIDENCE_COUNTER, "the number of operations (GPU_FLOPS)");
	gpu_next_counters(finding, study, row, "GPU_FLOPS");
}

static void examine(const struct study *study, struct findings *findings) {
	size_t rows[GPU_SUBJECTS], count = gpu_subjects(study, share_of, rows);
	for (size_t i = 0; i < count && gpu_possible(study, counted_share) && gpu_possible(study, type_share); i++)
		if (share_of(study, rows[i]) >= SHARE_LEAST)
			found(study, rows[i], findings);
}

const struct diagnosis diagnosis_compute_peak = {
	.name = "compute_peak",
	.summary = "arithmetic at the measured peak of the GPU",
	.device = "cuda",
	.examine = examine,
	.counted = true,
};
