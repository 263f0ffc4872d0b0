/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the variants for CUDA. The rules of the labels are those of kernels/cc/cc.h. */
#ifndef KERNELS_CC_CUDA_CC_CUDA_IMPL_H
#define KERNELS_CC_CUDA_CC_CUDA_IMPL_H
#include "kernels/cc/cc.h"
#include "kernels/cuda.h"

enum { CC_SLOTS = CC_STEPS_KEPT + 16 }; /* counts of the first steps, and of a batch of later ones */
enum { CC_PER_SM_MAX = 64, CC_EVERY_MAX = 16, CC_SAMPLES_MAX = 2048, CC_WINDOWS_MAX = 8, CC_HUB_MIN = 32 };

/* The host's graph with its oracle, and the device's, which all configurations read. */
struct cc_cuda_input {
	struct cc_input host; /* first: CPU and CUDA share what looks at it */
	struct gpu *gpu;
	gpu_ptr first, target;
	bool wide; /* first is 64 bits */
};

enum { CC_FUNCTIONS = 9 };

struct cc_cuda_state {
	struct cc_state host; /* its labels are what verify brings back */
	const struct cc_cuda_input *input;
	struct gpu *gpu;
	const struct cc_cuda_variant *variant;
	const struct gpu_function *function[CC_FUNCTIONS];
	gpu_ptr label, other, slots, control, list, hubs; /* unused members are 0 */
	uint32_t *back;                                   /* pinned: CC_SLOTS */
	unsigned block;
	int each, group, per_sm, every, rounds, windows, samples, hub;
	bool synchronous, jump, persistent;
	bool smaller, early, halving, skip /* the largest component's edges */;
};

/* Words of device memory at `control`; all are 0 before a run. */
enum {
	CC_BARRIER,
	CC_LISTED,
	CC_HUBS /* or roots */,
	CC_GIANT,
	CC_STEPS = 4 /* 64 bits */,
	CC_LINKED = 6,
	CC_CONTROL = 8
};
static inline gpu_ptr cc_control(const struct cc_cuda_state *s, int word) {
	return s->control + sizeof(uint32_t) * (unsigned)word;
}

/* The number of blocks that run at once, for work whose amount only the device knows. */
static inline struct gpu_shape cc_cuda_fill(const struct cc_cuda_state *s) {
	const struct gpu_facts *facts = gpu_facts(s->gpu);
	unsigned blocks = (unsigned)facts->threads_per_sm / s->block;
	return (struct gpu_shape){.grid = {(unsigned)facts->sms * (blocks ? blocks : 1)}, .block = {s->block}};
}

struct cc_cuda_variant {
	const char *const *functions; /* in the order of state.function; "NAME_" gets 32 or 64 behind it; ends with NULL */
	enum ss_status (*setup)(struct cc_cuda_state *s, const struct ss_call *call); /* what only it needs */
	void (*run)(struct cc_cuda_state *s);
};
extern const struct cc_cuda_variant cc_cuda_propagate, cc_cuda_forest, cc_cuda_contract;

enum ss_status cc_cuda_upload(struct cc_cuda_input *input, const struct ss_call *call);
#endif
