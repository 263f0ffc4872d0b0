/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocked, with explicit SIMD tile kernels: one template (simd_tile.h), compiled for each instruction set and chosen at
 * run time, so that the build needs no -march. Layout: tiles in panels of 16 columns, a cache line a row. */
#include <config.h>

#include "kernels/fw/fw.h"
#if defined(__x86_64__)
#include <immintrin.h>

#define TILE_NAME(word) avx512_##word
#define TILE_TARGET __attribute__((target("avx512f")))
#define TILE_LANES 16
#define TILE_ROWS 8
#define TILE_MIN(x, y) ((avx512_vec)_mm512_min_epi32((__m512i)(x), (__m512i)(y)))
#include "kernels/fw/simd_tile.h"

#define TILE_NAME(word) avx2_##word
#define TILE_TARGET __attribute__((target("avx2")))
#define TILE_LANES 8
#define TILE_ROWS 4
#define TILE_MIN(x, y) ((avx2_vec)_mm256_min_epi32((__m256i)(x), (__m256i)(y)))
#include "kernels/fw/simd_tile.h"

#define TILE_NAME(word) sse41_##word
#define TILE_TARGET __attribute__((target("sse4.1")))
#define TILE_LANES 4
#define TILE_ROWS 2
#define TILE_MIN(x, y) ((sse41_vec)_mm_min_epi32((__m128i)(x), (__m128i)(y)))
#include "kernels/fw/simd_tile.h"

static int avx512_usable(void) {
	return __builtin_cpu_supports("avx512f") != 0;
}

static int avx2_usable(void) {
	return __builtin_cpu_supports("avx2") != 0;
}

static int sse41_usable(void) {
	return __builtin_cpu_supports("sse4.1") != 0;
}
#endif

/* Four lanes are what SSE2, NEON, AltiVec and the like have without asking. */
#define TILE_NAME(word) generic_##word
#define TILE_TARGET
#define TILE_LANES 4
#if defined(__aarch64__)
#include <arm_neon.h>
#define TILE_ROWS 4
#define TILE_MIN(x, y) ((generic_vec)vminq_s32((int32x4_t)(x), (int32x4_t)(y)))
#else
#define TILE_ROWS 2
#define TILE_MIN(x, y) (((x) & ((x) < (y))) | ((y) & ~((x) < (y))))
#endif
#include "kernels/fw/simd_tile.h"

static int generic_usable(void) {
	return 1;
}

#define ISA(word, text) {.name = text, .usable = word##_usable, .relax = word##_relax, .close = word##_close}
const struct fw_isa fw_isas[] = {
#if defined(__x86_64__)
	ISA(avx512, "avx512"),
	ISA(avx2, "avx2"),
	ISA(sse41, "sse4.1"),
#endif
	ISA(generic, "generic"),
	{.name = NULL},
};

const struct fw_isa *fw_isa_best(void) {
	const struct fw_isa *isa = fw_isas;
	while (!isa->usable())
		isa++;
	return isa;
}

/* Padding up to whole panels is FW_INF, which no minimum takes over. */
static int padded(int extent) {
	return (extent + FW_PANEL - 1) / FW_PANEL * FW_PANEL;
}

static void panels_update(const struct fw_state *s, int i, int j, int k) {
	if (i == k && j == k)
		s->isa->close(fw_tile(s, k, k), s->rows, padded(fw_extent(s, k)));
	else
		s->isa->relax(fw_tile(s, i, j), fw_tile(s, i, k), fw_tile(s, k, j), s->rows, padded(fw_extent(s, i)),
		              padded(fw_extent(s, j)), padded(fw_extent(s, k)));
}

static void simd_run(const struct fw_state *s) {
	fw_blocks_run(s, panels_update);
}

const struct fw_variant fw_simd = {
	.name = "simd",
	.summary = "blocked, SIMD tile kernels in registers, chosen for the CPU at run time",
	.form = FW_PANELS,
	.run = simd_run,
};
