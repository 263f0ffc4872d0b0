/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops over vectors: one template (simd_tile.h), compiled for each instruction set and chosen at run time, so that
 * the build needs no -march. */
#include "kernels/gol/gol.h"
#include "kernels/isa.h"

/* 64 cells a word: the bits of a sum of up to three cells, for a row and the excess of its last vector. */
struct gol_sums {
	uint64_t low[GOL_WORDS_MAX + GOL_LINE / 8], high[GOL_WORDS_MAX + GOL_LINE / 8];
};

#if defined(__x86_64__)
#define TILE_NAME(word) avx512_##word
#define TILE_TARGET     __attribute__((target("avx512f,avx512vl,avx512bw")))
#define TILE_BYTES      64
#include "kernels/gol/simd_tile.h"

#define TILE_NAME(word) avx2_##word
#define TILE_TARGET     __attribute__((target("avx2")))
#define TILE_BYTES      32
#include "kernels/gol/simd_tile.h"

KERNEL_ISA(avx512, KERNEL_CPU_HAS("avx512f") && KERNEL_CPU_HAS("avx512vl") && KERNEL_CPU_HAS("avx512bw"))
KERNEL_ISA(avx2, KERNEL_CPU_HAS("avx2"))
#define BASIC "sse2"
#elif defined(__aarch64__)
#define BASIC "neon"
#else
#define BASIC "generic"
#endif

/* Every supported CPU has 16-byte vectors (SSE2, NEON, AltiVec). */
#define TILE_NAME(word) basic_##word
#define TILE_TARGET
#define TILE_BYTES 16
#include "kernels/gol/simd_tile.h"

const struct gol_isa gol_isas[] = {
#if defined(__x86_64__)
	{"avx512", avx512_usable, avx512_rows, avx512_slide, avx512_bytes},
	{"avx2", avx2_usable, avx2_rows, avx2_slide, avx2_bytes},
#endif
	{BASIC, NULL, basic_rows, basic_slide, basic_bytes},
};
