/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches of rows.cu: step after step until one changes nothing. The host looks after every batch of steps, or all of
 * it is one cooperative launch. */
#include <stdlib.h>

#include "kernels/cc/cuda/cc_cuda_impl.h"

enum { START, COMPRESS, SWEEP, SWEEP_ALL };
static const char *const functions[] = {"labels_start", "labels_compress", "sweep_", "sweep_all_", NULL};

static uint64_t blocks_wanted(const struct cc_cuda_state *s) {
	uint64_t n = (uint64_t)s->host.graph.n, rows = s->group == 0 ? 1 : s->block / 32 * (32 / (unsigned)s->group);
	return (n + rows - 1) / rows;
}

static gpu_ptr *labels_after(struct cc_cuda_state *s, int64_t steps) {
	return s->synchronous && steps % 2 ? &s->other : &s->label;
}

static void sweep_launch(struct cc_cuda_state *s, int64_t step, unsigned slot) {
	const struct cc_cuda_input *in = s->input;
	gpu_ptr from = *labels_after(s, step), to = *labels_after(s, step + 1);
	gpu_ptr changed = s->slots + sizeof(uint32_t) * slot;
	int n = s->host.graph.n, jump = s->jump;
	uint64_t blocks = blocks_wanted(s);
	if (s->per_sm > 0 && blocks > (uint64_t)s->per_sm * (uint64_t)gpu_facts(s->gpu)->sms)
		blocks = (uint64_t)s->per_sm * (uint64_t)gpu_facts(s->gpu)->sms;
	struct gpu_shape shape = {.grid = {blocks < INT32_MAX ? (unsigned)blocks : INT32_MAX}, .block = {s->block}};
	GPU_LAUNCH(s->gpu, s->function[SWEEP], &shape, (void *)&in->first, (void *)&in->target, &n, &from, &to, &jump,
	           &changed);
	if (jump) {
		struct gpu_shape all = {.grid = {gpu_blocks((uint64_t)n, s->block)}, .block = {s->block}};
		GPU_LAUNCH(s->gpu, s->function[COMPRESS], &all, &s->label, &n);
	}
}

/* Steps beyond those that are kept count in the slots behind them. */
static unsigned batch_slot(const struct cc_cuda_state *s, int64_t step) {
	if (step + s->every <= CC_STEPS_KEPT)
		return (unsigned)step;
	gpu_fill32(s->gpu, s->slots + sizeof(uint32_t) * CC_STEPS_KEPT, 0, CC_EVERY_MAX);
	return CC_STEPS_KEPT;
}

static void batches_run(struct cc_cuda_state *s) {
	size_t batch = (size_t)s->every * sizeof *s->back;
	do {
		unsigned slot = batch_slot(s, s->host.steps);
		for (int i = 0; i < s->every; i++)
			sweep_launch(s, s->host.steps + i, slot + (unsigned)i);
		gpu_download(s->gpu, s->back, s->slots + sizeof(uint32_t) * slot, batch);
		gpu_stream_sync(s->gpu);
		for (int i = 0; i < s->every && gpu_is_fine(s->gpu); i++)
			cc_step_note(&s->host, s->back[i]);
	} while (gpu_is_fine(s->gpu) && s->back[s->every - 1] > 0);
}

static void persistent_run(struct cc_cuda_state *s) {
	const struct cc_cuda_input *in = s->input;
	uint64_t fit = (uint64_t)gpu_blocks_per_sm(s->gpu, s->function[SWEEP_ALL], s->block, 0) *
	               (uint64_t)gpu_facts(s->gpu)->sms,
			 blocks = blocks_wanted(s);
	struct gpu_shape shape = {
		.grid = {(unsigned)(blocks < fit ? blocks : fit)}, .block = {s->block}, .cooperative = true};
	gpu_ptr other = s->synchronous ? s->other : s->label, barrier = cc_control(s, CC_BARRIER);
	gpu_ptr steps = cc_control(s, CC_STEPS);
	int n = s->host.graph.n, jump = s->jump, kept = CC_STEPS_KEPT;
	GPU_LAUNCH(s->gpu, s->function[SWEEP_ALL], &shape, (void *)&in->first, (void *)&in->target, &n, &s->label, &other,
	           &jump, &s->slots, &kept, &barrier, &steps);
}

static enum ss_status propagate_setup(struct cc_cuda_state *s, const struct ss_call *call) {
	s->slots = gpu_alloc(s->gpu, CC_SLOTS * sizeof(uint32_t));
	s->back = gpu_pinned_alloc(s->gpu, CC_SLOTS * sizeof *s->back);
	s->host.changed = calloc(CC_STEPS_KEPT, sizeof *s->host.changed);
	if (!s->host.changed)
		return kernel_fail(call, SS_NOMEM, "no memory for the counts of steps");
	if (s->synchronous)
		s->other = gpu_alloc(s->gpu, (size_t)s->host.graph.n * sizeof(int32_t));
	return SS_OK;
}

static void propagate_run(struct cc_cuda_state *s) {
	int n = s->host.graph.n;
	struct gpu_shape shape = {.grid = {gpu_blocks((uint64_t)n, s->block)}, .block = {s->block}};
	GPU_LAUNCH(s->gpu, s->function[START], &shape, &s->label, &n);
	if (s->persistent)
		persistent_run(s);
	else
		batches_run(s);
}

const struct cc_cuda_variant cc_cuda_propagate = {functions, propagate_setup, propagate_run};
