/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table: all-pairs shortest paths on a random directed graph, one matrix for each configuration. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/answer.h"
#include "kernels/fail.h"
#include "kernels/fw/fw.h"
#include "kernels/pages.h"
#include "kernels/random.h"

/* The oracle: Dijkstra's algorithm (1959) from every vertex, with a binary heap from which outdated entries are dropped
 * when they come up. It shares nothing with Floyd-Warshall but the graph. Sources are independent: they run in
 * parallel. */
/* A key is distance << 32 | vertex. */
struct heap {
	uint64_t *keys;
	size_t count;
};

static void heap_push(struct heap *heap, uint64_t key) {
	size_t at = heap->count++;
	for (; at > 0 && heap->keys[(at - 1) / 2] > key; at = (at - 1) / 2)
		heap->keys[at] = heap->keys[(at - 1) / 2];
	heap->keys[at] = key;
}

static uint64_t heap_pop(struct heap *heap) {
	uint64_t top = heap->keys[0], key = heap->keys[--heap->count];
	size_t at = 0;
	for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
		if (child + 1 < heap->count && heap->keys[child + 1] < heap->keys[child])
			child++;
		if (heap->keys[child] >= key)
			break;
		heap->keys[at] = heap->keys[child];
	}
	heap->keys[at] = key;
	return top;
}

static void vertex_scan(const struct fw_input *g, int v, int32_t *dist, struct heap *heap) {
	for (size_t e = g->first[v]; e < g->first[v + 1]; e++) {
		int32_t target = g->edges[e].target, through = dist[v] + g->edges[e].weight;
		if (through >= dist[target])
			continue;
		dist[target] = through;
		heap_push(heap, (uint64_t)through << 32 | (uint32_t)target);
	}
}

static void source_solve(const struct fw_input *g, int source, int32_t *dist, struct heap *heap) {
	for (int v = 0; v < g->n; v++)
		dist[v] = FW_INF;
	dist[source] = 0;
	heap_push(heap, (uint32_t)source);
	while (heap->count > 0) {
		uint64_t key = heap_pop(heap);
		int v = (int)(uint32_t)key;
		if ((int32_t)(key >> 32) == dist[v])
			vertex_scan(g, v, dist, heap);
	}
}

/* Every edge is pushed once at most, and the source. */
static int sources_solve(const struct fw_input *g, const int *sources, int count, int32_t *distances) {
	size_t n = (size_t)g->n;
	int failed = 0;
#pragma omp parallel reduction(| : failed)
	{
		struct heap heap = {malloc((g->first[n] + 1) * sizeof *heap.keys), 0};
		failed = !heap.keys;
#pragma omp for schedule(dynamic)
		for (int i = 0; i < count; i++)
			if (heap.keys)
				source_solve(g, sources ? sources[i] : i, distances + (size_t)i * n, &heap);
		free(heap.keys);
	}
	return failed;
}

enum ss_status fw_oracle_rows(const struct fw_input *input, const int *sources, int count, int32_t *distances) {
	return sources_solve(input, sources, count, distances) ? SS_NOMEM : SS_OK;
}

enum ss_status fw_oracle(struct fw_input *input, const struct ss_call *call) {
	size_t cells, bytes;
	if (input->distances)
		return SS_OK;
	if (__builtin_mul_overflow((size_t)input->n, (size_t)input->n, &cells) ||
	    __builtin_mul_overflow(cells, sizeof(int32_t), &bytes))
		return SS_NOMEM;
	int32_t *distances = malloc(bytes);
	const struct kernel_part part = {distances, bytes};
	bool known = distances && kernel_answer_recall(call, &part, 1);
	if (!distances || (!known && sources_solve(input, NULL, input->n, distances))) {
		free(distances);
		return SS_NOMEM;
	}
	if (!known)
		kernel_answer_keep(call, &part, 1);
	input->distances = distances;
	return SS_OK;
}

/* The matrix of a state. Its pages are mapped afresh for every configuration, so that the first touch under that
 * configuration's team decides where they are; memory recycled by malloc has already been touched. */

static int round_up(int x, int to) {
	return (x + to - 1) / to * to;
}

static void layout_lines(struct fw_state *s) {
	s->rows = 1;
	s->columns = s->panel = s->down = s->n;
	s->across = 1;
	s->pitch = s->down_step = (size_t)s->n;
	s->across_step = s->panel_step = 0;
}

/* A tile larger than the matrix would only be padding. */
static void layout_tiles(struct fw_state *s, int block, int unit) {
	int most = round_up(s->n, unit);
	s->rows = s->columns = block < most ? block : most;
	s->down = s->across = (s->n + s->rows - 1) / s->rows;
	s->panel = unit > 1 ? unit : s->columns;
	s->pitch = (size_t)s->panel;
	s->panel_step = (size_t)s->rows * s->pitch;
	s->across_step = (size_t)s->rows * (size_t)s->columns;
	s->down_step = (size_t)s->across * s->across_step;
}

static void layout_rows(struct fw_state *s, int block) {
	layout_tiles(s, block, 1);
	s->pitch = (size_t)s->n;
	s->across_step = (size_t)s->columns;
	s->down_step = (size_t)s->rows * s->pitch;
}

static enum ss_status layout_shape(struct fw_state *s, int block) {
	int unit = s->form == FW_PANELS ? FW_PANEL : 1;
	if (s->form == FW_LINES)
		layout_lines(s);
	else if (block % unit)
		return SS_INVALID;
	else if (s->form == FW_ROWS)
		layout_rows(s, block);
	else
		layout_tiles(s, block, unit);
	return SS_OK;
}

/* Includes the padding, if any; it cannot overflow, because both extents are below 2^17. */
static size_t layout_bytes(const struct fw_state *s) {
	size_t n = (size_t)s->n;
	if (s->form == FW_LINES || s->form == FW_ROWS)
		return n * n * FW_CELL;
	return (size_t)s->down * s->down_step * FW_CELL;
}

/* The matrix of a variant, of which s->variant, s->form and s->n are set. SS_NOMEM, or SS_INVALID for a
 * block that the form does not take. */
static enum ss_status fw_layout_new(struct fw_state *s, int block) {
	enum ss_status status = layout_shape(s, block);
	if (status != SS_OK)
		return status;
	s->bytes = layout_bytes(s);
	void *pages = kernel_pages_new(s->bytes);
	if (!pages)
		return SS_NOMEM;
	s->d = pages;
	return SS_OK;
}

static void fw_layout_free(void *opaque) {
	struct fw_state *s = opaque;
	kernel_pages_free(s->d, s->bytes);
	s->d = NULL;
}

/* Single distances, whatever their type: for filling the matrix and for reading the result. */

/* "No path" is read as infinity, and is what clear writes. */
static void fw_cell_set(const struct fw_state *s, int i, int j, int32_t distance) {
	if (s->type == FW_FLOAT)
		*(float *)fw_cell(s, i, j) = (float)distance;
	else
		*(int32_t *)fw_cell(s, i, j) = distance;
}

static double fw_cell_distance(const struct fw_state *s, int i, int j) {
	const void *cell = fw_cell(s, i, j);
	if (s->type == FW_FLOAT)
		return *(const float *)cell;
	return *(const int32_t *)cell == FW_INF ? (double)INFINITY : *(const int32_t *)cell;
}

static void fw_cells_clear(const struct fw_state *s, void *cells, size_t count) {
	if (s->type == FW_FLOAT)
		for (size_t c = 0; c < count; c++)
			((float *)cells)[c] = INFINITY;
	else
		for (size_t c = 0; c < count; c++)
			((int32_t *)cells)[c] = FW_INF;
}

/* The input: a random directed graph. Out-degrees are uniform in 0 .. 2 * degree, so that some vertices reach nothing;
 * weights are uniform in 1 .. FW_WEIGHT_MAX. Parallel edges may occur, loops do not. */

enum ss_status fw_graph_random(struct fw_input *input, int n, int degree, uint64_t seed) {
	uint64_t state = seed;
	size_t count = 0, most = (size_t)n * 2 * (size_t)degree;
	input->n = n;
	input->first = calloc((size_t)n + 1, sizeof *input->first);
	input->edges = calloc(most ? most : 1, sizeof *input->edges);
	if (!input->first || !input->edges)
		return SS_NOMEM;
	for (int i = 0; i < n; i++) {
		for (int left = kernel_random_below(&state, 2 * (uint32_t)degree + 1); left > 0; left--) {
			int32_t target = kernel_random_below(&state, (uint32_t)n);
			int32_t weight = 1 + kernel_random_below(&state, FW_WEIGHT_MAX);
			if (target != i)
				input->edges[count++] = (struct fw_edge){target, weight};
		}
		input->first[i + 1] = count;
	}
	return SS_OK;
}

void fw_graph_free(void *opaque) {
	struct fw_input *input = opaque;
	free(input->first);
	free(input->edges);
	free(input->distances);
	*input = (struct fw_input){0};
}

/* The lightest of parallel edges counts. */
static void row_fill(const struct fw_state *s, int i, int from, int to) {
	const struct fw_input *g = s->input;
	for (size_t e = g->first[i]; e < g->first[i + 1]; e++) {
		int j = g->edges[e].target;
		if (j >= from && j < to && g->edges[e].weight < fw_cell_distance(s, i, j))
			fw_cell_set(s, i, j, g->edges[e].weight);
	}
	if (i >= from && i < to)
		fw_cell_set(s, i, i, 0);
}

/* Includes the padding, if any. */
static void tile_clear(const struct fw_state *s, int down, int across) {
	char *tile = fw_tile(s, down, across);
	if (s->form != FW_ROWS) {
		fw_cells_clear(s, tile, (size_t)s->rows * (size_t)s->columns);
		return;
	}
	for (int r = 0; r < fw_extent(s, down); r++)
		fw_cells_clear(s, tile + (size_t)r * s->pitch * FW_CELL, (size_t)fw_extent(s, across));
}

static void tile_fill(const struct fw_state *s, int down, int across) {
	int from = across * s->columns, to = from + s->columns < s->n ? from + s->columns : s->n;
	tile_clear(s, down, across);
	for (int i = down * s->rows; i < (down + 1) * s->rows && i < s->n; i++)
		row_fill(s, i, from, to);
}

/* Writes the graph into the matrix, each tile by the thread that schedule(runtime) gives it. */
static void fw_graph_fill(const struct fw_state *s) {
#pragma omp parallel for collapse(2) schedule(runtime)
	for (int i = 0; i < s->down; i++)
		for (int j = 0; j < s->across; j++)
			tile_fill(s, i, j);
}

enum { PROBLEM_N, PROBLEM_DEGREE, PROBLEM_TYPE, PROBLEM_ISA };
enum { PARAM_VARIANT, PARAM_BLOCK, PARAM_LAYOUT };

/* The order is that of the words of `variant`. */
static const struct fw_variant *const variants[] = {&fw_naive, &fw_tiled,       &fw_tasks, &fw_tasks_inner,
                                                    &fw_simd,  &fw_inner_loops, &fw_serial};
static const struct fw_variant *const counted[] = {&fw_naive_counted,       &fw_tiled_counted, &fw_tasks_counted,
                                                   &fw_tasks_inner_counted, &fw_simd_counted,  &fw_inner_loops_counted,
                                                   &fw_serial_counted};

static const struct ss_param problem[] = {
	[PROBLEM_N] = {"n", "vertices", SS_INT, NULL, "1024", NULL, 1, FW_N_MAX},
	[PROBLEM_DEGREE] = {"degree", "mean number of edges per vertex", SS_INT, NULL, "8", NULL, 0, FW_DEGREE_MAX},
	[PROBLEM_TYPE] = {"type", "of a distance", SS_WORD, "int32,float", "int32", NULL, 0, 0},
	[PROBLEM_ISA] = {"isa", "instruction set the inner loops are compiled for; auto: the CPU's best", SS_WORD,
                     "auto,sse2,sse4.1,avx2,avx512,neon,generic", "auto", NULL, 0, 0},
	{.name = NULL},
};

static const struct ss_param params[] = {
	[PARAM_VARIANT] = {"variant", "algorithm", SS_WORD, "naive,tiled,tasks,tasks_inner,simd,inner_loops,serial",
                       "naive", NULL, 0, 0},
	[PARAM_BLOCK] = {"block", "edge of a tile, in vertices", SS_INT, "16..512*2", "64",
                     "variant != 'naive' and variant != 'serial'", FW_BLOCK_MIN, FW_BLOCK_MAX},
	[PARAM_LAYOUT] = {"layout", "layout of the tiles: one after the other, or in the rows of the matrix", SS_WORD,
                      "tiles,rows", "tiles", "variant != 'naive' and variant != 'simd' and variant != 'serial'", 0, 0},
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
	s->input = input;
	state_choose(s, call);
	switch (fw_layout_new(s, (int)call->config[PARAM_BLOCK].i)) {
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
	if (fw_oracle(s->input, call) != SS_OK)
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
	.teardown = fw_layout_free,
	.close = fw_graph_free,
	.figures = fw_figures,
	.events = events,
};
