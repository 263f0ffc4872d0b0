/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches the kernels of contract.cu. The host does not wait for any of them. */
#include "kernels/cc/cuda/cc_cuda_impl.h"

enum { CONTRACT, COUNT, ROOTS, NUMBER, LINK, GIANT, SETTLE, MARK, FINISH };
static const char *const functions[] = {"contract_",  "roots_count",  "roots_number", "list_number",   "list_link",
                                        "giant_find", "roots_settle", "giant_mark",   "labels_finish", NULL};
enum { RANK_WORDS = 4 /* contract.cu */ };

/* The memory at `other`, from the front; `left` counts the pairs after each window. */
struct parts {
	gpu_ptr ranks, known, counts, parent, vertex, inside, left, end;
};

static unsigned words_of(const struct cc_cuda_state *s) {
	return gpu_blocks((uint64_t)s->host.graph.n, 32);
}

static struct gpu_shape words_shape(const struct cc_cuda_state *s, unsigned each) {
	return (struct gpu_shape){.grid = {gpu_blocks(words_of(s), (uint64_t)s->block * each)}, .block = {s->block}};
}

static struct parts parts_of(const struct cc_cuda_state *s) {
	size_t n = (size_t)s->host.graph.n, words = words_of(s);
	struct parts p = {.ranks = s->other};
	p.known = p.ranks + words * 8;
	p.counts = p.known + words * 4;
	p.parent = p.counts + words_shape(s, RANK_WORDS).grid[0] * 4;
	p.vertex = p.parent + n * 4;
	p.inside = p.vertex + n * 4;
	p.left = p.inside + (words + 1) * 4;
	p.end = p.left + CC_WINDOWS_MAX * 4;
	return p;
}

static enum ss_status contract_setup(struct cc_cuda_state *s, const struct ss_call *call) {
	size_t pairs = s->host.graph.ends / 2;
	if (pairs > INT32_MAX)
		return kernel_fail(call, SS_INVALID, "a list of %zu pairs is too long", pairs);
	s->list = gpu_alloc(s->gpu, (pairs + 1) * 8);
	s->hubs = s->windows > 1 ? gpu_alloc(s->gpu, (pairs + 1) * 8) : 0;
	s->other = gpu_alloc(s->gpu, parts_of(s).end);
	return SS_OK;
}

/* The list and its other buffer take turns. */
static void roots_link(struct cc_cuda_state *s, const struct parts *p, const struct gpu_shape *fill, gpu_ptr roots) {
	gpu_ptr from = s->list, to = s->hubs, count = cc_control(s, CC_LISTED), left = p->left;
	gpu_ptr parent = p->parent, ranks = p->ranks;
	GPU_LAUNCH(s->gpu, s->function[NUMBER], fill, &s->label, &ranks, &from, &count);
	for (int w = s->windows; w-- > 0; left += 4) {
		gpu_ptr old = from;
		GPU_LAUNCH(s->gpu, s->function[LINK], fill, &parent, &from, &count, &to, &left, &roots, &w, &s->windows);
		from = to, to = old, count = left;
	}
}

static void contract_run(struct cc_cuda_state *s) {
	const struct cc_cuda_input *in = s->input;
	struct parts p = parts_of(s);
	struct gpu_shape some = words_shape(s, RANK_WORDS), word = words_shape(s, 1), each = {.block = {s->block}};
	struct gpu_shape fill = cc_cuda_fill(s), one = {.block = {1024}};
	gpu_ptr listed = cc_control(s, CC_LISTED), roots = cc_control(s, CC_HUBS), giant = cc_control(s, CC_GIANT);
	int n = s->host.graph.n, words = (int)words_of(s);
	each.grid[0] = gpu_blocks((uint64_t)n, (uint64_t)s->block * (unsigned)s->each);
	gpu_fill32(s->gpu, p.inside, 0, (p.end - p.inside) / 4);
	GPU_LAUNCH(s->gpu, s->function[CONTRACT], &each, (void *)&in->first, (void *)&in->target, &n, &s->label, &p.ranks,
	           &s->list, &listed);
	GPU_LAUNCH(s->gpu, s->function[COUNT], &some, &p.ranks, &words, &p.counts);
	GPU_LAUNCH(s->gpu, s->function[ROOTS], &some, &p.ranks, &words, &p.counts, &p.parent, &p.vertex, &roots);
	roots_link(s, &p, &fill, roots);
	GPU_LAUNCH(s->gpu, s->function[GIANT], &one, &p.parent, &roots, &s->samples, &giant);
	GPU_LAUNCH(s->gpu, s->function[SETTLE], &fill, &p.parent, &p.vertex, &roots, &giant, &p.inside);
	GPU_LAUNCH(s->gpu, s->function[MARK], &word, &p.ranks, &words, &p.inside, &p.known);
	GPU_LAUNCH(s->gpu, s->function[FINISH], &each, &s->label, &n, &p.ranks, &p.vertex, &giant, &p.inside, &p.known);
	s->host.steps = 3;
}

const struct cc_cuda_variant cc_cuda_contract = {functions, contract_setup, contract_run};
