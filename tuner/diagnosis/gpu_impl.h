/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by diagnoses of GPUs: launches, tests whether times follow a quantity, and the rows to talk about. */
#ifndef TUNER_DIAGNOSIS_GPU_IMPL_H
#define TUNER_DIAGNOSIS_GPU_IMPL_H
#include "tuner/diagnosis/diagnosis_probe.h"

/* The function of a row with the most threads over all launches. NAN, NULL: not reported. */
struct gpu_function {
	const char *name, *limiter; /* limiter of its occupancy: "threads", "registers", "shared memory", "blocks" */
	double registers, shared_bytes, spill_bytes, threads, blocks, launches, occupancy, resident /* blocks at a time */;
};
bool gpu_function_main(const struct study *study, size_t row, struct gpu_function *function);

/* A quantity of a row; NAN if it is unknown. */
typedef double (*gpu_measure)(const struct study *study, size_t row);
double gpu_launches(const struct study *study, size_t row);    /* of a run */
double gpu_kernel_time(const struct study *study, size_t row); /* s, of all kernels of a run */
double gpu_copy_time(const struct study *study, size_t row);   /* s, between host and GPU */
double gpu_dram_bytes(const struct study *study, size_t row);  /* counted */
/* Passes through shared memory: counted, or else by the kernel's model. */
double gpu_wavefronts(const struct study *study, size_t row);
double gpu_wavefronts_counted(const struct study *study, size_t row);

/* At most this can be gained by a remedy that leaves all instructions as they are, and so many bytes for the memory to
 * move. */
double gpu_gain_most(const struct study *study, size_t row, double bytes);
/* Passes through shared memory for conflicts alone. */
double gpu_conflicts(const struct study *study, size_t row);

/* Do the loads, or the stores, of a warp move many sectors, most of which they do not use? */
bool gpu_scatters(const struct study *study, size_t row, bool stores);

/* The share of shared memory's measured rate. */
double gpu_shared_share(const struct study *study, size_t row);

/* The smallest ratio of times that counts as an effect: 5 %, or twice the noise. */
double gpu_margin(const struct study *study);

/* Do times follow a quantity? Tests the correlation of logarithms, each about the mean of its problem, by shuffling
 * within problems, one-sided for the expected sign. */
enum gpu_verdict { GPU_UNKNOWN /* too few rows, or too little difference */, GPU_FOLLOWS, GPU_DIFFERS };
struct gpu_trend {
	enum gpu_verdict verdict;
	size_t rows;
	double slope, span,
		p; /* slope of log time over its logarithm; its largest over its smallest value within a problem */
};
struct gpu_trend gpu_trend_of(const struct study *study, gpu_measure of, int sign);
void gpu_trend_evidence(struct finding *finding, const struct gpu_trend *trend, const char *what);
/* The confidence in a measured share, which is high if times follow it as well. */
enum confidence gpu_confidence(const struct gpu_trend *trend, enum confidence alone);
/* A share of the GPU's peak is never far above 1: such values belong to other times. */
bool gpu_possible(const struct study *study, gpu_measure share);
/* The share of a ceiling (in units of 1e9 a second) that an amount of work reaches in the row's time; NAN if either is
 * missing. */
double gpu_share_of(const struct study *study, size_t row, double amount, const char *ceiling, const char *level);

/* The winner, then the baseline or otherwise the slowest row, as far as `of` knows them. Returns their number. */
enum { GPU_SUBJECTS = 2 };
size_t gpu_subjects(const struct study *study, gpu_measure of, size_t rows[GPU_SUBJECTS]);
/* "the best configuration", and at which problem if there are several */
const char *gpu_subject_words(const struct study *study, size_t row, char text[PROBE_TEXT]);
/* Makes the finding about the parameters that differ between baseline and winner. */
void gpu_subject_about(struct finding *finding, const struct study *study, size_t row);

/* Compares words of a parameter that cause a mechanism with words that avoid it: only clear effects (Holm 1979 over all
 * that were tested). others: NULL is any other word. At most `room`, the largest first. */
struct gpu_contrast {
	size_t column;
	int with, without;
	struct study_ratio ratio;
};
size_t gpu_contrasts(const struct study *study, const char *const *with, const char *const *without,
                     struct gpu_contrast *out, size_t room);
void gpu_contrast_about(struct finding *finding, const struct study *study, const struct gpu_contrast *contrast);
enum confidence gpu_contrast_confidence(const struct gpu_contrast *contrast);

void gpu_next_counters(struct finding *finding, const struct study *study, size_t row, const char *groups);
void gpu_next_ceilings(struct finding *finding, const struct study *study);
#endif
