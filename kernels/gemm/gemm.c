/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table: a product of two matrices of random integers. */
#include <math.h>
#include <stdlib.h>

#include "kernels/fail.h"
#include "kernels/gemm/gemm.h"
#include "kernels/isa.h"
#include "kernels/pages.h"
#include "kernels/random.h"

/* The check of Freivalds ("Probabilistic machines can use less running time", 1977): C x = A (B x) for random x takes
 * three products of a matrix and a vector in the place of one of two matrices. Modulo 2^64 nothing is rounded, and a
 * row that is wrong is missed with a probability below 2^-38, because errors are integers below 2^25. A row that is
 * found is computed again. */
/* The elements are integers. */
static uint64_t exact(float x) {
	return (uint64_t)(int64_t)x;
}

static void product(const float *matrix, size_t rows, size_t columns, const uint64_t *x, uint64_t *to) {
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < rows; i++) {
		uint64_t sum = 0;
		for (size_t j = 0; j < columns; j++)
			sum += exact(matrix[i * columns + j]) * x[j];
		to[i] = sum;
	}
}

bool gemm_oracle(struct gemm_input *input, uint64_t seed) {
	const struct gemm_shape *shape = &input->shape;
	uint64_t *bx = malloc(shape->k * sizeof *bx);
	free(input->x);
	free(input->abx);
	input->x = malloc(shape->n * sizeof *input->x);
	input->abx = malloc(shape->m * sizeof *input->abx);
	bool enough = bx && input->x && input->abx;
	if (enough) {
		for (size_t j = 0; j < shape->n; j++)
			input->x[j] = kernel_random_at(~seed, j);
		product(input->b, shape->k, shape->n, input->x, bx);
		product(input->a, shape->m, shape->k, bx, input->abx);
	} else {
		free(input->x);
		free(input->abx);
		input->x = input->abx = NULL;
	}
	free(bx);
	return enough;
}

static bool is_whole(float x) {
	return fabsf(x) < 0x1p24f && truncf(x) == x;
}

static bool row_is_right(const struct gemm_input *input, const float *row, size_t i) {
	uint64_t sum = 0;
	for (size_t j = 0; j < input->shape.n; j++) {
		if (!is_whole(row[j]))
			return false;
		sum += exact(row[j]) * input->x[j];
	}
	return sum == input->abx[i];
}

static int64_t expected(const struct gemm_input *input, size_t i, size_t j) {
	const struct gemm_shape *shape = &input->shape;
	int64_t sum = 0;
	for (size_t p = 0; p < shape->k; p++)
		sum += (int64_t)input->a[i * shape->k + p] * (int64_t)input->b[p * shape->n + j];
	return sum;
}

enum ss_status gemm_compare(const struct gemm_input *input, const float *c, size_t stride, const struct ss_call *call) {
	const size_t m = input->shape.m, n = input->shape.n;
	size_t wrong = m;
#pragma omp parallel for reduction(min : wrong)
	for (size_t i = 0; i < m; i++)
		if (i < wrong && !row_is_right(input, c + i * stride, i))
			wrong = i;
	if (wrong == m)
		return SS_OK;
	for (size_t j = 0; j < n; j++) {
		double found = (double)c[wrong * stride + j], right = (double)expected(input, wrong, j);
		if (found != right)
			return kernel_wrong(call, "row %zu column %zu holds %.9g, should be %.9g", wrong, j, found, right);
	}
	return kernel_wrong(call, "row %zu changed while it was verified", wrong);
}

/* Floats to 16 or 8 bits, of numbers that lose nothing by it: no rounding, infinities or subnormal numbers. */

uint16_t gemm_narrow(float x, enum gemm_type type) {
	uint32_t word, sign;
	memcpy(&word, &x, sizeof word);
	if (type == GEMM_BF16)
		return (uint16_t)(word >> 16);
	sign = word >> 31;
	x *= type == GEMM_F8 ? 0x1p-120f : 0x1p-112f;
	memcpy(&word, &x, sizeof word);
	return (uint16_t)(type == GEMM_F8 ? sign << 7 | (word >> 20 & 0x7f) : sign << 15 | (word >> 13 & 0x7fff));
}

void gemm_narrow_all(void *to, const float *from, size_t n, enum gemm_type type) {
	uint16_t *words = to;
	uint8_t *bytes = to;
	for (size_t i = 0; i < n; i++)
		if (type == GEMM_F8)
			bytes[i] = (uint8_t)gemm_narrow(from[i], type);
		else
			words[i] = gemm_narrow(from[i], type);
}

/* The memory of a state: pages mapped afresh for every configuration, so that the first touch under that
 * configuration's team decides where they are. */

enum { PAGE = 4096 };

static size_t round_up(size_t x, size_t to) {
	return (x + to - 1) / to * to;
}

static void rows_touch(float *to, const float *from, size_t rows, size_t columns) {
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < rows; i++)
		if (from)
			memcpy(to + i * columns, from + i * columns, columns * sizeof *to);
		else
			memset(to + i * columns, 0, columns * sizeof *to);
}

static void rows_narrow(void *to, const float *from, size_t rows, size_t columns, enum gemm_type type) {
	size_t row = columns * gemm_element_size(type);
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < rows; i++)
		gemm_narrow_all((char *)to + i * row, from + i * columns, columns, type);
}

static void layout(struct gemm_state *s) {
	const struct gemm_shape *shape = &s->shape;
	s->bytes[0] = shape->m * shape->k * gemm_element_size(s->type);
	s->bytes[1] = shape->k * shape->n * gemm_element_size(s->type);
	s->bytes[2] = shape->m * shape->n * sizeof(float);
	if (!s->variant->packs)
		return;
	s->block = round_up(s->block, s->isa->rows);
	s->bytes[3] = s->depth * round_up(shape->n, s->isa->columns) * sizeof(float);
	s->bytes[4] = round_up(s->depth * s->block * sizeof(float), PAGE) * (size_t)s->threads;
}

static float **matrix(struct gemm_state *s, int at) {
	float **const all[] = {&s->a, &s->b, &s->c, &s->panel_b, &s->panels_a};
	return all[at];
}

bool gemm_matrices_new(struct gemm_state *s, const struct gemm_input *input) {
	const struct gemm_shape *shape = &s->shape;
	layout(s);
	for (int i = 0; i < 5; i++)
		if (s->bytes[i] && !(*matrix(s, i) = kernel_pages_new(s->bytes[i])))
			return false;
	if (s->type == GEMM_F32) {
		rows_touch(s->a, input->a, shape->m, shape->k);
		rows_touch(s->b, input->b, shape->k, shape->n);
	} else {
		rows_narrow(s->a16, input->a, shape->m, shape->k, s->type);
		rows_narrow(s->b16, input->b, shape->k, shape->n, s->type);
	}
	rows_touch(s->c, NULL, shape->m, shape->n);
	return true;
}

void gemm_matrices_free(void *opaque) {
	struct gemm_state *s = opaque;
	for (int i = 0; i < 5; i++)
		kernel_pages_free(*matrix(s, i), s->bytes[i]);
}

/* The inner loops of the simd variant: one template (simd_tile.h), compiled for each instruction set and chosen at run
 * time, so that the build needs no -march. */

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

KERNEL_ISA(avx512, KERNEL_CPU_HAS("avx512f") && KERNEL_CPU_HAS("fma"))
KERNEL_ISA(avx2, KERNEL_CPU_HAS("avx2") && KERNEL_CPU_HAS("fma"))
#endif

/* Four lanes are what SSE2, NEON, AltiVec and the like have without asking. */
#define TILE_NAME(word) generic_##word
#define TILE_TARGET
#define TILE_LANES 4
#define TILE_ROWS  6
#include "kernels/gemm/simd_tile.h"

KERNEL_ISA(generic, 1)

const struct gemm_isa gemm_isas[] = {
#if defined(__x86_64__)
	{"avx512", avx512_usable, 14, 32, avx512_tile},
	{"avx2", avx2_usable, 6, 16, avx2_tile},
#endif
	{"generic", generic_usable, 6, 8, generic_tile},
	{.name = NULL},
};

static const struct gemm_isa *gemm_isa_best(void) {
	const struct gemm_isa *isa = gemm_isas;
	while (!isa->usable())
		isa++;
	return isa;
}

static const struct gemm_variant *const variants[] = {&gemm_naive, &gemm_rows, &gemm_tiled, &gemm_simd, &gemm_serial};
#define VARIANT_NAMES "naive,rows,tiled,simd,serial" /* the same order */

const struct ss_param gemm_problem[] = {
	[GEMM_M] = {"m", "rows of A and C; 0: as many as columns of C", SS_INT, NULL, "0", NULL, 0, GEMM_N_MAX},
	[GEMM_N] = {"n", "columns of B and C", SS_INT, NULL, "512", NULL, 1, GEMM_N_MAX},
	[GEMM_K] = {"k", "columns of A and rows of B; 0: as many as columns of C", SS_INT, NULL, "0", NULL, 0, GEMM_N_MAX},
	[GEMM_TYPE] = {"type", "of A and B; sums and C are f32", SS_WORD, "f32,f16,bf16,tf32,f8", "f32", NULL, 0, 0},
	{.name = NULL},
};

enum { VARIANT, BLOCK, DEPTH };
#define BLOCKED "variant == 'tiled' or variant == 'simd'"
static const struct ss_param params[] = {
	[VARIANT] = {"variant", "order of the loops", SS_WORD, VARIANT_NAMES, "naive", NULL, 0, 0},
	[BLOCK] = {"block", "rows of A, and of tiled also columns of B, that are worked on at a time", SS_INT, "16..512*2",
               "64", BLOCKED, 1, GEMM_BLOCK_MAX},
	[DEPTH] = {"depth", "rows of B that are worked on at a time", SS_INT, "32..512*2", "128", BLOCKED, 1,
               GEMM_DEPTH_MAX},
	{.name = NULL},
};

static const char *const constraints[] = {"variant != 'serial' or threads == 1",
                                          "type == 'f32' or type == 'tf32' or not (" BLOCKED ")", NULL};

enum gemm_type gemm_type_of(const struct ss_call *call) {
	return (enum gemm_type)call->problem[GEMM_TYPE].i;
}

size_t gemm_element_size(enum gemm_type type) {
	static const size_t sizes[] = {4, 2, 2, 4, 1};
	return sizes[type];
}

static struct gemm_shape shape_of(const struct ss_call *call) {
	size_t m = (size_t)call->problem[GEMM_M].i, n = (size_t)call->problem[GEMM_N].i,
		   k = (size_t)call->problem[GEMM_K].i;
	return (struct gemm_shape){.m = m ? m : n, .n = n, .k = k ? k : n};
}

static void fill(float *to, size_t count, uint64_t seed, enum gemm_type type) {
	const uint64_t largest = type == GEMM_F8 ? GEMM_VALUE_F8 : GEMM_VALUE_MAX;
	for (size_t i = 0; i < count; i++)
		to[i] = (float)((int64_t)(kernel_random_at(seed, i) % (2 * largest + 1)) - (int64_t)largest);
}

enum ss_status gemm_open(void *opaque, const struct ss_call *call) {
	struct gemm_input *input = opaque;
	*input = (struct gemm_input){.shape = shape_of(call)};
	size_t a = input->shape.m * input->shape.k, b = input->shape.k * input->shape.n;
	input->a = malloc(a * sizeof *input->a);
	input->b = malloc(b * sizeof *input->b);
	if (!input->a || !input->b)
		return kernel_fail(call, SS_NOMEM, "no memory for %zu + %zu elements", a, b);
	fill(input->a, a, call->seed, gemm_type_of(call));
	fill(input->b, b, call->seed ^ UINT64_C(0x5bd1e9955bd1e995), gemm_type_of(call));
	if (!gemm_oracle(input, call->seed))
		return kernel_fail(call, SS_NOMEM, "no memory to verify a product");
	return SS_OK;
}

static enum ss_status gemm_setup(void *opaque, void *input, const struct ss_call *call) {
	struct gemm_state *s = opaque;
	const struct ss_value *c = call->config;
	const enum gemm_type type = gemm_type_of(call) == GEMM_TF32 ? GEMM_F32 : gemm_type_of(call);
	if (variants[c[VARIANT].i]->f32_only && type != GEMM_F32)
		return kernel_fail(call, SS_INVALID, "variant %s is for type=f32; naive, rows and serial are for every type",
		                   variants[c[VARIANT].i]->name);
	*s = (struct gemm_state){.variant = variants[c[VARIANT].i],
	                         .isa = gemm_isa_best(),
	                         .input = input,
	                         .shape = shape_of(call),
	                         .type = type,
	                         .block = (size_t)c[BLOCK].i,
	                         .depth = (size_t)c[DEPTH].i,
	                         .threads = call->threads};
	return gemm_matrices_new(s, input) ? SS_OK : kernel_fail(call, SS_NOMEM, "no memory for three matrices");
}

static enum ss_status gemm_run(void *state, const struct ss_call *call) {
	struct gemm_state *s = state;
	(void)call;
	s->variant->run(s);
	return SS_OK;
}

static enum ss_status gemm_verify(void *state, const struct ss_call *call) {
	const struct gemm_state *s = state;
	return gemm_compare(s->input, s->c, s->shape.n, call);
}

struct ss_work gemm_work(const struct ss_call *call) {
	struct gemm_shape shape = shape_of(call);
	double m = (double)shape.m, n = (double)shape.n, k = (double)shape.k;
	double element = (double)gemm_element_size(gemm_type_of(call));
	return (struct ss_work){2 * m * n * k, element * (m * k + k * n) + sizeof(float) * m * n, "flop"};
}

size_t gemm_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out, size_t most) {
	const struct ss_figure figure = {"rate", seconds > 0 ? gemm_work(call).ops / seconds * 1e-9 : 0, "GFLOP/s"};
	(void)state;
	if (most)
		*out = figure;
	return most ? 1 : 0;
}

void gemm_close(void *opaque) {
	struct gemm_input *input = opaque;
	free(input->a);
	free(input->b);
	free(input->x);
	free(input->abx);
}

const struct ss_kernel kernel_gemm = {
	.abi = SS_KERNEL_ABI,
	.name = "gemm",
	.summary = "matrix multiplication with sums in single precision",
	.flags = SS_OPENMP | SS_SCHEDULE,
	.problem = gemm_problem,
	.params = params,
	.constraints = constraints,
	.schedule_when = "variant != 'serial'",
	.serial = "variant=serial",
	.input_size = sizeof(struct gemm_input),
	.state_size = sizeof(struct gemm_state),
	.open = gemm_open,
	.setup = gemm_setup,
	.run = gemm_run,
	.verify = gemm_verify,
	.work = gemm_work,
	.teardown = gemm_matrices_free,
	.close = gemm_close,
	.figures = gemm_figures,
};
