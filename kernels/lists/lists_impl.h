/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel around the lists: its operations, and their expected results. */
#ifndef KERNELS_LISTS_LISTS_IMPL_H
#define KERNELS_LISTS_LISTS_IMPL_H
#include "kernels/random.h"
#include "kernels/lists/list_impl.h"

enum { LISTS_N_MAX = 1 << 20, LISTS_RANGE_MAX = 1 << 24, LISTS_OPS_MAX = 10000000, LISTS_THREADS_MAX = 4096 };

/* The set at the start, and the operations. Operation i is the same whatever the team. */
struct lists_input {
	size_t n, ops;
	int32_t range;         /* keys are 0 .. range - 1 */
	int contains, changes; /* percent: contains; contains and add */
	uint64_t seed;
	int32_t *keys;  /* n, rising */
	uint32_t *slot; /* where in memory the node of each lies */
};

struct lists_state {
	const struct lists_input *input; /* not owned */
	struct list *list;
	unsigned char *result; /* for each operation: 1 if it returned true */
};

/* The operations of a thread are begin .. end - 1. */
struct lists_share {
	size_t begin, end;
};

static inline struct lists_share lists_share_of(const struct lists_input *input, int thread, int threads) {
	return (struct lists_share){input->ops * (size_t)thread / (size_t)threads,
	                            input->ops * (size_t)(thread + 1) / (size_t)threads};
}

struct lists_step {
	enum list_op op;
	int32_t key;
};

static inline struct lists_step lists_step_of(const struct lists_input *input, size_t i) {
	uint64_t hash = kernel_random_at(input->seed, i);
	int percent = (int)((hash >> 32) * 100 >> 32);
	int32_t key = (int32_t)((hash & UINT32_MAX) * (uint64_t)input->range >> 32);
	enum list_op op = percent < input->contains ? LIST_CONTAINS : percent < input->changes ? LIST_ADD : LIST_REMOVE;
	return (struct lists_step){op, key};
}

/* oracle.c: SS_OK, SS_NOMEM or SS_INCORRECT, with the call's message. */
enum ss_status lists_oracle(void *s, const struct ss_call *call);

size_t lists_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out, size_t most);
#endif
