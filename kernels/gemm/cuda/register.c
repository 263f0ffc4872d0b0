/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles of a thread in registers, those of a block in shared memory. */
#include "kernels/gemm/cuda/gemm_cuda_impl.h"

static void register_program(const struct ss_call *call, struct ss_program *program) {
	const struct ss_value *config = call->config;
	*program = (struct ss_program){.source = "gemm/cuda/register.cu",
	                               .names = {"BLOCK_M", "BLOCK_N", "BLOCK_K", "THREAD_M", "THREAD_N", "STAGES"},
	                               .values = {config[GEMM_CUDA_BLOCK_M].i, config[GEMM_CUDA_BLOCK_N].i,
	                                          config[GEMM_CUDA_BLOCK_K].i, config[GEMM_CUDA_THREAD_M].i,
	                                          config[GEMM_CUDA_THREAD_N].i, config[GEMM_CUDA_STAGES].i},
	                               .count = 6};
}

/* register.cu: the strip of A has a pitch of 4 more than its rows. */
static enum ss_status register_setup(struct gemm_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	const struct ss_value *c = call->config;
	unsigned m = (unsigned)c[GEMM_CUDA_BLOCK_M].i, n = (unsigned)c[GEMM_CUDA_BLOCK_N].i;
	unsigned threads = m / (unsigned)c[GEMM_CUDA_THREAD_M].i * (n / (unsigned)c[GEMM_CUDA_THREAD_N].i);
	unsigned strips = (unsigned)c[GEMM_CUDA_STAGES].i * (unsigned)c[GEMM_CUDA_BLOCK_K].i;
	s->function = gpu_function(s->gpu, module, "gemm_register");
	s->shape = (struct gpu_shape){.grid = {(unsigned)s->n / n, (unsigned)s->m / m},
	                              .block = {threads},
	                              .shared = strips * (m + 4 + n) * (unsigned)sizeof(float)};
	return SS_OK;
}

const struct gemm_cuda_variant gemm_cuda_register = {
	.name = "register",
	.types = 1 << GEMM_F32,
	.program = register_program,
	.setup = register_setup,
};
