/* SPDX-License-Identifier: BSD-3-Clause */
/* The blocked variant's inner loops: one template (simd_tile.h), compiled for each instruction set and chosen at run
 * time, so that the build needs no -march. */
#include "kernels/kmeans/kmeans.h"
#include "kernels/isa.h"

enum { AHEAD = 4096 /* bytes that arrive from memory while a core waits for one line, doubled */ };

/* Hardware stops fetching ahead at the end of a page; objects run over many. Any address may be asked for. */
static inline void kmeans_fetch_ahead(const double *x, size_t count) {
	for (size_t line = 0; line < count; line += KMEANS_LINE / sizeof *x)
		__builtin_prefetch((const void *)((uintptr_t)(x + line) + AHEAD));
}

#if defined(__x86_64__)
#include <immintrin.h>

#define TILE_NAME(word)  avx512_##word
#define TILE_TARGET      __attribute__((target("avx512f")))
#define TILE_LANES       8
#define TILE_ROWS        8
#define TILE_PANELS      2
#define TILE_MIN(x, y)   ((avx512_vec)_mm512_min_pd((__m512d)(x), (__m512d)(y)))
#define TILE_LEAST(x)    ((avx512_vec)_mm512_set1_pd(_mm512_reduce_min_pd((__m512d)(x))))
#define TILE_EQUAL(x, y) _mm512_cmp_pd_mask((__m512d)(x), (__m512d)(y), _CMP_EQ_OQ)
#include "kernels/kmeans/simd_tile.h"

__attribute__((target("avx2,fma"))) static inline __m256d avx2_least(__m256d x) {
	__m256d halves = _mm256_min_pd(x, _mm256_permute2f128_pd(x, x, 1));
	return _mm256_min_pd(halves, _mm256_permute_pd(halves, 5));
}

#define TILE_NAME(word)  avx2_##word
#define TILE_TARGET      __attribute__((target("avx2,fma")))
#define TILE_LANES       4
#define TILE_ROWS        3
#define TILE_PANELS      2
#define TILE_MIN(x, y)   ((avx2_vec)_mm256_min_pd((__m256d)(x), (__m256d)(y)))
#define TILE_LEAST(x)    ((avx2_vec)avx2_least((__m256d)(x)))
#define TILE_EQUAL(x, y) _mm256_movemask_pd(_mm256_cmp_pd((__m256d)(x), (__m256d)(y), _CMP_EQ_OQ))
#include "kernels/kmeans/simd_tile.h"

KERNEL_ISA(avx512, KERNEL_CPU_HAS("avx512f"))
KERNEL_ISA(avx2, KERNEL_CPU_HAS("avx2") && KERNEL_CPU_HAS("fma"))

/* SSE2 is part of the architecture. */
#define TILE_MIN(x, y)   ((generic_vec)_mm_min_pd((__m128d)(x), (__m128d)(y)))
#define TILE_EQUAL(x, y) _mm_movemask_pd(_mm_cmpeq_pd((__m128d)(x), (__m128d)(y)))
#define TILE_ROWS        2
#elif defined(__aarch64__)
#include <arm_neon.h>
#define TILE_MIN(x, y) ((generic_vec)vminq_f64((float64x2_t)(x), (float64x2_t)(y)))
#define TILE_ROWS      4
#else
#define TILE_MIN(x, y) ((generic_vec){(x)[0] < (y)[0] ? (x)[0] : (y)[0], (x)[1] < (y)[1] ? (x)[1] : (y)[1]})
#define TILE_ROWS      2
#endif

/* Two lanes are what SSE2, NEON, VSX and the like have without asking. */
#define TILE_NAME(word) generic_##word
#define TILE_TARGET
#define TILE_LANES    2
#define TILE_PANELS   1
#define TILE_LEAST(x) TILE_MIN(x, ((generic_vec){(x)[1], (x)[0]}))
#ifndef TILE_EQUAL
#define TILE_EQUAL(x, y) (((x)[0] == (y)[0]) | ((x)[1] == (y)[1]) << 1)
#endif
#include "kernels/kmeans/simd_tile.h"

KERNEL_ISA(generic, 1)

const struct kmeans_isa kmeans_isas[] = {
#if defined(__x86_64__)
	{.name = "avx512", .usable = avx512_usable, .assign = avx512_assign},
	{.name = "avx2", .usable = avx2_usable, .assign = avx2_assign},
#endif
	{.name = "generic", .usable = generic_usable, .assign = generic_assign},
	{.name = NULL},
};
