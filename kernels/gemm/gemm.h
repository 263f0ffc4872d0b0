/* SPDX-License-Identifier: BSD-3-Clause */
/* C = A B for matrices in row-major order: A has m rows and k columns, B has k rows and n columns. Sums and C are
 * floats; A and B are floats, or 16 or 8 bits wide (type).
 *
 * All elements are integers of at most GEMM_VALUE_MAX, which every type holds exactly, so that every sum of products is
 * an integer below 2^24, which a float holds exactly: the result does not depend on the order of the additions, and one
 * wrong bit is an error. Tensor cores keep 14 bits of a sum of 8-bit products, so that those elements are at most
 * GEMM_VALUE_F8: the deviation of a sum is 4 times the root of k then, 512 for the largest k, and 2^14 is 32 of them.
 * (On a GPU, operands with many zero bits need less power than random ones, and its clock may stay higher.) */
#ifndef KERNELS_GEMM_GEMM_H
#define KERNELS_GEMM_GEMM_H
#include <stdbool.h>
#include <string.h>

#include "kernels/kernel.h"

enum { GEMM_N_MAX = 16384, GEMM_VALUE_MAX = 31 /* squared, times GEMM_N_MAX: below 2^24 */, GEMM_VALUE_F8 = 3 };
enum { GEMM_BLOCK_MAX = 1024, GEMM_DEPTH_MAX = 4096 };

/* The type of the elements of A and B: IEEE single precision, IEEE half precision, bfloat16, floats of which a GPU
 * multiplies the first 19 bits, and e4m3 (4 bits of exponent, 3 of fraction). */
enum gemm_type { GEMM_F32, GEMM_F16, GEMM_BF16, GEMM_TF32, GEMM_F8, GEMM_TYPES };

struct gemm_shape {
	size_t m, n, k;
};

struct gemm_input {
	struct gemm_shape shape;
	float *a, *b;
	uint64_t *x, *abx; /* oracle.c: n random numbers, and A B x, of m; modulo 2^64 */
};

struct gemm_state {
	const struct gemm_variant *variant;
	const struct gemm_isa *isa;
	const struct gemm_input *input; /* not owned */
	struct gemm_shape shape;
	size_t block, depth; /* block: rows of A, and columns of B; depth: rows of B */
	int threads;
	enum gemm_type type; /* of a and b, without GEMM_TF32, which is GEMM_F32 here */
	union {
		float *a;
		uint16_t *a16;
		uint8_t *a8;
	};
	union {
		float *b;
		uint16_t *b16;
		uint8_t *b8;
	};
	float *c;
	float *panel_b, *panels_a; /* simd: packed; a part of panels_a for each thread */
	size_t bytes[5];           /* of the five */
};

struct gemm_variant {
	const char *name;
	bool packs, f32_only;
	void (*run)(struct gemm_state *s);
};
extern const struct gemm_variant gemm_serial, gemm_naive, gemm_rows, gemm_tiled, gemm_simd;

/* The inner loops of the simd variant for one instruction set. `tile` adds the product of a packed panel of A
 * (`depth` times `rows` numbers) and one of B (`depth` times `columns`) to a tile of C, or stores it there. */
enum { GEMM_ROWS_MAX = 14, GEMM_COLUMNS_MAX = 32 };
struct gemm_isa {
	const char *name;
	bool (*usable)(void);
	size_t rows, columns;
	void (*tile)(size_t depth, const float *a, const float *b, float *c, size_t stride, bool add);
};
extern const struct gemm_isa gemm_isas[]; /* Best first, the last one usable everywhere, ends with a NULL name */

/* Returns the bits of a number that f16, bf16 or f8 holds exactly. */
uint16_t gemm_narrow(float x, enum gemm_type type);
void gemm_narrow_all(void *to, const float *from, size_t n, enum gemm_type type);

/* The number of 16 or 8 bits, without infinities of f16 and NANs of f8. 2^112 and 2^120 are the quotients of the
 * numbers that equal exponents stand for. */
static inline float gemm_widen(uint16_t bits, enum gemm_type type) {
	uint32_t word = (uint32_t)bits << 16, sign = bits & (type == GEMM_F8 ? 0x80 : 0x8000);
	float x;
	if (type == GEMM_F16)
		word = (bits & UINT32_C(0x7fff)) << 13;
	if (type == GEMM_F8)
		word = (bits & UINT32_C(0x7f)) << 20;
	memcpy(&x, &word, sizeof x);
	if (type == GEMM_BF16)
		return x;
	x *= type == GEMM_F8 ? 0x1p120f : 0x1p112f;
	return sign ? -x : x;
}

/* to[0..n) += x * from[0..n) */
static inline void gemm_add(float *to, const float *from, float x, size_t n) {
	for (size_t j = 0; j < n; j++)
		to[j] += x * from[j];
}

static inline void gemm_add16(float *to, const uint16_t *from, float x, size_t n, enum gemm_type type) {
	if (type == GEMM_BF16)
		for (size_t j = 0; j < n; j++)
			to[j] += x * gemm_widen(from[j], GEMM_BF16);
	else
		for (size_t j = 0; j < n; j++)
			to[j] += x * gemm_widen(from[j], GEMM_F16);
}

static inline void gemm_add8(float *to, const uint8_t *from, float x, size_t n) {
	for (size_t j = 0; j < n; j++)
		to[j] += x * gemm_widen(from[j], GEMM_F8);
}

/* Row i of C, in the order of the memory: rows of B are added to it. */
static inline void gemm_row(const struct gemm_state *s, size_t i) {
	const size_t n = s->shape.n, k = s->shape.k;
	float *c = s->c + i * n;
	memset(c, 0, n * sizeof *c);
	for (size_t p = 0; p < k; p++)
		if (s->type == GEMM_F32)
			gemm_add(c, s->b + p * n, s->a[i * k + p], n);
		else if (s->type == GEMM_F8)
			gemm_add8(c, s->b8 + p * n, gemm_widen(s->a8[i * k + p], GEMM_F8), n);
		else
			gemm_add16(c, s->b16 + p * n, gemm_widen(s->a16[i * k + p], s->type), n, s->type);
}

/* The memory of a state, touched first by the threads that will use it; false without memory. */
bool gemm_matrices_new(struct gemm_state *s, const struct gemm_input *input);
void gemm_matrices_free(void *s);

/* gemm.c: shared with the table of another device */
enum { GEMM_M, GEMM_N, GEMM_K, GEMM_TYPE }; /* places in the problem */
extern const struct ss_param gemm_problem[];
enum gemm_type gemm_type_of(const struct ss_call *call);
size_t gemm_element_size(enum gemm_type type);
enum ss_status gemm_open(void *input, const struct ss_call *call);
struct ss_work gemm_work(const struct ss_call *call);
size_t gemm_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out, size_t most);
void gemm_close(void *input);

/* oracle.c: sets x and abx; false without memory. */
bool gemm_oracle(struct gemm_input *input, uint64_t seed);
enum ss_status gemm_compare(const struct gemm_input *input, const float *c, size_t stride, const struct ss_call *call);
#endif
