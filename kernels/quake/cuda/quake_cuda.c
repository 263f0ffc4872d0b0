/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of quake for GPUs. It shares inputs, oracle and comparison with the CPU. */
#include <stdlib.h>

#include "kernels/quake/cuda/quake_cuda_impl.h"

extern const struct ss_kernel kernel_quake_cuda;

static const struct quake_cuda_variant *const variants[] = {
	&quake_cuda_per_step, &quake_cuda_deferred, &quake_cuda_graph, &quake_cuda_temporal, &quake_cuda_persistent};
#define VARIANT_NAMES "per_step,deferred,graph,temporal,persistent" /* the same order */
#define STEPWISE      "variant == 'per_step' or variant == 'deferred' or variant == 'graph'"
#define TILES         "variant == 'temporal' or variant == 'persistent'"

static const struct ss_param params[] = {
	[QUAKE_CUDA_VARIANT] = {"variant", "work per launch, and when the sums are copied", SS_WORD, VARIANT_NAMES,
                            "per_step", NULL, 0, 0},
	[QUAKE_CUDA_X] = {"block_size_x", "threads of a block in the x direction", SS_INT, "8..256*2", "16", STEPWISE, 1,
                      QUAKE_CUDA_THREADS_MAX},
	[QUAKE_CUDA_Y] = {"block_size_y", "threads of a block in the y direction", SS_INT, "1..32*2", "16", STEPWISE, 1,
                      QUAKE_CUDA_THREADS_MAX},
	[QUAKE_CUDA_REDUCTION] = {"reduction", "how the counts and energies of the threads are combined", SS_WORD,
                              "atomics,shared,shuffle", "atomics", STEPWISE, 0, 0},
	[QUAKE_CUDA_TILE] = {"tile", "memory through which neighbouring blocks read the cells of a block", SS_WORD,
                         "global,shared", "global", STEPWISE, 0, 0},
	[QUAKE_CUDA_EDGES] = {"edges",
                          "cells outside the grid, and neighbours that don't fire: selected or branched around",
                          SS_WORD, "predicated,branching", "branching", STEPWISE, 0, 0},
	[QUAKE_CUDA_LENGTH] = {"length", "steps in a graph", SS_INT, "16..1024*4", "64", "variant == 'graph'", 2,
                           QUAKE_CUDA_LENGTH_MAX},
	[QUAKE_CUDA_ROWS] = {"rows", "cells of a thread", SS_INT, "4..32*2", "16", TILES, 4, 32},
	[QUAKE_CUDA_DEPTH] = {"depth", "steps for which the halo of a tile suffices", SS_INT, "1..16*2", "4", TILES, 1,
                          QUAKE_DEPTH_MAX},
	{.name = NULL},
};

static const char *const constraints[] = {
	"(" TILES ") or (block_size_x * block_size_y >= 32 and block_size_x * block_size_y <= 1024)", NULL};

static void quake_cuda_program(const struct ss_call *call, struct ss_program *program) {
	variants[call->config[QUAKE_CUDA_VARIANT].i]->program(call->config, program);
}

static enum ss_status host_new(struct quake_cuda *s, const struct ss_call *call) {
	size_t n = s->host.input->n, steps = (size_t)s->host.input->steps;
	s->host.stride = n * sizeof(float);
	s->host.memory = s->host.grid[0] = malloc(n * n * sizeof(float));
	s->host.counts = calloc(steps, sizeof *s->host.counts);
	s->host.means = calloc(steps, sizeof *s->host.means);
	s->tallies = calloc(steps, sizeof *s->tallies);
	if (!s->host.memory || !s->host.counts || !s->host.means || !s->tallies)
		return kernel_fail(call, SS_NOMEM, "no memory for the result of %zu x %zu cells in %zu steps", n, n, steps);
	return SS_OK;
}

static void device_new(struct quake_cuda *s) {
	size_t size = s->host.input->n * s->host.input->n * sizeof(float);
	s->start = gpu_alloc(s->gpu, size);
	s->grid[0] = gpu_alloc(s->gpu, size);
	s->grid[1] = gpu_alloc(s->gpu, size);
	s->device_tallies = gpu_alloc(s->gpu, (size_t)s->host.input->steps * sizeof *s->tallies);
	gpu_upload(s->gpu, s->start, s->host.input->cells, size);
}

static enum ss_status quake_cuda_setup(void *opaque, void *input, const struct ss_call *call) {
	struct quake_cuda *s = opaque;
	const struct ss_value *c = call->config;
	int64_t rows = c[QUAKE_CUDA_ROWS].i;
	if (c[QUAKE_CUDA_X].i * c[QUAKE_CUDA_Y].i > QUAKE_CUDA_THREADS_MAX || (rows & (rows - 1)))
		return kernel_fail(call, SS_INVALID, "a block has 1 to %d threads, and rows are 4, 8, 16 or 32",
		                   QUAKE_CUDA_THREADS_MAX);
	*s = (struct quake_cuda){.host = {.input = input}, .gpu = call->gpu};
	s->variant = variants[c[QUAKE_CUDA_VARIANT].i];
	enum ss_status status = host_new(s, call);
	if (status != SS_OK)
		return status;
	device_new(s);
	status = s->variant->setup(s, cuda_program(&kernel_quake_cuda, call), call);
	return status == SS_OK ? cuda_status(call) : status;
}

static void quake_cuda_reset(void *state, const struct ss_call *call) {
	struct quake_cuda *s = state;
	(void)call;
	s->now = 0;
	gpu_copy(s->gpu, s->grid[0], s->start, s->host.input->n * s->host.input->n * sizeof(float));
}

static enum ss_status quake_cuda_run(void *state, const struct ss_call *call) {
	struct quake_cuda *s = state;
	s->variant->run(s);
	return cuda_status(call);
}

/* The data that the last run copied, as the CPU's hooks want it. */
static void settle(const struct quake_cuda *s) {
	double cells = (double)(s->host.input->n * s->host.input->n);
	for (int64_t step = 0; step < s->host.input->steps; step++) {
		s->host.counts[step] = (double)s->tallies[step].count;
		s->host.means[step] = s->tallies[step].energy / cells;
	}
}

static enum ss_status quake_cuda_verify(void *state, const struct ss_call *call) {
	struct quake_cuda *s = state;
	gpu_download(s->gpu, s->host.memory, s->grid[s->now], s->host.input->n * s->host.stride);
	enum ss_status status = cuda_status(call);
	if (status != SS_OK)
		return status;
	settle(s);
	return quake_verify(&s->host, call);
}

static size_t quake_cuda_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
                                 size_t most) {
	const struct quake_cuda *s = state;
	settle(s);
	return quake_figures(&s->host, call, seconds, out, most);
}

static size_t quake_cuda_series(const void *state, const struct ss_call *call, struct ss_series *out, size_t most) {
	const struct quake_cuda *s = state;
	settle(s);
	return quake_series(&s->host, call, out, most);
}

static void quake_cuda_teardown(void *state) {
	struct quake_cuda *s = state;
	const gpu_ptr memory[] = {s->start, s->grid[0], s->grid[1],  s->device_tallies,
	                          s->base,  s->mail,    s->energies, s->counts};
	if (s->graph)
		gpu_graph_free(s->gpu, s->graph);
	for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
		if (memory[i])
			gpu_free(s->gpu, memory[i]);
	free(s->host.memory);
	free(s->host.counts);
	free(s->host.means);
	free(s->tallies);
}

const struct ss_kernel kernel_quake_cuda = {
	.abi = SS_KERNEL_ABI,
	.name = "quake",
	.summary = "Burridge-Knopoff earthquakes: a cellular automaton that fires and passes energy on",
	.problem = quake_problem,
	.params = params,
	.constraints = constraints,
	.input_size = sizeof(struct quake_input),
	.state_size = sizeof(struct quake_cuda),
	.open = quake_open,
	.setup = quake_cuda_setup,
	.reset = quake_cuda_reset,
	.run = quake_cuda_run,
	.verify = quake_cuda_verify,
	.work = quake_work,
	.teardown = quake_cuda_teardown,
	.close = quake_close,
	.figures = quake_cuda_figures,
	.series = quake_cuda_series,
	.device = "cuda",
	.program = quake_cuda_program,
};
