/* SPDX-License-Identifier: BSD-3-Clause */
/* Fused multiply-add in single and in double precision, or a multiplication and an addition if the instruction set
 * lacks it: two operations. */
#include "kernels/ceiling/ceiling.h"

#define FP(word, type, most)                                                                                           \
	static double word##_ops(const struct ceiling_job *job) {                                                          \
		double lanes = (double)(job->isa->vector / sizeof(type));                                                      \
		return 2 * lanes * CEILING_CHAINS * (double)job->n * (double)job->threads;                                     \
	}                                                                                                                  \
	static void word##_part(const struct ceiling_job *job, int thread) {                                               \
		job->isa->word((type *)job->slots[thread].chains, job->n);                                                     \
	}                                                                                                                  \
	static bool word##_right(const struct ceiling_job *job, int thread) {                                              \
		const type *found = (const type *)job->slots[thread].chains;                                                   \
		size_t lanes = job->isa->vector / sizeof *found, i = 0, all = CEILING_CHAINS * lanes;                          \
		while (i < all && found[i] == (type)ceiling_oracle_chain((int64_t)(i / lanes), job->n, INT64_MAX))             \
			i++;                                                                                                       \
		return i == all;                                                                                               \
	}                                                                                                                  \
	const struct ceiling ceiling_##word = {.name = #word,                                                              \
	                                       .op = "floating-point operation",                                           \
	                                       .rate = &ceiling_flops,                                                     \
	                                       .n_max = most,                                                              \
	                                       .ops = word##_ops,                                                          \
	                                       .part = word##_part,                                                        \
	                                       .right = word##_right}
FP(fp32, float, 1 << 23); /* whole numbers up to 2^24 are exact */
FP(fp64, double, 1 << 30);
