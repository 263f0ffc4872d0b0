/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A block whose size is not a multiple of 32 threads has a warp that is not full; branches leave threads of a warp
 * idle. */
#include <math.h>

#include "tuner/diagnosis/gpu_impl.h"

static const double EFFICIENCY_MOST = 75, ISSUE_LEAST = 40;
enum { WARP = 32 };

/* The warps that run over those that the threads would fill; at least 1. */
static double waste_of(const struct study *study, size_t row) {
	struct gpu_function function;
	if (!gpu_function_main(study, row, &function) || !(function.threads >= 1))
		return NAN;
	return ceil(function.threads / WARP) * WARP / function.threads;
}

static double efficiency_of(const struct study *study, size_t row) {
	return 100 * study_counter(study, row, "gpu_thread_instructions") /
	       (WARP * study_counter(study, row, "gpu_instructions"));
}

static double lanes_share(const struct study *study, size_t row) {
	return efficiency_of(study, row) / 100;
}

static void blocks_examine(const struct study *study, struct findings *findings) {
	size_t winner = study_winner(study);
	struct gpu_trend trend = gpu_trend_of(study, waste_of, 1);
	if (trend.verdict != GPU_FOLLOWS || pow(trend.span, trend.slope) < gpu_margin(study))
		return;
	bool own = winner != SIZE_MAX && waste_of(study, winner) > 1;
	struct finding *finding =
		findings_add(findings, CONFIDENCE_MEDIUM, own ? waste_of(study, winner) : 1,
	                 "blocks of a size that is not a multiple of 32 threads waste part of their last warp%s",
	                 own ? ": so does the best configuration" : "");
	gpu_trend_evidence(finding, &trend, "the ratio of warps to full warps");
	if (winner != SIZE_MAX && isnan(efficiency_of(study, winner)))
		finding_missing(finding, EVIDENCE_COUNTER, "the active threads of a warp (GPU)");
	gpu_next_counters(finding, study, winner, "GPU");
}

static void lanes_examine(const struct study *study, struct findings *findings) {
	size_t rows[GPU_SUBJECTS], count = gpu_subjects(study, efficiency_of, rows);
	for (size_t i = 0; i < count && gpu_possible(study, lanes_share); i++) {
		double lanes = efficiency_of(study, rows[i]), issue = study_counter(study, rows[i], "gpu_issue_active");
		if (!(lanes <= EFFICIENCY_MOST) || issue < ISSUE_LEAST)
			continue;
		char subject[PROBE_TEXT];
		struct finding *finding = findings_add(findings, isnan(issue) ? CONFIDENCE_LOW : CONFIDENCE_MEDIUM, 100 / lanes,
		                                       "%.0f %% of the threads of a warp are active in %s", lanes,
		                                       gpu_subject_words(study, rows[i], subject));
		gpu_subject_about(finding, study, rows[i]);
		finding_evidence(finding, EVIDENCE_COUNTER, lanes, "%", "an instruction runs for %.1f of 32 threads",
		                 lanes * WARP / 100);
		if (issue >= ISSUE_LEAST)
			finding_evidence(finding, EVIDENCE_COUNTER, issue, "%", "and schedulers issued in %.0f %% of the cycles",
			                 issue);
		gpu_next_counters(finding, study, rows[i], "GPU_OCC");
	}
}

static void examine(const struct study *study, struct findings *findings) {
	blocks_examine(study, findings);
	lanes_examine(study, findings);
}

const struct diagnosis diagnosis_partial_warps = {
	.name = "partial_warps",
	.summary = "warps that are not full, by the block's size or by branches",
	.device = "cuda",
	.examine = examine,
	.counted = true,
};
