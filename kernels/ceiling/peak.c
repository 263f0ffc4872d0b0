/* SPDX-License-Identifier: BSD-3-Clause */
/* Peaks of arithmetic: fused multiply-add in single and in double precision, or a multiplication and an addition if the
 * instruction set lacks it (two operations); and the parts of a shortest path's relaxation, an addition and a minimum
 * of 32-bit integers (a pair). */
#include "kernels/ceiling/ceiling.h"

/* The minimum takes the limit in the last chains and the sum in the others, so that both are needed. */
static int64_t limit(const struct ceiling_job *job) {
	return job->n + CEILING_CHAINS / 2;
}

/* Defines the ceiling `word`. `amount`: operations of a step; ...: arguments of the loop behind its chains. */
#define PEAK(word, type, unit, scale, most, amount, last, ...)                                                         \
	static double word##_ops(const struct ceiling_job *job) {                                                          \
		double lanes = (double)(job->isa->vector / sizeof(type));                                                      \
		return amount * lanes * CEILING_CHAINS * (double)job->n * (double)job->threads;                                \
	}                                                                                                                  \
	static void word##_part(const struct ceiling_job *job, int thread) {                                               \
		job->isa->word((type *)job->slots[thread].chains, __VA_ARGS__);                                                \
	}                                                                                                                  \
	static bool word##_right(const struct ceiling_job *job, int thread) {                                              \
		const type *found = (const type *)job->slots[thread].chains;                                                   \
		size_t lanes = job->isa->vector / sizeof *found, i = 0, all = CEILING_CHAINS * lanes;                          \
		while (i < all && found[i] == (type)ceiling_oracle_chain((int64_t)(i / lanes), job->n, last))                  \
			i++;                                                                                                       \
		return i == all;                                                                                               \
	}                                                                                                                  \
	const struct ceiling ceiling_##word = {.name = #word,                                                              \
	                                       .op = unit,                                                                 \
	                                       .rate = &scale,                                                             \
	                                       .n_max = most,                                                              \
	                                       .ops = word##_ops,                                                          \
	                                       .part = word##_part,                                                        \
	                                       .right = word##_right}
#define FLOP "floating-point operation"
PEAK(fp32, float, FLOP, ceiling_flops, 1 << 23, 2, INT64_MAX, job->n); /* whole numbers up to 2^24 are exact */
PEAK(fp64, double, FLOP, ceiling_flops, 1 << 30, 2, INT64_MAX, job->n);
PEAK(addmin, int32_t, "pair", ceiling_pairs, 1 << 30, 1, limit(job), (int32_t)limit(job), job->n);
