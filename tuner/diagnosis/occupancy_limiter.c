/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A limit of occupancy only matters if times fall as occupancy rises: Volkov, Better performance at lower occupancy,
 * GPU Technology Conference 2010. */
#include <math.h>

#include "tuner/diagnosis/gpu_impl.h"

/* Theoretical, of the main function. */
static double occupancy_of(const struct study *study, size_t row) {
	struct gpu_function function;
	return gpu_function_main(study, row, &function) && function.occupancy > 0 ? function.occupancy : NAN;
}

static const double ENOUGH = 0.9, ISSUE_BUSY = 60;

static void registers_report(struct finding *finding, const struct gpu_function *function) {
	if (function->registers > 0)
		finding_evidence(finding, EVIDENCE_FIGURE, function->registers, NULL,
		                 "%s: %.0f registers a thread, %.0f bytes of shared memory and %.0f threads a block",
		                 function->name, function->registers, function->shared_bytes, function->threads);
	if (function->spill_bytes > 0)
		finding_evidence(finding, EVIDENCE_FIGURE, function->spill_bytes, "B", "%.0f bytes per thread are spilled",
		                 function->spill_bytes);
}

static void examine(const struct study *study, struct findings *findings) {
	struct gpu_function function;
	size_t winner = study_winner(study);
	struct gpu_trend trend = gpu_trend_of(study, occupancy_of, -1);
	if (trend.verdict != GPU_FOLLOWS || pow(trend.span, -trend.slope) < gpu_margin(study))
		return;
	if (winner == SIZE_MAX || !gpu_function_main(study, winner, &function) || !(function.occupancy < ENOUGH))
		return;
	double issue = study_counter(study, winner, "gpu_issue_active");
	if (issue > ISSUE_BUSY)
		return; /* more warps would not find free cycles to issue in */
	const char *limiter = function.limiter ? function.limiter : "its shape";
	struct finding *finding = findings_add(findings, isnan(issue) ? CONFIDENCE_MEDIUM : CONFIDENCE_HIGH,
	                                       pow(1 / function.occupancy, -trend.slope),
	                                       "too few warps fit on an SM: occupancy is %.0f %%, limited by %s",
	                                       100 * function.occupancy, limiter[0] == 't' ? "the block's size" : limiter);
	gpu_trend_evidence(finding, &trend, "occupancy");
	registers_report(finding, &function);
	if (isnan(issue))
		finding_missing(finding, EVIDENCE_COUNTER, "the cycles in which no warp could issue (GPU_OCC)");
	else
		finding_evidence(finding, EVIDENCE_COUNTER, issue, "%", "schedulers issued in %.0f %% of the cycles", issue);
	gpu_next_counters(finding, study, winner, "GPU_OCC");
}

const struct diagnosis diagnosis_occupancy_limiter = {
	.name = "occupancy_limiter",
	.summary = "registers, shared memory or blocks that keep warps off an SM, where times follow that",
	.device = "cuda",
	.examine = examine,
};
