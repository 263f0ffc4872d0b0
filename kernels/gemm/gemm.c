/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table: a product of two matrices of random integers. */
#include <config.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/fail.h"
#include "kernels/gemm/gemm.h"
#include "kernels/random.h"

static const struct gemm_variant *const variants[] = {&gemm_naive, &gemm_rows, &gemm_tiled, &gemm_simd, &gemm_serial};
#define VARIANT_NAMES "naive,rows,tiled,simd,serial" /* the same order */
enum { VARIANTS = sizeof variants / sizeof *variants };

const struct ss_param gemm_problem[] = {
	[GEMM_M] = {"m", "rows of A and C; 0: as many as columns of C", SS_INT, NULL, "0", NULL, 0, GEMM_N_MAX},
	[GEMM_N] = {"n", "columns of B and C", SS_INT, NULL, "512", NULL, 1, GEMM_N_MAX},
	[GEMM_K] = {"k", "columns of A and rows of B; 0: as many as columns of C", SS_INT, NULL, "0", NULL, 0, GEMM_N_MAX},
	[GEMM_TYPE] = {"type", "of A and B; sums and C are f32", SS_WORD, "f32,f16,bf16", "f32", NULL, 0, 0},
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

static const char *const constraints[] = {"variant != 'serial' or threads == 1", "type == 'f32' or not (" BLOCKED ")",
                                          NULL};

enum gemm_type gemm_type_of(const struct ss_call *call) {
	return (enum gemm_type)call->problem[GEMM_TYPE].i;
}

size_t gemm_element_size(enum gemm_type type) {
	return type == GEMM_F32 ? sizeof(float) : sizeof(uint16_t);
}

static struct gemm_shape shape_of(const struct ss_call *call) {
	size_t m = (size_t)call->problem[GEMM_M].i, n = (size_t)call->problem[GEMM_N].i,
		   k = (size_t)call->problem[GEMM_K].i;
	return (struct gemm_shape){.m = m ? m : n, .n = n, .k = k ? k : n};
}

static void fill(float *to, size_t count, uint64_t seed) {
	for (size_t i = 0; i < count; i++)
		to[i] = (float)((int64_t)(kernel_random_at(seed, i) % (2 * GEMM_VALUE_MAX + 1)) - GEMM_VALUE_MAX);
}

enum ss_status gemm_open(void *opaque, const struct ss_call *call) {
	struct gemm_input *input = opaque;
	for (int i = GEMM_M; i <= GEMM_K; i++)
		if (call->problem[i].i < (i == GEMM_N) || call->problem[i].i > GEMM_N_MAX)
			return kernel_fail(call, SS_INVALID, "n must be 1 to %d, m and k 0 to %d", GEMM_N_MAX, GEMM_N_MAX);
	if (call->problem[GEMM_TYPE].i < 0 || call->problem[GEMM_TYPE].i >= GEMM_TYPES)
		return kernel_fail(call, SS_INVALID, "type must be f32, f16 or bf16");
	*input = (struct gemm_input){.shape = shape_of(call)};
	size_t a = input->shape.m * input->shape.k, b = input->shape.k * input->shape.n;
	input->a = malloc(a * sizeof *input->a);
	input->b = malloc(b * sizeof *input->b);
	if (!input->a || !input->b)
		return kernel_fail(call, SS_NOMEM, "no memory for %zu + %zu elements", a, b);
	fill(input->a, a, call->seed);
	fill(input->b, b, call->seed ^ UINT64_C(0x5bd1e9955bd1e995));
	if (!gemm_oracle(input, call->seed))
		return kernel_fail(call, SS_NOMEM, "no memory to verify a product");
	return SS_OK;
}

static enum ss_status gemm_setup(void *opaque, void *input, const struct ss_call *call) {
	struct gemm_state *s = opaque;
	const struct ss_value *c = call->config;
	if (c[VARIANT].i < 0 || c[VARIANT].i >= VARIANTS || c[BLOCK].i < 1 || c[BLOCK].i > GEMM_BLOCK_MAX ||
	    c[DEPTH].i < 1 || c[DEPTH].i > GEMM_DEPTH_MAX || call->threads < 1)
		return kernel_fail(call, SS_INVALID, "block must be 1 to %d and depth 1 to %d", GEMM_BLOCK_MAX, GEMM_DEPTH_MAX);
	if (variants[c[VARIANT].i]->f32_only && gemm_type_of(call) != GEMM_F32)
		return kernel_fail(call, SS_INVALID, "variant %s is for type=f32; naive, rows and serial are for every type",
		                   variants[c[VARIANT].i]->name);
	*s = (struct gemm_state){.variant = variants[c[VARIANT].i],
	                         .isa = gemm_isa_best(),
	                         .input = input,
	                         .shape = shape_of(call),
	                         .type = gemm_type_of(call),
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

static void gemm_teardown(void *state) {
	gemm_matrices_free(state);
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
	.teardown = gemm_teardown,
	.close = gemm_close,
	.figures = gemm_figures,
};
