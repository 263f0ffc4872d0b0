/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrices on the GPU, in the type of the problem. */
#include <config.h>
#include <stdlib.h>

#include "kernels/gemm/cuda/gemm_cuda.h"

static int padded(size_t x, int to) {
	return ((int)x + to - 1) / to * to;
}

/* rows x columns elements of `size` bytes, in a field of zeros. */
static gpu_ptr upload(struct gemm_cuda *s, const void *from, size_t size, size_t rows, size_t columns, int down,
                      int across) {
	size_t bytes = (size_t)down * (size_t)across * size;
	gpu_ptr to = gpu_alloc(s->gpu, bytes);
	const struct gpu_rectangle rectangle = {.to = to,
	                                        .from = (uintptr_t)from,
	                                        .to_pitch = (size_t)across * size,
	                                        .from_pitch = columns * size,
	                                        .width = columns * size,
	                                        .rows = rows};
	gpu_fill32(s->gpu, to, 0, bytes / sizeof(uint32_t));
	gpu_copy_rectangle(s->gpu, GPU_UP, &rectangle);
	return to;
}

static bool upload16(struct gemm_cuda *s, enum gemm_type type) {
	const struct gemm_shape *shape = &s->input->shape;
	size_t a = shape->m * shape->k, b = shape->k * shape->n;
	uint16_t *all = malloc((a + b) * sizeof *all);
	if (!all)
		return false;
	gemm_narrow_all(all, s->input->a, a, type);
	gemm_narrow_all(all + a, s->input->b, b, type);
	s->a = upload(s, all, sizeof *all, shape->m, shape->k, s->m, s->k);
	s->b = upload(s, all + a, sizeof *all, shape->k, shape->n, s->k, s->n);
	free(all);
	return true;
}

bool gemm_cuda_matrices_new(struct gemm_cuda *s, enum gemm_type type) {
	const struct gemm_shape *shape = &s->input->shape;
	s->m = padded(shape->m, GEMM_CUDA_PAD);
	s->n = padded(shape->n, GEMM_CUDA_PAD);
	s->k = padded(shape->k, type == GEMM_F32 ? GEMM_CUDA_PAD_K : GEMM_CUDA_PAD_K16);
	if (type != GEMM_F32 && !upload16(s, type))
		return false;
	if (type == GEMM_F32) {
		s->a = upload(s, s->input->a, sizeof(float), shape->m, shape->k, s->m, s->k);
		s->b = upload(s, s->input->b, sizeof(float), shape->k, shape->n, s->k, s->n);
	}
	s->c = gpu_alloc(s->gpu, (size_t)s->m * (size_t)s->n * sizeof(float));
	gpu_fill32(s->gpu, s->c, 0, (size_t)s->m * (size_t)s->n);
	return true;
}
