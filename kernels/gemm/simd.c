/* SPDX-License-Identifier: BSD-3-Clause */
/* Packed panels and tiles in registers (Goto and van de Geijn, "Anatomy of high-performance matrix multiplication",
 * 2008): `depth` rows of B are packed for all threads, then each thread packs `block` rows of A and runs over the
 * tiles. Panels are padded with zeros to whole tiles; of a tile at the border only the inside goes to C. */
#include <omp.h>

#include "kernels/gemm/gemm.h"

static size_t least(size_t x, size_t y) {
	return x < y ? x : y;
}

/* Column panel `at` of B, rows from p on: `depth` times `columns` numbers. */
static void pack_b(const struct gemm_state *s, size_t at, size_t p, size_t depth) {
	const size_t columns = s->isa->columns, n = s->shape.n, width = least(columns, n - at * columns);
	float *to = s->panel_b + at * columns * depth;
	for (size_t i = 0; i < depth; i++, to += columns) {
		memcpy(to, s->b + (p + i) * n + at * columns, width * sizeof *to);
		memset(to + width, 0, (columns - width) * sizeof *to);
	}
}

/* The rows from `first` on, as panels of `depth` times `rows` numbers. */
static void pack_a(const struct gemm_state *s, float *to, size_t first, size_t end, size_t p, size_t depth) {
	const size_t rows = s->isa->rows, k = s->shape.k;
	for (; first < end; first += rows)
		for (size_t i = 0; i < depth; i++, to += rows)
			for (size_t r = 0; r < rows; r++)
				to[r] = first + r < end ? s->a[(first + r) * k + p + i] : 0;
}

static void tile_run(const struct gemm_state *s, const float *a, const float *b, size_t i, size_t j, size_t depth,
                     bool add) {
	const size_t rows = s->isa->rows, columns = s->isa->columns, n = s->shape.n;
	const size_t height = least(rows, s->shape.m - i), width = least(columns, n - j);
	float *c = s->c + i * n + j, part[GEMM_ROWS_MAX * GEMM_COLUMNS_MAX];
	if (height == rows && width == columns) {
		s->isa->tile(depth, a, b, c, n, add);
		return;
	}
	s->isa->tile(depth, a, b, part, columns, false);
	for (size_t r = 0; r < height; r++)
		for (size_t x = 0; x < width; x++)
			c[r * n + x] = part[r * columns + x] + (add ? c[r * n + x] : 0);
}

static void block_run(const struct gemm_state *s, size_t first, size_t p, size_t depth) {
	const size_t rows = s->isa->rows, columns = s->isa->columns, end = least(first + s->block, s->shape.m);
	float *panel = s->panels_a + (size_t)omp_get_thread_num() * (s->bytes[4] / (size_t)s->threads / sizeof *panel);
	pack_a(s, panel, first, end, p, depth);
	for (size_t j = 0; j < s->shape.n; j += columns)
		for (size_t i = first; i < end; i += rows)
			tile_run(s, panel + (i - first) * depth, s->panel_b + j * depth, i, j, depth, p > 0);
}

/* A block of rows ends where a tile ends, because the next one would be written by another thread. */
static void simd_run(struct gemm_state *s) {
	const size_t m = s->shape.m, n = s->shape.n, k = s->shape.k, columns = s->isa->columns;
#pragma omp parallel
	for (size_t p = 0; p < k; p += s->depth) {
		const size_t depth = least(s->depth, k - p);
#pragma omp for schedule(static)
		for (size_t at = 0; at < (n + columns - 1) / columns; at++)
			pack_b(s, at, p, depth);
#pragma omp for schedule(runtime)
		for (size_t i = 0; i < m; i += s->block)
			block_run(s, i, p, depth);
	}
}

const struct gemm_variant gemm_simd = {.name = "simd", .packs = true, .f32_only = true, .run = simd_run};
