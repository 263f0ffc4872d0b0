/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops over blocks: `depth` rows of `block` columns of B stay in the cache for `block` rows of A (Lam, Rothberg and
 * Wolf, "The cache performance and optimizations of blocked algorithms", 1991). */
#include "kernels/gemm/gemm.h"

static size_t least(size_t x, size_t y) {
	return x < y ? x : y;
}

static void block_run(const struct gemm_state *s, size_t first) {
	const size_t n = s->shape.n, k = s->shape.k, end = least(first + s->block, s->shape.m);
	memset(s->c + first * n, 0, (end - first) * n * sizeof *s->c);
	for (size_t p0 = 0; p0 < k; p0 += s->depth)
		for (size_t j = 0; j < n; j += s->block)
			for (size_t i = first; i < end; i++)
				for (size_t p = p0; p < least(p0 + s->depth, k); p++)
					gemm_add(s->c + i * n + j, s->b + p * n + j, s->a[i * k + p], least(s->block, n - j));
}

static void tiled_run(struct gemm_state *s) {
	const size_t m = s->shape.m, block = s->block;
#pragma omp parallel for schedule(runtime)
	for (size_t i = 0; i < m; i += block)
		block_run(s, i);
}

const struct gemm_variant gemm_tiled = {.name = "tiled", .f32_only = true, .run = tiled_run};
