/* SPDX-License-Identifier: BSD-3-Clause */
/* A launch a step: with a copy of its sums to the host each time, one copy in the end, or as graphs of many steps. */
#include "kernels/quake/cuda/quake_cuda_impl.h"

static void step_program(const struct ss_value *config, struct ss_program *program) {
	*program = (struct ss_program){
		.source = "quake/cuda/step.cu",
		.names = {"REDUCTION", "TILE", "BRANCHING"},
		.values = {config[QUAKE_CUDA_REDUCTION].i, config[QUAKE_CUDA_TILE].i, config[QUAKE_CUDA_EDGES].i},
		.count = 3};
}

/* step.cu: the tile with those around it, then two words a thread or a warp. */
static unsigned shared_bytes(const struct ss_value *config, unsigned x, unsigned y) {
	static const unsigned lanes[] = {0, 1, 32}; /* that share two words */
	unsigned lane = lanes[config[QUAKE_CUDA_REDUCTION].i];
	unsigned sums = lane ? (x * y + lane - 1) / lane * 8 : 0;
	return sums + (config[QUAKE_CUDA_TILE].i ? (x + 2) * (y + 2) * (unsigned)sizeof(float) : 0);
}

static enum ss_status step_setup(struct quake_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	unsigned x = (unsigned)call->config[QUAKE_CUDA_X].i, y = (unsigned)call->config[QUAKE_CUDA_Y].i;
	size_t n = s->host.input->n;
	s->function = gpu_function(s->gpu, module, "quake_step");
	s->shape = (struct gpu_shape){
		.grid = {gpu_blocks(n, x), gpu_blocks(n, y)}, .block = {x, y}, .shared = shared_bytes(call->config, x, y)};
	return SS_OK;
}

/* Its number counts from *base, if there is one. */
static void launch(struct quake_cuda *s, gpu_ptr base, int64_t number) {
	int n = (int)s->host.input->n;
	GPU_LAUNCH(s->gpu, s->function, &s->shape, &s->grid[s->now], &s->grid[s->now ^ 1], &n, &s->device_tallies, &base,
	           &number);
	s->now ^= 1;
}

static void clear(struct quake_cuda *s) {
	gpu_fill8(s->gpu, s->device_tallies, 0, (size_t)s->host.input->steps * sizeof *s->tallies);
}

static void download_all(struct quake_cuda *s) {
	gpu_download(s->gpu, s->tallies, s->device_tallies, (size_t)s->host.input->steps * sizeof *s->tallies);
}

static void per_step_run(struct quake_cuda *s) {
	clear(s);
	for (int64_t step = 0; step < s->host.input->steps; step++) {
		launch(s, 0, step);
		gpu_download(s->gpu, s->tallies + step, s->device_tallies + (uint64_t)step * sizeof *s->tallies,
		             sizeof *s->tallies);
	}
}

static void deferred_run(struct quake_cuda *s) {
	clear(s);
	for (int64_t step = 0; step < s->host.input->steps; step++)
		launch(s, 0, step);
	download_all(s);
}

/* A graph has an even number of steps, so that it ends in the grid in which it began. */
static enum ss_status graph_setup(struct quake_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	enum ss_status status = step_setup(s, module, call);
	struct gpu_shape one = {.grid = {1}, .block = {1}};
	s->advance = gpu_function(s->gpu, module, "quake_advance");
	s->base = gpu_alloc(s->gpu, sizeof(int64_t));
	s->length = call->config[QUAKE_CUDA_LENGTH].i / 2 * 2;
	if (!gpu_is_fine(s->gpu))
		return cuda_status(call);
	gpu_record(s->gpu);
	for (int64_t step = 0; step < s->length; step++)
		launch(s, s->base, step);
	GPU_LAUNCH(s->gpu, s->advance, &one, &s->base, &s->length);
	s->graph = gpu_recorded(s->gpu);
	return status;
}

static void graph_run(struct quake_cuda *s) {
	int64_t steps = s->host.input->steps, step = 0;
	clear(s);
	gpu_fill8(s->gpu, s->base, 0, sizeof(int64_t));
	for (; step + s->length <= steps; step += s->length)
		gpu_graph_launch(s->gpu, s->graph);
	for (; step < steps; step++)
		launch(s, 0, step);
	download_all(s);
}

const struct quake_cuda_variant quake_cuda_per_step = {
	.name = "per_step", .program = step_program, .setup = step_setup, .run = per_step_run};

const struct quake_cuda_variant quake_cuda_deferred = {
	.name = "deferred", .program = step_program, .setup = step_setup, .run = deferred_run};

const struct quake_cuda_variant quake_cuda_graph = {
	.name = "graph", .program = step_program, .setup = graph_setup, .run = graph_run};
