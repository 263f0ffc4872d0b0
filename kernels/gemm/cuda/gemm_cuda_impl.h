/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix multiplication on a GPU. The matrices are padded with zeros to whole tiles, so that no thread has to check for
 * a border. */
#ifndef KERNELS_GEMM_CUDA_GEMM_CUDA_IMPL_H
#define KERNELS_GEMM_CUDA_GEMM_CUDA_IMPL_H
#include "kernels/cuda.h"
#include "kernels/gemm/gemm.h"

/* Places among the parameters. */
enum {
	GEMM_CUDA_VARIANT,
	GEMM_CUDA_X,
	GEMM_CUDA_Y,
	GEMM_CUDA_TILE,
	GEMM_CUDA_BLOCK_M,
	GEMM_CUDA_BLOCK_N,
	GEMM_CUDA_BLOCK_K,
	GEMM_CUDA_THREAD_M,
	GEMM_CUDA_THREAD_N,
	GEMM_CUDA_BUFFERS,
	GEMM_CUDA_GROUP,
	GEMM_CUDA_WARP_M,
	GEMM_CUDA_WARP_N,
	GEMM_CUDA_DEPTH,
	GEMM_CUDA_CLUSTER,
	GEMM_CUDA_SWIZZLE,
	GEMM_CUDA_PARAMS
};
/* Padding: every tile is a part of it. */
enum { GEMM_CUDA_PAD = 256, GEMM_CUDA_PAD_ROW = 128 /* bytes of a row of A */, GEMM_CUDA_THREADS_MAX = 1024 };

struct gemm_cuda {
	const struct gemm_cuda_variant *variant;
	const struct gemm_input *input; /* not owned */
	struct gpu *gpu;
	int m, n, k; /* with the padding */
	gpu_ptr a, b, c;
	float *result; /* m x n, for the host */
	const struct gpu_function *function;
	struct gpu_shape shape;
	struct gpu_tensor_map map_a, map_b; /* wgmma */
	int group;                          /* wgmma: rows of clusters */
};

struct gemm_cuda_variant {
	const char *name;
	unsigned types;                                     /* a bit for each gemm_type; 0: all */
	const char *(*refusal)(const struct ss_call *call); /* the reason why it cannot run; may be NULL */
	void (*program)(const struct ss_call *call, struct ss_program *program);
	enum ss_status (*setup)(struct gemm_cuda *s, const struct gpu_module *module, const struct ss_call *call);
	void (*run)(struct gemm_cuda *s); /* NULL: the arguments are A, B, C, n and k */
};

#endif
