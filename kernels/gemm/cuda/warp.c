/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles of a thread in registers, those of its warp beside each other, those of a block in shared memory. */
#include "kernels/gemm/cuda/gemm_cuda_impl.h"

static void warp_program(const struct ss_call *call, struct ss_program *program) {
	const struct ss_value *config = call->config;
	*program = (struct ss_program){.source = "gemm/cuda/warp.cu",
	                               .names = {"BLOCK_M", "BLOCK_N", "BLOCK_K", "THREAD_M", "THREAD_N", "BUFFERS"},
	                               .values = {config[GEMM_CUDA_BLOCK_M].i, config[GEMM_CUDA_BLOCK_N].i,
	                                          config[GEMM_CUDA_BLOCK_K].i, config[GEMM_CUDA_THREAD_M].i,
	                                          config[GEMM_CUDA_THREAD_N].i, config[GEMM_CUDA_BUFFERS].i},
	                               .count = 6};
}

static const char *warp_refusal(const struct ss_call *call) {
	const struct ss_value *c = call->config;
	int64_t m = c[GEMM_CUDA_THREAD_M].i, n = c[GEMM_CUDA_THREAD_N].i, across = m < n ? 4 : 8;
	if (c[GEMM_CUDA_BLOCK_M].i < 32 / across * m || c[GEMM_CUDA_BLOCK_N].i < across * n)
		return "a block is smaller than the tile of a warp, which has 4 x 8 threads, or 8 x 4";
	if (c[GEMM_CUDA_BLOCK_M].i * c[GEMM_CUDA_BLOCK_N].i > 32768)
		return "a block has at most 32768 sums";
	return m * n > 128 ? "a thread has at most 128 sums" : NULL;
}

/* warp.cu: the strip of A has a pitch of 4 more than its rows. */
static enum ss_status warp_setup(struct gemm_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	const struct ss_value *c = call->config;
	unsigned m = (unsigned)c[GEMM_CUDA_BLOCK_M].i, n = (unsigned)c[GEMM_CUDA_BLOCK_N].i;
	unsigned strips = (unsigned)c[GEMM_CUDA_BUFFERS].i * (unsigned)c[GEMM_CUDA_BLOCK_K].i;
	s->function = gpu_function(s->gpu, module, "gemm_warp");
	s->shape =
		(struct gpu_shape){.block = {m / (unsigned)c[GEMM_CUDA_THREAD_M].i * (n / (unsigned)c[GEMM_CUDA_THREAD_N].i)},
	                       .shared = strips * (m + 4 + n) * (unsigned)sizeof(float)};
	gemm_cuda_grid(s, m, n, (unsigned)c[GEMM_CUDA_GROUP].i);
	return SS_OK;
}

const struct gemm_cuda_variant gemm_cuda_warp = {
	.name = "warp",
	.types = 1 << GEMM_F32,
	.refusal = warp_refusal,
	.program = warp_program,
	.setup = warp_setup,
};
