/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks run in waves, as many at a time as fit on all SMs. The last wave takes as long as a full one, however few
 * blocks it has (NVIDIA, CUDA C++ Best Practices Guide 13.0, "Thread and Block Heuristics"). */
#include <math.h>

#include "tuner/diagnosis/gpu_impl.h"

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

static void examine(const struct study *study, struct findings *findings) {
	size_t winner = study_winner(study);
	struct gpu_trend trend = gpu_trend_of(study, waste_of, 1);
	double own = winner == SIZE_MAX ? NAN : waste_of(study, winner);
	if (trend.verdict != GPU_FOLLOWS || pow(trend.span, trend.slope) < gpu_margin(study))
		return;
	bool loses = own >= gpu_margin(study);
	struct finding *finding =
		findings_add(findings, CONFIDENCE_MEDIUM, loses ? own : 1, "a last wave with few blocks leaves SMs idle%s",
	                 loses ? ", in the best configuration too" : "");
	gpu_trend_evidence(finding, &trend, "the ratio of waves to full waves");
	finding_known(finding, EVIDENCE_FIGURE, own, NULL, NULL,
	              "the blocks of the best configuration fill %.2f of %.0f waves", waves_of(study, winner),
	              ceil(waves_of(study, winner)));
	gpu_next_counters(finding, study, winner, "GPU_OCC");
}

const struct diagnosis diagnosis_tail_wave = {
	.name = "tail_wave",
	.summary = "a partial last wave of blocks that leaves SMs idle",
	.device = "cuda",
	.examine = examine,
};
