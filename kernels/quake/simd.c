/* SPDX-License-Identifier: BSD-3-Clause */
/* The row of a step with explicit SIMD: one template (simd_tile.h), compiled for each instruction set and chosen at run
 * time, so that the build needs no -march. */
#include "kernels/quake/quake.h"
#include "kernels/isa.h"
#if defined(__x86_64__)
#include <immintrin.h>

#define ROW_NAME(word)  avx512_##word
#define ROW_TARGET      __attribute__((target("avx512f")))
#define ROW_LANES       16
#define ROW_MAX(x, y)   ((avx512_vec)_mm512_max_ps((__m512)(x), (__m512)(y)))
#define ROW_ABOVE(x, y) (_mm512_cmp_ps_mask((__m512)(x), (__m512)(y), _CMP_GT_OQ) != 0)
#include "kernels/quake/simd_tile.h"

#define ROW_NAME(word)  avx2_##word
#define ROW_TARGET      __attribute__((target("avx2")))
#define ROW_LANES       8
#define ROW_MAX(x, y)   ((avx2_vec)_mm256_max_ps((__m256)(x), (__m256)(y)))
#define ROW_ABOVE(x, y) (_mm256_movemask_ps(_mm256_cmp_ps((__m256)(x), (__m256)(y), _CMP_GT_OQ)) != 0)
#include "kernels/quake/simd_tile.h"

KERNEL_ISA(avx512, KERNEL_CPU_HAS("avx512f"))
KERNEL_ISA(avx2, KERNEL_CPU_HAS("avx2"))
#endif

/* Four lanes are what SSE2, NEON, AltiVec and the like have without asking. */
#define ROW_NAME(word) generic_##word
#define ROW_TARGET
#define ROW_LANES 4
#if defined(__x86_64__)
#define ROW_MAX(x, y)   ((generic_vec)_mm_max_ps((__m128)(x), (__m128)(y)))
#define ROW_ABOVE(x, y) (_mm_movemask_ps(_mm_cmpgt_ps((__m128)(x), (__m128)(y))) != 0)
#elif defined(__aarch64__)
#include <arm_neon.h>
#define ROW_MAX(x, y)   ((generic_vec)vmaxq_f32((float32x4_t)(x), (float32x4_t)(y)))
#define ROW_ABOVE(x, y) (vmaxvq_u32(vcgtq_f32((float32x4_t)(x), (float32x4_t)(y))) != 0)
#else
#define ROW_MAX(x, y)   ((generic_vec)(((generic_mask)(x) & ((x) > (y))) | ((generic_mask)(y) & ~((x) > (y)))))
#define ROW_ABOVE(x, y) ((x)[0] > (y)[0] || (x)[1] > (y)[1] || (x)[2] > (y)[2] || (x)[3] > (y)[3])
#endif
#include "kernels/quake/simd_tile.h"

KERNEL_ISA(generic, 1)
#define ISA(word)                                                                                                      \
	{ .name = #word, .usable = word##_usable, .charge = word##_charge, .step = word##_step }
const struct quake_isa KERNEL_COUNTED(quake_isas)[] = {
#if defined(__x86_64__)
	ISA(avx512),
	ISA(avx2),
#endif
	ISA(generic),
	{.name = NULL},
};
