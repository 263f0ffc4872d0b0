/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The function of a GPU that takes the most time, and what bounds it, from counters by function: those of a kernel
 * ("counting.functions", by CUPTI's names) and those of a program ("gpu_work.functions", by the names of our events).
 */
#ifndef TUNER_BOUND_FUNCTION_H
#define TUNER_BOUND_FUNCTION_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Why warps do not issue: Nsight Compute's name, a predicate of "its warps", and the share of all warps at an issue. */
struct gpu_stall {
	const char *name, *words;
	double share;
};

struct gpu_hot {
	const json_t *row;
	const char *name;
	double share /* of all functions' time */, launches, mean_s;
	double sm, memory, active, warps; /* % of the peak; NAN: not counted */
	const char *bound;                /* the unit that it keeps busy; NULL: none */
	struct gpu_stall stalls[2];       /* the largest first; the name is NULL if there is none */
	double local;                     /* share of its time that mending it would save at most; NAN: not known */
	double gain;                      /* times faster the whole would be then; 1 if that is not known */
};

/* False if the functions have no times, or if the hottest lacks the counters that tell what bounds it. */
bool gpu_hot_find(const json_t *functions, struct gpu_hot *hot);
/* The same for any of the functions. */
bool gpu_function_judge(const json_t *functions, const json_t *row, struct gpu_hot *hot);
enum { GPU_HOT_WORDS = 360 };
/* "is bound by the L2 cache, at 83 % of the peak" */
void gpu_hot_words(const struct gpu_hot *hot, char *text, size_t size);
/* "long scoreboard 60 %, barrier 20 %"; "-" if it was not counted */
void gpu_stalls_words(const struct gpu_hot *hot, char *text, size_t size);

/* Where a function is in the roofline of instructions (Ding and Williams, An instruction roofline model for GPUs, 2019,
 * section III): instructions of warps, and bytes of the GPU's memory. The peaks are what the rates would be at 100 %.
 */
struct gpu_dot {
	double per_byte, per_s, per_s_peak, bytes_per_s_peak;
};
bool gpu_dot_find(const json_t *row, struct gpu_dot *dot); /* false if it was not counted */
#endif
