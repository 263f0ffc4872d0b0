/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches the kernels of forest.cu. The host does not wait for any of them. */
#include "kernels/cc/cuda/cc_cuda_impl.h"

enum { START, LINK, GIANT, REST, HUBS, COMPRESS };
static const char *const functions[] = {"start_", "list_link", "giant_find", "rest_", "hubs_", "labels_compress", NULL};

static struct gpu_shape a_thread_each(const struct cc_cuda_state *s) {
	return (struct gpu_shape){.grid = {gpu_blocks((uint64_t)s->host.graph.n, s->block)}, .block = {s->block}};
}

static void trees_start(struct cc_cuda_state *s) {
	const struct cc_cuda_input *in = s->input;
	struct gpu_shape shape = a_thread_each(s);
	gpu_ptr listed = cc_control(s, CC_LISTED);
	int n = s->host.graph.n, smaller = s->smaller, vertices = s->early;
	GPU_LAUNCH(s->gpu, s->function[START], &shape, (void *)&in->first, (void *)&in->target, &n, &s->label, &s->list,
	           &listed, &s->rounds, &smaller, &vertices);
	s->host.steps++;
}

static void labels_compress(struct cc_cuda_state *s, gpu_ptr needed) {
	int n = s->host.graph.n, halving = s->halving;
	struct gpu_shape shape = a_thread_each(s);
	GPU_LAUNCH(s->gpu, s->function[COMPRESS], &shape, &s->label, &n, &halving, &needed);
}

static void list_link(struct cc_cuda_state *s) {
	struct gpu_shape shape = cc_cuda_fill(s);
	gpu_ptr listed = cc_control(s, CC_LISTED);
	int vertices = s->early;
	GPU_LAUNCH(s->gpu, s->function[LINK], &shape, &s->label, &s->list, &listed, &vertices);
	s->host.steps++;
}

static void giant_find(struct cc_cuda_state *s) {
	struct gpu_shape shape = {.grid = {1}, .block = {(unsigned)s->samples < 1024 ? (unsigned)s->samples : 1024}};
	gpu_ptr giant = cc_control(s, CC_GIANT);
	int n = s->host.graph.n;
	GPU_LAUNCH(s->gpu, s->function[GIANT], &shape, &s->label, &n, &s->samples, &giant);
}

static void rest_link(struct cc_cuda_state *s) {
	const struct cc_cuda_input *in = s->input;
	struct gpu_shape each = a_thread_each(s), fill = cc_cuda_fill(s);
	gpu_ptr giant = s->skip ? cc_control(s, CC_GIANT) : 0, count = cc_control(s, CC_HUBS);
	gpu_ptr linked = cc_control(s, CC_LINKED);
	int n = s->host.graph.n, from = s->skip ? 0 : s->rounds;
	for (int pass = 0; pass < 2; pass++)
		GPU_LAUNCH(s->gpu, s->function[pass ? HUBS : REST], pass ? &fill : &each, (void *)&in->first,
		           (void *)&in->target, &n, &s->label, &giant, &from, &s->hub, &s->hubs, &count, &linked);
	s->host.steps++;
}

static enum ss_status forest_setup(struct cc_cuda_state *s, const struct ss_call *call) {
	const struct cc_graph *g = &s->host.graph;
	uint64_t most = (uint64_t)g->n * (unsigned)s->rounds, pairs = most < g->ends ? most : g->ends;
	if (pairs > INT32_MAX)
		return kernel_fail(call, SS_INVALID, "a list of %llu pairs is too long: choose fewer rounds",
		                   (unsigned long long)pairs);
	s->list = gpu_alloc(s->gpu, (pairs + 1) * 2 * sizeof(int32_t));
	s->hubs = gpu_alloc(s->gpu, (g->ends / (unsigned)s->hub + 1) * sizeof(int32_t));
	return SS_OK;
}

static void forest_run(struct cc_cuda_state *s) {
	trees_start(s);
	if (s->early)
		labels_compress(s, 0);
	if (s->rounds > 1 || !s->smaller)
		list_link(s);
	if (s->skip) {
		labels_compress(s, 0);
		giant_find(s);
	}
	rest_link(s);
	labels_compress(s, s->skip ? cc_control(s, CC_LINKED) : 0);
}

const struct cc_cuda_variant cc_cuda_forest = {functions, forest_setup, forest_run};
