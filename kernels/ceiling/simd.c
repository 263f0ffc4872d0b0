/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops, once for each instruction set: this file includes itself, so that the template stands beside its uses. */
#ifndef ISA
#include "kernels/ceiling/ceiling.h"
#include "kernels/isa.h"
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* Forces the value into a register and hides it from the compiler. */
#if defined(__x86_64__)
#define KEEP(vector) __asm__ volatile("" : "+x"(vector))
#elif defined(__aarch64__)
#define KEEP(vector) __asm__ volatile("" : "+w"(vector))
#else
#define KEEP(vector) __asm__ volatile("" : "+m"(vector))
#endif
#define EACH_CHAIN(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
_Static_assert(CEILING_CHAINS == 12, "EACH_CHAIN names them one by one");

#if defined(__x86_64__)
#define ISA(word)          avx512_##word
#define ISA_TARGET         __attribute__((target("avx512f")))
#define ISA_BYTES          64
#define ISA_FMA32(x, a, b) ((avx512_floats)_mm512_fmadd_ps((__m512)(x), (__m512)(a), (__m512)(b)))
#define ISA_FMA64(x, a, b) ((avx512_doubles)_mm512_fmadd_pd((__m512d)(x), (__m512d)(a), (__m512d)(b)))
#define ISA_MIN(x, y)      ((avx512_ints)_mm512_min_epi32((__m512i)(x), (__m512i)(y)))
#define ISA_STREAM(at, x)  _mm512_stream_si512((void *)(at), (__m512i)(x))
#define ISA_FENCE          _mm_sfence()
#include "kernels/ceiling/simd.c"

#define ISA(word)          avx2_##word
#define ISA_TARGET         __attribute__((target("avx2,fma")))
#define ISA_BYTES          32
#define ISA_FMA32(x, a, b) ((avx2_floats)_mm256_fmadd_ps((__m256)(x), (__m256)(a), (__m256)(b)))
#define ISA_FMA64(x, a, b) ((avx2_doubles)_mm256_fmadd_pd((__m256d)(x), (__m256d)(a), (__m256d)(b)))
#define ISA_MIN(x, y)      ((avx2_ints)_mm256_min_epi32((__m256i)(x), (__m256i)(y)))
#define ISA_STREAM(at, x)  _mm256_stream_si256((void *)(at), (__m256i)(x))
#define ISA_FENCE          _mm_sfence()
#include "kernels/ceiling/simd.c"

#define ISA(word)          sse41_##word
#define ISA_TARGET         __attribute__((target("sse4.1")))
#define ISA_BYTES          16
#define ISA_FMA32(x, a, b) ((x) * (a) + (b))
#define ISA_FMA64(x, a, b) ((x) * (a) + (b))
#define ISA_MIN(x, y)      ((sse41_ints)_mm_min_epi32((__m128i)(x), (__m128i)(y)))
#define ISA_STREAM(at, x)  _mm_stream_si128((void *)(at), (__m128i)(x))
#define ISA_FENCE          _mm_sfence()
#include "kernels/ceiling/simd.c"

KERNEL_ISA(avx512, KERNEL_CPU_HAS("avx512f"))
KERNEL_ISA(avx2, KERNEL_CPU_HAS("avx2") && KERNEL_CPU_HAS("fma"))
KERNEL_ISA(sse41, KERNEL_CPU_HAS("sse4.1"))
#endif

/* Every supported CPU has 16-byte vectors (SSE2, NEON, AltiVec). */
#define ISA(word) generic_##word
#define ISA_TARGET
#define ISA_BYTES 16
#if defined(__aarch64__)
#define ISA_FMA32(x, a, b) ((generic_floats)vfmaq_f32((float32x4_t)(b), (float32x4_t)(x), (float32x4_t)(a)))
#define ISA_FMA64(x, a, b) ((generic_doubles)vfmaq_f64((float64x2_t)(b), (float64x2_t)(x), (float64x2_t)(a)))
#define ISA_MIN(x, y)      ((generic_ints)vminq_s32((int32x4_t)(x), (int32x4_t)(y)))
#else
#define ISA_FMA32(x, a, b) ((x) * (a) + (b))
#define ISA_FMA64(x, a, b) ((x) * (a) + (b))
#define ISA_MIN(x, y)      (((x) & ((x) < (y))) | ((y) & ~((x) < (y))))
#endif
#include "kernels/ceiling/simd.c"

KERNEL_ISA(generic, 1)

#define LOOPS(word, copy_past, triad_past)                                                                             \
	.name = #word, .vector = sizeof(word##_words), .usable = word##_usable, .read = word##_read,                       \
	.copy = {word##_copy, copy_past}, .triad = {word##_triad, triad_past}, .fp32 = word##_fp32, .fp64 = word##_fp64,   \
	.addmin = word##_addmin
const struct ceiling_isa ceiling_isas[] = {
#if defined(__x86_64__)
	{LOOPS(avx512, avx512_copy_past, avx512_triad_past)},
	{LOOPS(avx2, avx2_copy_past, avx2_triad_past)},
	{LOOPS(sse41, sse41_copy_past, sse41_triad_past)},
#endif
	{LOOPS(generic, NULL, NULL)},
	{.name = NULL},
};

#else /* the template */

typedef uint64_t ISA(words) __attribute__((vector_size(ISA_BYTES), may_alias));
typedef float ISA(floats) __attribute__((vector_size(ISA_BYTES), may_alias));
typedef double ISA(doubles) __attribute__((vector_size(ISA_BYTES), may_alias));
typedef int32_t ISA(ints) __attribute__((vector_size(ISA_BYTES), may_alias));

ISA_TARGET static uint64_t ISA(read)(const uint64_t *from, size_t size) {
	const ISA(words) *at = (const ISA(words) *)from, *end = at + size / sizeof *at;
	ISA(words) a = {0}, b = {0}, c = {0}, d = {0}, e = {0}, f = {0}, g = {0}, h = {0};
	uint64_t sum = 0;
	for (; at < end; at += 8) {
		a += at[0], b += at[1], c += at[2], d += at[3];
		e += at[4], f += at[5], g += at[6], h += at[7];
	}
	a += b + c + d + e + f + g + h;
	for (size_t lane = 0; lane < sizeof a / sizeof sum; lane++)
		sum += a[lane];
	return sum;
}

/* Kept apart by KEEP, or the compiler would call memcpy, which chooses its own stores. */
ISA_TARGET static void ISA(copy)(uint64_t *to, const uint64_t *from, size_t size) {
	ISA(words) *out = (ISA(words) *)to;
	const ISA(words) *in = (const ISA(words) *)from;
	for (size_t i = 0; i < size / sizeof *in; i += 4) {
		ISA(words) a = in[i], b = in[i + 1], c = in[i + 2], d = in[i + 3];
		KEEP(a);
		KEEP(b);
		KEEP(c);
		KEEP(d);
		out[i] = a, out[i + 1] = b, out[i + 2] = c, out[i + 3] = d;
	}
}

ISA_TARGET static void ISA(triad)(double *to, const double *b, const double *c, double factor, size_t size) {
	ISA(doubles) *out = (ISA(doubles) *)to, factors = (ISA(doubles)){0} + factor;
	const ISA(doubles) *in = (const ISA(doubles) *)b, *scaled = (const ISA(doubles) *)c;
	for (size_t i = 0; i < size / sizeof *in; i += 4) {
		ISA(doubles) x = ISA_FMA64(scaled[i], factors, in[i]), y = ISA_FMA64(scaled[i + 1], factors, in[i + 1]);
		ISA(doubles) z = ISA_FMA64(scaled[i + 2], factors, in[i + 2]), w = ISA_FMA64(scaled[i + 3], factors, in[i + 3]);
		out[i] = x, out[i + 1] = y, out[i + 2] = z, out[i + 3] = w;
	}
}

#ifdef ISA_STREAM
ISA_TARGET static void ISA(copy_past)(uint64_t *to, const uint64_t *from, size_t size) {
	ISA(words) *out = (ISA(words) *)to;
	const ISA(words) *in = (const ISA(words) *)from;
	for (size_t i = 0; i < size / sizeof *in; i += 4) {
		ISA(words) a = in[i], b = in[i + 1], c = in[i + 2], d = in[i + 3];
		ISA_STREAM(out + i, a), ISA_STREAM(out + i + 1, b), ISA_STREAM(out + i + 2, c), ISA_STREAM(out + i + 3, d);
	}
	ISA_FENCE;
}

ISA_TARGET static void ISA(triad_past)(double *to, const double *b, const double *c, double factor, size_t size) {
	ISA(doubles) *out = (ISA(doubles) *)to, factors = (ISA(doubles)){0} + factor;
	const ISA(doubles) *in = (const ISA(doubles) *)b, *scaled = (const ISA(doubles) *)c;
	for (size_t i = 0; i < size / sizeof *in; i += 2) {
		ISA(doubles) x = ISA_FMA64(scaled[i], factors, in[i]), y = ISA_FMA64(scaled[i + 1], factors, in[i + 1]);
		ISA_STREAM(out + i, x), ISA_STREAM(out + i + 1, y);
	}
	ISA_FENCE;
}
#endif

/* Chain k begins with k; a and b are the operands of its steps. */
#define START(k) __typeof__(a) x##k = (__typeof__(a)){0} + k;
#define STORE(k) out[k] = x##k;
#define STEP_fp32(k)                                                                                                   \
	x##k = ISA_FMA32(x##k, a, b);                                                                                      \
	KEEP(x##k);
#define STEP_fp64(k)                                                                                                   \
	x##k = ISA_FMA64(x##k, a, b);                                                                                      \
	KEEP(x##k);
#define STEP_addmin(k)                                                                                                 \
	x##k = ISA_MIN(x##k + a, b);                                                                                       \
	KEEP(x##k);
#define CHAINS(word, parameters, cells, a_is, b_is)                                                                    \
	ISA_TARGET static void ISA(word) parameters {                                                                      \
		ISA(cells) *out = (ISA(cells) *)to, a = (ISA(cells)){0} + a_is, b = (ISA(cells)){0} + b_is;                    \
		EACH_CHAIN(START)                                                                                              \
		KEEP(a);                                                                                                       \
		KEEP(b);                                                                                                       \
		for (int64_t i = 0; i < steps; i++)                                                                            \
			do {                                                                                                       \
				EACH_CHAIN(STEP_##word)                                                                                \
			} while (0);                                                                                               \
		EACH_CHAIN(STORE)                                                                                              \
	}
CHAINS(fp32, (float *to, int64_t steps), floats, 1, 1)
CHAINS(fp64, (double *to, int64_t steps), doubles, 1, 1)
CHAINS(addmin, (int32_t * to, int32_t limit, int64_t steps), ints, 1, limit)
#undef START
#undef STORE
#undef STEP_fp32
#undef STEP_fp64
#undef STEP_addmin
#undef CHAINS

#undef ISA
#undef ISA_TARGET
#undef ISA_BYTES
#undef ISA_FMA32
#undef ISA_FMA64
#undef ISA_MIN
#undef ISA_STREAM
#undef ISA_FENCE
#endif
