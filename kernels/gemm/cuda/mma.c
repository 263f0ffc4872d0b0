/* SPDX-License-Identifier: BSD-3-Clause */
/* Tensor cores for 16-bit elements: tiles of a warp in registers, those of a block in shared memory. */
#include "kernels/gemm/cuda/gemm_cuda_impl.h"

enum { WARP_SUMS_MAX = 4096, BLOCK_SUMS_MAX = 32768, COPY = 8 /* elements that a thread copies at once */ };

static unsigned threads_of(const struct ss_value *c) {
	return (unsigned)(c[GEMM_CUDA_BLOCK_M].i / c[GEMM_CUDA_WARP_M].i *
	                  (c[GEMM_CUDA_BLOCK_N].i / c[GEMM_CUDA_WARP_N].i) * 32);
}

static void mma_program(const struct ss_call *call, struct ss_program *program) {
	const struct ss_value *c = call->config;
	*program = (struct ss_program){.source = "gemm/cuda/mma.cu",
	                               .names = {"BLOCK_M", "BLOCK_N", "WARP_M", "WARP_N", "DEPTH", "BUFFERS", "TYPE"},
	                               .values = {c[GEMM_CUDA_BLOCK_M].i, c[GEMM_CUDA_BLOCK_N].i, c[GEMM_CUDA_WARP_M].i,
	                                          c[GEMM_CUDA_WARP_N].i, c[GEMM_CUDA_DEPTH].i, c[GEMM_CUDA_BUFFERS].i,
	                                          gemm_type_of(call)},
	                               .count = 7};
}

static const char *mma_refusal(const struct ss_call *call) {
	const struct ss_value *c = call->config;
	int64_t m = c[GEMM_CUDA_BLOCK_M].i, n = c[GEMM_CUDA_BLOCK_N].i, depth = c[GEMM_CUDA_DEPTH].i;
	if (n < 64)
		return "a block of mma has at least 64 columns";
	if (m < c[GEMM_CUDA_WARP_M].i || n < c[GEMM_CUDA_WARP_N].i)
		return "a block is smaller than the tile of a warp";
	if (c[GEMM_CUDA_WARP_M].i * c[GEMM_CUDA_WARP_N].i > WARP_SUMS_MAX)
		return "a warp has at most 4096 sums";
	if (m * n > BLOCK_SUMS_MAX)
		return "a block has at most 32768 sums";
	if ((m < n ? m : n) * depth / COPY < threads_of(c))
		return "some threads have nothing to copy: make depth or the tile of a warp larger";
	return NULL;
}

static enum ss_status mma_setup(struct gemm_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	const struct ss_value *c = call->config;
	unsigned m = (unsigned)c[GEMM_CUDA_BLOCK_M].i, n = (unsigned)c[GEMM_CUDA_BLOCK_N].i;
	unsigned depth = (unsigned)c[GEMM_CUDA_DEPTH].i * (unsigned)c[GEMM_CUDA_BUFFERS].i;
	s->function = gpu_function(s->gpu, module, "gemm_mma");
	s->shape = (struct gpu_shape){.block = {threads_of(c)}, .shared = depth * (m + n) * (unsigned)sizeof(uint16_t)};
	gemm_cuda_grid(s, m, n, (unsigned)c[GEMM_CUDA_GROUP].i);
	return SS_OK;
}

const struct gemm_cuda_variant gemm_cuda_mma = {
	.name = "mma",
	.types = 1 << GEMM_F16 | 1 << GEMM_BF16,
	.refusal = mma_refusal,
	.program = mma_program,
	.setup = mma_setup,
};
