/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pipe that is busy in nearly all cycles holds a kernel back, whatever its memory does. A pipe at a share of its peak
 * leaves a gain of at most one over that share (NVIDIA, Nsight Compute, Kernel Profiling Guide, "Compute Workload"). */
#include <math.h>

#include "tuner/diagnosis/gpu_impl.h"

static const double SHARE_LEAST = 80, SM_BUSY = 70;

static const struct {
	const char *event, *words;
} pipes[] = {
	{"gpu_pipe_tensor", "the tensor pipe"},
	{"gpu_pipe_fma", "the FMA pipe (floats)"},
	{"gpu_pipe_fp64", "the pipe of doubles"},
	{"gpu_pipe_alu", "the ALU pipe (whole numbers)"},
	{"gpu_pipe_xu", "the XU pipe (special functions, conversions)"},
	{"gpu_pipe_lsu", "the LSU pipe (loads and stores)"},
};
enum { PIPES = sizeof pipes / sizeof *pipes };

static size_t busiest(const struct study *study, size_t row) {
	size_t found = 0;
	for (size_t i = 1; i < PIPES; i++)
		if (study_counter(study, row, pipes[i].event) > fmax(0, study_counter(study, row, pipes[found].event)))
			found = i;
	return found;
}

/* Of the busiest pipe; NAN: not counted, or the SMs idle. */
static double share_of(const struct study *study, size_t row) {
	bool busy = study_counter(study, row, "gpu_cycles_active") >= SM_BUSY;
	return busy ? study_counter(study, row, pipes[busiest(study, row)].event) / 100 : NAN;
}

/* Literals without an f turn floats into doubles. The finding says that another configuration needs no doubles. */
static void doubles_examine(const struct study *study, struct findings *findings) {
	static const double SOME = 10, NONE = 1;
	size_t winner = study_winner(study), baseline = study_baseline(study);
	if (winner == SIZE_MAX || baseline == SIZE_MAX)
		return;
	double own = study_counter(study, baseline, "gpu_pipe_fp64"), xu = study_counter(study, baseline, "gpu_pipe_xu");
	double gain = study_row(study, baseline)->value / study_row(study, winner)->value;
	if (!(own >= SOME && study_counter(study, winner, "gpu_pipe_fp64") <= NONE) || gain < gpu_margin(study))
		return;
	struct finding *finding =
		findings_add(findings, CONFIDENCE_MEDIUM, gain,
	                 "the baseline computes with doubles, which the best configuration does without");
	gpu_subject_about(finding, study, baseline);
	finding_evidence(finding, EVIDENCE_COUNTER, own, "%", "the pipe of doubles is busy in %.0f %% of the cycles", own);
	finding_known(finding, EVIDENCE_COUNTER, xu, "%", NULL, "the XU pipe, which converts them, in %.0f %%", xu);
	gpu_next_counters(finding, study, baseline, "GPU_PIPES");
}

static void examine(const struct study *study, struct findings *findings) {
	doubles_examine(study, findings);
	size_t rows[GPU_SUBJECTS], count = gpu_subjects(study, share_of, rows);
	for (size_t i = 0; i < count && gpu_possible(study, share_of); i++) {
		double share = 100 * share_of(study, rows[i]), issue = study_counter(study, rows[i], "gpu_issue_active");
		if (share < SHARE_LEAST)
			continue;
		char subject[PROBE_TEXT];
		struct finding *finding =
			findings_add(findings, CONFIDENCE_MEDIUM, 100 / share, "%s is limited by %s, busy in %.0f %% of the cycles",
		                 gpu_subject_words(study, rows[i], subject), pipes[busiest(study, rows[i])].words, share);
		gpu_subject_about(finding, study, rows[i]);
		for (size_t pipe = 0; pipe < PIPES; pipe++) {
			double other = study_counter(study, rows[i], pipes[pipe].event);
			finding_known(finding, EVIDENCE_COUNTER, other >= 1 ? other : NAN, "%", NULL, "%s: %.0f %%",
			              pipes[pipe].words, other);
		}
		finding_known(finding, EVIDENCE_COUNTER, issue, "%", NULL, "issue slots: %.0f %%", issue);
		gpu_next_counters(finding, study, rows[i], "GPU_PIPES");
	}
}

const struct diagnosis diagnosis_execution_pipe = {
	.name = "execution_pipe",
	.summary = "one pipe of the SMs near its peak: tensor, FMA, doubles, ALU, XU or LSU; beside it the issue slots",
	.device = "cuda",
	.examine = examine,
	.counted = true,
};
