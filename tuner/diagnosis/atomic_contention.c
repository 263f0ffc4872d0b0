/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Atomic additions of many threads to the same word wait for each other. */
#include <math.h>

#include "tuner/diagnosis/gpu_impl.h"

static const double SM_BUSY = 80, ISSUE_IDLE = 5, MEMORY_IDLE = 0.3, AGREE = 0.05;

static double issue_of(const struct study *study, size_t row) {
	return study_counter(study, row, "gpu_issue_active");
}

/* Do other counters agree? An SM has four schedulers. */
static bool is_consistent(const struct study *study, size_t row) {
	double counted =
		100 * study_counter(study, row, "gpu_instructions") / study_counter(study, row, "gpu_sm_cycles") / 4;
	return fabs(counted - issue_of(study, row)) <= AGREE * issue_of(study, row);
}

/* Warps are resident and stall, but not because memory is busy, be it the SMs' own. */
static bool is_stalled(const struct study *study, size_t row) {
	double dram = gpu_share_of(study, row, gpu_dram_bytes(study, row), "read", "dram");
	return study_counter(study, row, "gpu_cycles_active") >= SM_BUSY && issue_of(study, row) <= ISSUE_IDLE &&
	       dram <= MEMORY_IDLE && !(gpu_shared_share(study, row) > MEMORY_IDLE) && !gpu_scatters(study, row, false) &&
	       !gpu_scatters(study, row, true) && is_consistent(study, row);
}

/* Nobody knows yet whether they wait for accesses that are in each other's way. */
static bool is_open(const struct study *study, size_t row) {
	return isnan(study_counter(study, row, "gpu_load_efficiency") +
	             study_counter(study, row, "gpu_shared_load_wavefronts"));
}

static void stall_evidence(struct finding *finding, const struct study *study, size_t row) {
	char subject[PROBE_TEXT];
	finding_evidence(finding, EVIDENCE_COUNTER, issue_of(study, row), "%",
	                 "the warps of %s issue in only %.1f %% of the cycles, although memory is not busy",
	                 gpu_subject_words(study, row, subject), issue_of(study, row));
}

static void ceilings_evidence(struct finding *finding, const struct study *study) {
	double one = study_ceiling(study, "atomic_one", NULL, 0), many = study_ceiling(study, "atomic_many", NULL, 0);
	if (one > 0 && many > 0)
		finding_evidence(finding, EVIDENCE_CEILING, many / one, NULL,
		                 "integers: %.3g G additions a second to one word, %.3g to many", one, many);
	else
		finding_missing(finding, EVIDENCE_CEILING, "the rate of additions to one word, and to many");
}

static size_t stalled_row(const struct study *study) {
	size_t rows[GPU_SUBJECTS], count = gpu_subjects(study, issue_of, rows);
	for (size_t i = count; i-- > 0;)
		if (is_stalled(study, rows[i]))
			return rows[i];
	return SIZE_MAX;
}

static void examine(const struct study *study, struct findings *findings) {
	static const char *const atomic[] = {"atomic", NULL};
	struct gpu_contrast contrast;
	size_t row = stalled_row(study), clear = gpu_contrasts(study, atomic, NULL, &contrast, 1);
	if (!clear && row == SIZE_MAX)
		return;
	struct finding *finding = findings_add(
		findings,
		!clear            ? CONFIDENCE_LOW
		: row != SIZE_MAX ? CONFIDENCE_HIGH
						  : gpu_contrast_confidence(&contrast),
		clear ? contrast.ratio.ratio : gpu_gain_most(study, row, gpu_dram_bytes(study, row)),
		clear                 ? "atomic operations wait for each other"
		: is_open(study, row) ? "warps wait: for accesses that are not coalesced, for banks of shared memory, or "
								"for serial work, such as atomic operations on few words"
							  : "warps wait for serial work, such as atomic operations on few words");
	if (clear)
		gpu_contrast_about(finding, study, &contrast);
	else
		gpu_subject_about(finding, study, row);
	if (row != SIZE_MAX)
		stall_evidence(finding, study, row);
	else
		finding_missing(finding, EVIDENCE_COUNTER, "the cycles in which warps issue (GPU)");
	if (!clear)
		finding_missing(finding, EVIDENCE_CONTRAST, "the same with sums per thread or block instead of atomics");
	ceilings_evidence(finding, study);
	bool open = row != SIZE_MAX && is_open(study, row);
	gpu_next_counters(finding, study, row != SIZE_MAX ? row : study_winner(study), open ? "GPU_MEM,GPU_SHARED" : "GPU");
}

const struct diagnosis diagnosis_atomic_contention = {
	.name = "atomic_contention",
	.summary = "atomic operations of many threads on few words",
	.device = "cuda",
	.examine = examine,
	.counted = true,
};
