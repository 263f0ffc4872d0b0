/* SPDX-License-Identifier: BSD-3-Clause */
/* The instruction sets: one template (isa_tile.h), compiled for each and chosen at run time, so that the build needs no
 * -march. Without AVX2 there are 16 vector registers of 4 lanes: two rows of a panel, their source and what is between.
 * SSE2 has no minimum of int32 and takes four instructions for it.
 *
 * Floats that are not negative, infinity among them, are in the order of their bits read as integers (IEEE 754), and
 * the minimum of integers has more execution units on some CPUs and no fewer on others. */
#include <string.h>

#include "kernels/fw/fw.h"
#include "kernels/isa.h"
#if defined(__x86_64__)
#include <immintrin.h>

#define ISA_NAME(word)      avx512_##word
#define ISA_TARGET          __attribute__((target("avx512f")))
#define ISA_LANES           16
#define ISA_ROWS            8
#define ISA_MIN_INT32(x, y) _mm512_min_epi32((__m512i)(x), (__m512i)(y))
#define ISA_MIN_FLOAT       ISA_MIN_INT32
#include "kernels/fw/isa_tile.h"

#define ISA_NAME(word)      avx2_##word
#define ISA_TARGET          __attribute__((target("avx2")))
#define ISA_LANES           8
#define ISA_ROWS            4
#define ISA_MIN_INT32(x, y) _mm256_min_epi32((__m256i)(x), (__m256i)(y))
#define ISA_MIN_FLOAT       ISA_MIN_INT32
#include "kernels/fw/isa_tile.h"

#define ISA_NAME(word)      sse41_##word
#define ISA_TARGET          __attribute__((target("sse4.1")))
#define ISA_LANES           4
#define ISA_ROWS            2
#define ISA_MIN_INT32(x, y) _mm_min_epi32((__m128i)(x), (__m128i)(y))
#define ISA_MIN_FLOAT       ISA_MIN_INT32
#include "kernels/fw/isa_tile.h"

KERNEL_ISA(avx512, KERNEL_CPU_HAS("avx512f"))
KERNEL_ISA(avx2, KERNEL_CPU_HAS("avx2"))
KERNEL_ISA(sse41, KERNEL_CPU_HAS("sse4.1"))
#endif

/* SSE2, NEON, AltiVec and the like always have four lanes. */
#define ISA_NAME(word) base_##word
#define ISA_TARGET
#define ISA_LANES 4
#if defined(__x86_64__)
#define BASE_NAME           "sse2"
#define ISA_ROWS            2
#define ISA_MIN_INT32(x, y) (((x) & ((x) < (y))) | ((y) & ~((x) < (y))))
#define ISA_MIN_FLOAT(x, y) _mm_min_ps((__m128)(x), (__m128)(y))
#elif defined(__aarch64__)
#include <arm_neon.h>
#define BASE_NAME           "neon"
#define ISA_ROWS            4
#define ISA_MIN_INT32(x, y) vminq_s32((int32x4_t)(x), (int32x4_t)(y))
#define ISA_MIN_FLOAT(x, y) vminq_f32((float32x4_t)(x), (float32x4_t)(y))
#else
#define BASE_NAME           "generic"
#define ISA_ROWS            2
#define ISA_MIN_INT32(x, y) (((x) & ((x) < (y))) | ((y) & ~((x) < (y))))
#define ISA_MIN_FLOAT(x, y) (((base_int32_vec)(x) & ((x) < (y))) | ((base_int32_vec)(y) & ~((x) < (y))))
#endif
#include "kernels/fw/isa_tile.h"

KERNEL_ISA(base, 1)

const struct fw_isa fw_isas[] = {
#if defined(__x86_64__)
	{"avx512", 16, avx512_usable, avx512_ops}, {"avx2", 8, avx2_usable, avx2_ops},
	{"sse4.1", 4, sse41_usable, sse41_ops},
#endif
	{BASE_NAME, 4, base_usable, base_ops},     {.name = NULL},
};
