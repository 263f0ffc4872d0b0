/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread for each element: from memory, or from tiles in shared memory. */
#include "kernels/gemm/cuda/gemm_cuda_impl.h"

static void simple_program(const struct ss_call *call, struct ss_program *program) {
	enum gemm_type type = gemm_type_of(call);
	*program = (struct ss_program){.source = "gemm/cuda/simple.cu",
	                               .names = {"TILE", "TYPE"},
	                               .values = {0, type == GEMM_TF32 ? GEMM_F32 : type},
	                               .count = 2};
}

static void shared_program(const struct ss_call *call, struct ss_program *program) {
	simple_program(call, program);
	program->values[0] = call->config[GEMM_CUDA_TILE].i;
}

static enum ss_status simple_setup(struct gemm_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	unsigned x = (unsigned)call->config[GEMM_CUDA_X].i, y = (unsigned)call->config[GEMM_CUDA_Y].i;
	s->function = gpu_function(s->gpu, module, "gemm_simple");
	s->shape = (struct gpu_shape){.grid = {(unsigned)s->n / x, (unsigned)s->m / y}, .block = {x, y}};
	return SS_OK;
}

static enum ss_status shared_setup(struct gemm_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	unsigned tile = (unsigned)call->config[GEMM_CUDA_TILE].i;
	s->function = gpu_function(s->gpu, module, "gemm_shared");
	s->shape = (struct gpu_shape){.grid = {(unsigned)s->n / tile, (unsigned)s->m / tile}, .block = {tile, tile}};
	return SS_OK;
}

const struct gemm_cuda_variant gemm_cuda_simple = {
	.name = "simple",
	.program = simple_program,
	.setup = simple_setup,
};

const struct gemm_cuda_variant gemm_cuda_shared = {
	.name = "shared",
	.program = shared_program,
	.setup = shared_setup,
};
