/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From compute capability 9.0 on, only instructions of a group of warps (wgmma) reach the peak of the tensor cores
 * (NVIDIA, Hopper Tuning Guide 13.0, "Tensor Core Operations"); those of one warp (mma.sync) read their operands from
 * registers. GPUs without wgmma have no counter of it. */
#include <math.h>

#include "tuner/diagnosis/gpu_impl.h"

static const double BUSY_LEAST = 30;
/* An H200 makes 466 TFLOP/s by mma.sync while the tensor cores are busy in 75 % of the cycles: .63 of the 989 that its
 * data sheet gives them. */
static const double SINGLE_RATE = 0.63;

static double share_of(const struct study *study, size_t row) {
	bool single =
		study_counter(study, row, "gpu_tensor_instructions") > 0 && study_counter(study, row, "gpu_tensor_gmma") == 0;
	return single ? study_counter(study, row, "gpu_pipe_tensor") / 100 : NAN;
}

static void examine(const struct study *study, struct findings *findings) {
	size_t winner = study_winner(study);
	double busy = winner == SIZE_MAX ? NAN : 100 * share_of(study, winner);
	if (!(busy >= BUSY_LEAST) || !gpu_possible(study, share_of))
		return;
	struct finding *finding = findings_add(findings, CONFIDENCE_MEDIUM, 100 / (busy * SINGLE_RATE),
	                                       "the tensor cores get mma.sync of single warps, where wgmma exists");
	finding_evidence(finding, EVIDENCE_COUNTER, busy, "%", "they are busy in %.0f %% of the cycles", busy);
	finding_evidence(finding, EVIDENCE_COUNTER, 0, NULL, "none of their instructions is of a group of warps");
	gpu_next_counters(finding, study, winner, "GPU_PIPES");
}

const struct diagnosis diagnosis_tensor_instructions = {
	.name = "tensor_instructions",
	.summary = "mma.sync where wgmma exists: instructions of one warp for the tensor cores",
	.device = "cuda",
	.examine = examine,
	.counted = true,
};
