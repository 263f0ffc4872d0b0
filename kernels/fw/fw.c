/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table: all-pairs shortest paths on a random directed graph, one matrix for each configuration. */
#include <config.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/fail.h"
#include "kernels/fw/fw.h"

enum { PROBLEM_N, PROBLEM_DEGREE, PROBLEM_TYPE, PROBLEM_ISA };
enum { PARAM_VARIANT, PARAM_BLOCK, PARAM_LAYOUT };

/* The order is that of the words of `variant`. */
static const struct fw_variant *const variants[] = {&fw_naive, &fw_tiled,       &fw_tasks, &fw_tasks_inner,
                                                    &fw_simd,  &fw_inner_loops, &fw_serial};
static const struct fw_variant *const counted[] = {&fw_naive_counted,       &fw_tiled_counted, &fw_tasks_counted,
                                                   &fw_tasks_inner_counted, &fw_simd_counted,  &fw_inner_loops_counted,
                                                   &fw_serial_counted};
enum { VARIANTS = sizeof variants / sizeof *variants };

static const struct ss_param problem[] = {
	[PROBLEM_N] = {.name = "n", .summary = "vertices", .type = SS_INT, .initial = "1024", .min = 1, .max = FW_N_MAX},
	[PROBLEM_DEGREE] = {.name = "degree",
                        .summary = "mean number of edges per vertex",
                        .type = SS_INT,
                        .initial = "8",
                        .min = 0,
                        .max = FW_DEGREE_MAX},
	[PROBLEM_TYPE] =
		{.name = "type", .summary = "of a distance", .type = SS_WORD, .values = "int32,float", .initial = "int32"},
	[PROBLEM_ISA] = {.name = "isa",
                     .summary = "instruction set the inner loops are compiled for; auto: the CPU's best",
                     .type = SS_WORD,
                     .values = "auto,sse2,sse4.1,avx2,avx512,neon,generic",
                     .initial = "auto"},
	{.name = NULL},
};

static const struct ss_param params[] = {
	[PARAM_VARIANT] = {.name = "variant",
                       .summary = "algorithm",
                       .type = SS_WORD,
                       .values = "naive,tiled,tasks,tasks_inner,simd,inner_loops,serial",
                       .initial = "naive"},
	[PARAM_BLOCK] = {.name = "block",
                     .summary = "edge of a tile, in vertices",
                     .type = SS_INT,
                     .values = "16..512*2",
                     .initial = "64",
                     .when = "variant != 'naive' and variant != 'serial'",
                     .min = FW_BLOCK_MIN,
                     .max = FW_BLOCK_MAX},
	[PARAM_LAYOUT] = {.name = "layout",
                      .summary = "layout of the tiles: one after the other, or in the rows of the matrix",
                      .type = SS_WORD,
                      .values = "tiles,rows",
                      .initial = "tiles",
                      .when = "variant != 'naive' and variant != 'simd' and variant != 'serial'"},
	{.name = NULL},
};

static const char *const constraints[] = {"variant != 'simd' or block % 16 == 0", "variant != 'serial' or threads == 1",
                                          NULL};

/* Instruction sets of this CPU, best first. */
static enum ss_status isa_refuse(const struct ss_call *call) {
	char have[64] = "";
	for (const struct fw_isa *isa = fw_isas; isa->name; isa++)
		if (isa->usable())
			snprintf(have + strlen(have), sizeof have - strlen(have), " %s", isa->name);
	return kernel_fail(call, SS_INVALID, "this CPU cannot run isa=%s; it can run:%s", call->problem[PROBLEM_ISA].w,
	                   have);
}

static enum ss_status fw_open(void *input, const struct ss_call *call) {
	int64_t n = call->problem[PROBLEM_N].i, degree = call->problem[PROBLEM_DEGREE].i;
	if (n < 1 || n > FW_N_MAX || degree < 0 || degree > FW_DEGREE_MAX)
		return kernel_fail(call, SS_INVALID, "n must be 1 to %d and degree 0 to %d", FW_N_MAX, FW_DEGREE_MAX);
	if (!fw_isa_find(call->problem[PROBLEM_ISA].w))
		return isa_refuse(call);
	if (fw_graph_random(input, (int)n, (int)degree, call->seed) != SS_OK)
		return kernel_fail(call, SS_NOMEM, "no memory for a graph of %d vertices", (int)n);
	return SS_OK;
}

static void state_choose(struct fw_state *s, const struct ss_call *call) {
	s->n = s->input->n;
	s->type = call->problem[PROBLEM_TYPE].i == FW_FLOAT ? FW_FLOAT : FW_INT32;
	s->isa = fw_isa_find(call->problem[PROBLEM_ISA].w);
	s->ops = &s->isa->ops[s->type];
	s->variant = variants[call->config[PARAM_VARIANT].i];
	s->form = s->variant->form;
	if (s->form == FW_TILES && call->config[PARAM_LAYOUT].i == 1)
		s->form = FW_ROWS;
}

static enum ss_status fw_setup(void *state, void *input, const struct ss_call *call) {
	struct fw_state *s = state;
	int64_t variant = call->config[PARAM_VARIANT].i, block = call->config[PARAM_BLOCK].i;
	s->input = input;
	if (variant < 0 || variant >= VARIANTS || block < FW_BLOCK_MIN || block > FW_BLOCK_MAX)
		return kernel_fail(call, SS_INVALID, "block must be %d to %d", FW_BLOCK_MIN, FW_BLOCK_MAX);
	state_choose(s, call);
	switch (fw_layout_new(s, (int)block)) {
	case SS_OK:
		fw_graph_fill(s);
		return SS_OK;
	case SS_INVALID:
		return kernel_fail(call, SS_INVALID, "the simd variant needs a block that is a multiple of %d", FW_PANEL);
	default:
		return kernel_fail(call, SS_NOMEM, "no memory for the distances of %d vertices", s->n);
	}
}

static void fw_reset(void *state, const struct ss_call *call) {
	(void)call;
	fw_graph_fill(state);
}

static const struct ss_event events[] = {
	[FW_TILE_UPDATES] = {"tile_updates", "tiles, or rows of the naive variant, that were updated through others"},
	[FW_RELAXATIONS] = {"relaxations", "cells compared with a path through another vertex, with the padding"},
	{.name = NULL},
};

static enum ss_status fw_run(void *state, const struct ss_call *call) {
	struct fw_state *s = state;
	s->events = call->events;
	(call->events ? counted[call->config[PARAM_VARIANT].i] : s->variant)->run(s);
	return SS_OK;
}

static double distance_expected(const struct fw_state *s, int64_t pair) {
	int32_t distance = s->input->distances[pair];
	return distance == FW_INF ? (double)INFINITY : distance;
}

/* The first pair that differs, as i * n + j, or n * n. */
static int64_t first_difference(const struct fw_state *s) {
	int64_t n = s->n, first = n * n;
#pragma omp parallel for reduction(min : first)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < n && i * n + j < first; j++)
			if (!(fw_cell_distance(s, (int)i, (int)j) == distance_expected(s, i * n + j)))
				first = i * n + j;
	return first;
}

static enum ss_status fw_verify(void *state, const struct ss_call *call) {
	const struct fw_state *s = state;
	if (fw_oracle(s->input) != SS_OK)
		return kernel_fail(call, SS_NOMEM, "no memory to verify the distances of %d vertices", s->n);
	int64_t first = first_difference(s);
	int i = (int)(first / s->n), j = (int)(first % s->n);
	if (i == s->n)
		return SS_OK;
	return kernel_wrong(call, "the distance from %d to %d is %.10g, should be %.10g (inf means that there is none)", i,
	                    j, fw_cell_distance(s, i, j), distance_expected(s, first));
}

static struct ss_work fw_work(const struct ss_call *call) {
	double n = (double)call->problem[PROBLEM_N].i;
	return (struct ss_work){.ops = n * n * n, .bytes = 2 * FW_CELL * n * n, .op = "relaxation"};
}

static double pairs_reachable(const struct fw_state *s) {
	int64_t n = s->n, count = 0;
#pragma omp parallel for reduction(+ : count)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < n; j++)
			count += fw_cell_distance(s, (int)i, (int)j) < INFINITY;
	return (double)count / (double)n / (double)n;
}

static size_t fw_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
                         size_t most) {
	const struct fw_state *s = state;
	const struct ss_figure all[] = {
		{"relaxations", seconds > 0 ? fw_work(call).ops / seconds / 1e9 : 0, "G/s"},
		{"lanes", s->isa->lanes, ""},
		{"tiles", s->form == FW_LINES ? 1 : (double)s->down * s->across, ""},
		{"reachable", 100 * pairs_reachable(s), "%"},
	};
	size_t count = sizeof all / sizeof *all < most ? sizeof all / sizeof *all : most;
	memcpy(out, all, count * sizeof *all);
	return count;
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
	.schedule_when = "variant == 'naive' or variant == 'tiled' or variant == 'simd' or variant == 'inner_loops'",
	.serial = "variant=serial",
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
	.figures = fw_figures,
	.events = events,
};
