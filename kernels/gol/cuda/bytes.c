/* SPDX-License-Identifier: BSD-3-Clause */
/* A byte and a thread a cell, from memory or from a tile in shared memory. */
#include "kernels/gol/cuda/gol_cuda_impl.h"

static void byte_program(const struct ss_value *config, struct ss_program *program) {
	(void)config;
	*program = (struct ss_program){.source = "gol/cuda/byte.cu", .names = {"SHARED"}, .values = {0}, .count = 1};
}

static void shared_program(const struct ss_value *config, struct ss_program *program) {
	byte_program(config, program);
	program->values[0] = 1;
}

static enum ss_status byte_setup(struct gol_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	unsigned x = (unsigned)call->config[GOL_CUDA_X].i, y = (unsigned)call->config[GOL_CUDA_Y].i;
	size_t n = s->input->n;
	s->function = gpu_function(s->gpu, module, "gol_byte");
	s->unpack = gpu_function(s->gpu, module, "gol_unpack");
	s->pack = gpu_function(s->gpu, module, "gol_pack");
	s->shape = (struct gpu_shape){.grid = {gpu_blocks(n, x), gpu_blocks(n, y)}, .block = {x, y}};
	return SS_OK;
}

static enum ss_status shared_setup(struct gol_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	enum ss_status status = byte_setup(s, module, call);
	s->shape.shared = (s->shape.block[0] + 2) * (s->shape.block[1] + 2);
	return status;
}

static void byte_run(struct gol_cuda *s) {
	int n = (int)s->input->n;
	for (int64_t generation = 0; generation < s->input->generations; generation++, s->now ^= 1)
		GPU_LAUNCH(s->gpu, s->function, &s->shape, &s->grid[s->now], &s->grid[s->now ^ 1], &s->stride, &n);
}

const struct gol_cuda_variant gol_cuda_byte = {
	.bytes = true, .program = byte_program, .setup = byte_setup, .run = byte_run};

const struct gol_cuda_variant gol_cuda_byte_shared = {
	.bytes = true, .program = shared_program, .setup = shared_setup, .run = byte_run};
