/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks run in waves, as many at a time as fit on all SMs. The last wave takes as long as a full one, however few
 * blocks it has, and fewer blocks than SMs leave some without work (NVIDIA, CUDA C++ Best Practices Guide 13.0, "Thread
 * and Block Heuristics"). */
#include <math.h>

#include "tuner/diagnosis/gpu_impl.h"

/* The counted share of the SMs' time in which they work is that near to the one that the blocks allow. */
static const double AGREES = 1.15;

static double waves_of(const struct study *study, size_t row) {
	struct gpu_function function;
	bool known = gpu_function_main(study, row, &function) && function.resident > 0;
	return known ? function.blocks / function.resident : NAN;
}

/* The waves that run over those that the blocks would fill; NAN for a single one, which is no tail. */
static double waste_of(const struct study *study, size_t row) {
	double waves = waves_of(study, row);
	return waves > 1 ? ceil(waves) / waves : NAN;
}

/* The SMs for each block; NAN: there are enough blocks. */
static double sparse_of(const struct study *study, size_t row) {
	struct gpu_function function;
	double sms = study_host(study)->sms;
	return gpu_function_main(study, row, &function) && function.blocks < sms ? sms / function.blocks : NAN;
}

static double lost_of(const struct study *study, size_t row) {
	double sparse = sparse_of(study, row);
	return isnan(sparse) ? waste_of(study, row) : sparse;
}

static double busy_of(const struct study *study, size_t row) {
	return study_counter(study, row, "gpu_cycles_active") / 100;
}

static void found(const struct study *study, size_t row, const struct gpu_trend *trend, struct findings *findings) {
	double busy = busy_of(study, row), sparse = sparse_of(study, row), waves = waves_of(study, row);
	double most = gpu_gain_most(study, row, gpu_dram_bytes(study, row));
	char subject[PROBE_TEXT];
	struct finding *finding =
		isnan(sparse)
			? findings_add(findings, CONFIDENCE_MEDIUM, waste_of(study, row),
	                       "a last wave with few blocks leaves SMs idle in %s", gpu_subject_words(study, row, subject))
			: findings_add(findings, CONFIDENCE_MEDIUM, fmin(most, fmax(sparse, 1 / waves)),
	                       "%s has fewer blocks than the GPU has SMs", gpu_subject_words(study, row, subject));
	gpu_subject_about(finding, study, row);
	gpu_trend_evidence(finding, trend, "the ratio of waves to full waves");
	finding_known(finding, EVIDENCE_FIGURE, sparse, NULL, NULL,
	              "there are %.3g SMs for each block, and room for %.3g blocks at a time", sparse, 1 / waves);
	finding_known(finding, EVIDENCE_FIGURE, isnan(sparse) ? waves : NAN, NULL, NULL,
	              "its blocks fill %.2f of %.0f waves", waves, ceil(waves));
	finding_known(finding, EVIDENCE_COUNTER, 100 * busy, "%", "the cycles in which SMs work (GPU)",
	              "an SM works in %.0f %% of the cycles", 100 * busy);
	gpu_next_counters(finding, study, row, "GPU_OCC");
}

static void examine(const struct study *study, struct findings *findings) {
	size_t rows[GPU_SUBJECTS], count = gpu_subjects(study, lost_of, rows), named = 0;
	struct gpu_trend trend = gpu_trend_of(study, waste_of, 1);
	bool follows = trend.verdict == GPU_FOLLOWS && pow(trend.span, trend.slope) >= gpu_margin(study);
	for (size_t i = 0; i < count; i++) {
		double lost = lost_of(study, rows[i]);
		bool seen = busy_of(study, rows[i]) * lost <= AGREES || (follows && isnan(sparse_of(study, rows[i])));
		if (!(lost >= gpu_margin(study)) || !seen)
			continue;
		found(study, rows[i], &trend, findings);
		named++;
	}
	if (!follows || named)
		return;
	struct finding *finding =
		findings_add(findings, CONFIDENCE_MEDIUM, 1, "a last wave with few blocks leaves SMs idle");
	gpu_trend_evidence(finding, &trend, "the ratio of waves to full waves");
	gpu_next_counters(finding, study, study_winner(study), "GPU_OCC");
}

const struct diagnosis diagnosis_tail_wave = {
	.name = "tail_wave",
	.summary = "too few blocks, or a partial last wave of them, that leaves SMs idle",
	.device = "cuda",
	.examine = examine,
	.counted = true,
};
