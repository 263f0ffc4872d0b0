/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table: all-pairs shortest paths on a random directed graph, one matrix a configuration. */
#include <config.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernels/fw/fw.h"

enum { PROBLEM_N, PROBLEM_DEGREE };
enum { PARAM_VARIANT, PARAM_BLOCK };

/* In the order of the words of `variant`. */
static const struct fw_variant *const variants[] = {&fw_naive, &fw_tiled, &fw_tasks, &fw_tasks_inner, &fw_simd};
enum { VARIANTS = sizeof variants / sizeof *variants };

static const struct ss_param problem[] = {
	[PROBLEM_N] = {.name = "n", .summary = "vertices", .type = SS_INT, .initial = "1024", .min = 1, .max = FW_N_MAX},
	[PROBLEM_DEGREE] = {.name = "degree", .summary = "mean number of edges from a vertex", .type = SS_INT,
	                    .initial = "8", .min = 0, .max = FW_DEGREE_MAX},
	{.name = NULL},
};

static const struct ss_param params[] = {
	[PARAM_VARIANT] = {.name = "variant", .summary = "algorithm", .type = SS_WORD,
	                   .values = "naive,tiled,tasks,tasks_inner,simd", .initial = "naive"},
	[PARAM_BLOCK] = {.name = "block", .summary = "edge of a tile, in vertices", .type = SS_INT, .values = "16..512*2",
	                 .initial = "64", .when = "variant != 'naive'", .min = FW_BLOCK_MIN, .max = FW_BLOCK_MAX},
	{.name = NULL},
};

static const char *const constraints[] = {"variant != 'simd' or block % 16 == 0", NULL};

__attribute__((format(printf, 3, 4))) static enum ss_status fail(const struct ss_call *call, enum ss_status status,
                                                                 const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	if (call->message)
		vsnprintf(call->message, call->message_size, format, ap);
	va_end(ap);
	return status;
}

static enum ss_status fw_open(void *input, const struct ss_call *call) {
	int64_t n = call->problem[PROBLEM_N].i, degree = call->problem[PROBLEM_DEGREE].i;
	if (n < 1 || n > FW_N_MAX || degree < 0 || degree > FW_DEGREE_MAX)
		return fail(call, SS_INVALID, "n must be 1 to %d and degree 0 to %d", FW_N_MAX, FW_DEGREE_MAX);
	if (fw_graph_random(input, (int)n, (int)degree, call->seed) != SS_OK)
		return fail(call, SS_NOMEM, "no memory for a graph of %d vertices", (int)n);
	return SS_OK;
}

static enum ss_status fw_setup(void *state, void *input, const struct ss_call *call) {
	struct fw_state *s = state;
	int64_t variant = call->config[PARAM_VARIANT].i, block = call->config[PARAM_BLOCK].i;
	s->input = input;
	if (variant < 0 || variant >= VARIANTS || block < FW_BLOCK_MIN || block > FW_BLOCK_MAX)
		return fail(call, SS_INVALID, "block must be %d to %d", FW_BLOCK_MIN, FW_BLOCK_MAX);
	s->isa = fw_isa_best();
	switch (fw_layout_new(s, variants[variant], s->input->n, (int)block)) {
	case SS_OK:
		fw_graph_fill(s);
		return SS_OK;
	case SS_INVALID:
		return fail(call, SS_INVALID, "the simd variant needs a block that is a multiple of %d", FW_PANEL);
	default:
		return fail(call, SS_NOMEM, "no memory for the distances of %d vertices", s->n);
	}
}

static void fw_reset(void *state, const struct ss_call *call) {
	(void)call;
	fw_graph_fill(state);
}

static enum ss_status fw_run(void *state, const struct ss_call *call) {
	const struct fw_state *s = state;
	(void)call;
	s->variant->run(s);
	return SS_OK;
}

/* The first pair that differs, as i * n + j, or n * n. */
static int64_t first_difference(const struct fw_state *s) {
	int64_t n = s->n, first = n * n;
#pragma omp parallel for reduction(min : first)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < n && i * n + j < first; j++)
			if (*fw_cell(s, (int)i, (int)j) != s->input->distances[i * n + j])
				first = i * n + j;
	return first;
}

static enum ss_status fw_verify(void *state, const struct ss_call *call) {
	const struct fw_state *s = state;
	if (fw_oracle(s->input) != SS_OK)
		return fail(call, SS_NOMEM, "no memory to verify the distances of %d vertices", s->n);
	int64_t first = first_difference(s);
	int i = (int)(first / s->n), j = (int)(first % s->n);
	if (i == s->n)
		return SS_OK;
	return fail(call, SS_INCORRECT, "the distance from %d to %d is %d, should be %d (%d is no path)", i, j,
	            (int)*fw_cell(s, i, j), (int)s->input->distances[first], (int)FW_INF);
}

static struct ss_work fw_work(const struct ss_call *call) {
	double n = (double)call->problem[PROBLEM_N].i;
	return (struct ss_work){.ops = n * n * n, .bytes = 2 * sizeof(int32_t) * n * n, .op = "relaxation"};
}

static void fw_teardown(void *state) {
	fw_layout_free(state);
}

static void fw_close(void *input) {
	fw_graph_free(input);
}

const struct ss_kernel kernel_fw = {
	.abi = SS_KERNEL_ABI,
	.name = "fw",
	.summary = "Floyd-Warshall: shortest paths between all pairs of vertices",
	.flags = SS_OPENMP | SS_SCHEDULE,
	.problem = problem,
	.params = params,
	.constraints = constraints,
	.schedule_when = "variant == 'naive' or variant == 'tiled' or variant == 'simd'",
	.input_size = sizeof(struct fw_input),
	.state_size = sizeof(struct fw_state),
	.open = fw_open,
	.setup = fw_setup,
	.reset = fw_reset,
	.run = fw_run,
	.verify = fw_verify,
	.work = fw_work,
	.teardown = fw_teardown,
	.close = fw_close,
};
