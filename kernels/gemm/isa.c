/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner loops of the simd variant: one template (simd_tile.h), compiled for each instruction set and chosen at run
 * time, so that the build needs no -march. */
#include <config.h>

#include "kernels/gemm/gemm.h"

#if defined(__x86_64__)
#define TILE_NAME(word) avx512_##word
#define TILE_TARGET     __attribute__((target("avx512f,fma")))
#define TILE_LANES      16
#define TILE_ROWS       14
#include "kernels/gemm/simd_tile.h"

#define TILE_NAME(word) avx2_##word
#define TILE_TARGET     __attribute__((target("avx2,fma")))
#define TILE_LANES      8
#define TILE_ROWS       6
#include "kernels/gemm/simd_tile.h"

static bool avx512_usable(void) {
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma");
}

static bool avx2_usable(void) {
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

/* Four lanes are what SSE2, NEON, AltiVec and the like have without asking. */
#define TILE_NAME(word) generic_##word
#define TILE_TARGET
#define TILE_LANES 4
#define TILE_ROWS  6
#include "kernels/gemm/simd_tile.h"

static bool generic_usable(void) {
	return true;
}

const struct gemm_isa gemm_isas[] = {
#if defined(__x86_64__)
	{"avx512", avx512_usable, 14, 32, avx512_tile},
	{"avx2", avx2_usable, 6, 16, avx2_tile},
#endif
	{"generic", generic_usable, 6, 8, generic_tile},
	{.name = NULL},
};

const struct gemm_isa *gemm_isa_best(void) {
	const struct gemm_isa *isa = gemm_isas;
	while (!isa->usable())
		isa++;
	return isa;
}
