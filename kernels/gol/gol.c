/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table: cells from a hash of their numbers, two grids a configuration. */
#include <stdio.h>
#include <stdlib.h>

#include "kernels/fail.h"
#include "kernels/gol/gol.h"
#include "kernels/pages.h"
#include "kernels/random.h"

/* The loops over items are those of the variants: a static schedule gives every thread the same rows each time. */

/* Before row 0: a line and a dead row; after the last row: a dead row, and a line that vectors may read. It is one
 * allocation, so that the system refuses it as a whole if memory is short. */
static bool allocate(struct gol_state *state) {
	size_t n = state->input->n, cells = state->variant->cells_per_unit;
	size_t units = (n + cells - 1) / cells + 1;
	state->stride = (units * state->variant->unit + GOL_LINE - 1) / GOL_LINE * GOL_LINE;
	if (n + 2 > (SIZE_MAX / 2 - 2 * GOL_LINE) / state->stride)
		return false;
	size_t size = (n + 2) * state->stride + GOL_LINE;
	state->bytes = 2 * size + GOL_LINE;
	state->memory = kernel_pages_new(state->bytes);
	if (!state->memory)
		return false;
#if defined(MADV_HUGEPAGE)
	if (state->tiles) /* going down a column, each row is on another page */
		madvise(state->memory, state->bytes, MADV_HUGEPAGE);
#endif
	state->grid[0] = state->memory + GOL_LINE + state->stride;
	state->grid[1] = state->grid[0] + size;
	return true;
}

/* The pages are zero already. */
static void touch(const struct gol_state *state, int grid) {
	size_t items = gol_items(state);
#pragma omp parallel for schedule(runtime)
	for (size_t item = 0; item < items; item++) {
		size_t first = item * state->strip;
		memset(gol_row(state, grid, (ptrdiff_t)first), 0, gol_rows(state, first) * state->stride);
	}
}

/* Both grids of a state, dead, each row first touched by the thread that will compute it; false without memory. */
static bool gol_grids_new(struct gol_state *state) {
	if (!allocate(state))
		return false;
	touch(state, 0);
	touch(state, 1);
	return true;
}

/* The input becomes the current generation. */
static void gol_grids_load(struct gol_state *state) {
	const struct gol_input *input = state->input;
	size_t items = gol_items(state), strip = state->strip;
	state->now = 0;
#pragma omp parallel for schedule(runtime)
	for (size_t item = 0; item < items; item++)
		for (size_t row = item * strip; row < input->n && row < (item + 1) * strip; row++)
			state->variant->load(gol_row(state, 0, (ptrdiff_t)row), input->cells + row * input->words, input->n);
}

static void gol_grids_free(void *opaque) {
	struct gol_state *state = opaque;
	kernel_pages_free(state->memory, state->bytes);
	kernel_pages_free(state->tiles, state->tile_bytes * (size_t)state->threads);
}

static uint64_t population(const struct gol_state *state) {
	ptrdiff_t n = (ptrdiff_t)state->input->n;
	uint64_t alive = 0;
#pragma omp parallel for schedule(static) reduction(+ : alive)
	for (ptrdiff_t row = 0; row < n; row++) {
		uint64_t cells[GOL_WORDS_MAX] = {0};
		state->variant->save(gol_row(state, state->now, row), cells, state->input->n);
		for (size_t word = 0; word < state->input->words; word++)
			alive += (uint64_t)__builtin_popcountll(cells[word]);
	}
	return alive;
}

/* The layout's bytes that are read and written in a run, if no generation stays in the caches from pass to pass. Halos
 * are not counted. */
static double traffic(const struct gol_state *state) {
	double n = (double)state->input->n, passes = (double)state->input->generations;
	if (state->depth)
		passes = (double)gol_temporal_passes(state);
	return 2 * n * n * (double)state->variant->unit / (double)state->variant->cells_per_unit * passes;
}

size_t gol_figures(const struct gol_state *state, double seconds, struct ss_figure *out, size_t most) {
	double n = (double)state->input->n, generations = (double)state->input->generations;
	const struct ss_figure figures[] = {
		{"rate", n * n * generations / seconds * 1e-9, "Gcells/s"},
		{"generation", seconds / generations * 1e6, "us"},
		{"traffic", traffic(state) / generations, "bytes a generation"},
		{"bandwidth", traffic(state) / seconds * 1e-9, "GB/s"},
		{"population", (double)population(state), "cells"},
	};
	size_t count = 0;
	for (; count < most && count < sizeof figures / sizeof *figures; count++)
		out[count] = figures[count];
	return count;
}

static enum ss_status differ(const struct gol_window *window, size_t row, const uint64_t *found,
                             const struct ss_call *call) {
	const uint64_t *expected = window->cells + (row - window->row) * window->words;
	for (size_t word = 0; word < window->words; word++) {
		uint64_t bits = found[window->word + word], wrong = bits ^ expected[word];
		if (wrong) {
			int bit = __builtin_ctzll(wrong);
			bool alive = bits >> bit & 1;
			snprintf(call->message, call->message_size, "row %zu column %zu is %s, should be %s", row,
			         (window->word + word) * 64 + (size_t)bit, alive ? "alive" : "dead", alive ? "dead" : "alive");
			return SS_INCORRECT;
		}
	}
	return SS_OK;
}

enum ss_status gol_compare(const struct gol_state *state, const struct ss_call *call) {
	const struct gol_input *input = state->input;
	enum ss_status status = SS_OK;
	for (size_t row = 0; row < input->n && status == SS_OK; row++) {
		uint64_t found[GOL_WORDS_MAX] = {0};
		state->variant->save(gol_row(state, state->now, (ptrdiff_t)row), found, input->n);
		for (int i = 0; i < input->windows && status == SS_OK; i++) {
			const struct gol_window *window = &input->expected[i];
			if (row >= window->row && row < window->row + window->rows)
				status = differ(window, row, found, call);
		}
	}
	return status;
}

static const struct gol_variant *const variants[] = {
	&gol_int, &gol_byte, &gol_simd8, &gol_bits, &gol_temporal, &gol_serial,
};
#define VARIANT_NAMES "int,byte,simd8,bits,temporal,serial" /* the same order */
static const struct gol_variant *const counted[] = {
	&gol_int_counted,  &gol_byte_counted,     &gol_simd8_counted,
	&gol_bits_counted, &gol_temporal_counted, &gol_serial_counted,
};

enum { N = GOL_N, GENERATIONS = GOL_GENERATIONS, DENSITY = GOL_DENSITY };
const struct ss_param gol_problem[] = {
	[N] = {"n", "edge of the grid in cells", SS_INT, NULL, "1024", NULL, 1, GOL_N_MAX},
	[GENERATIONS] = {"generations", "steps in one run", SS_INT, NULL, "10", NULL, 1, GOL_GENERATIONS_MAX},
	[DENSITY] = {"density", "share of living cells at the start, in percent", SS_INT, NULL, "30", NULL, 0, 100},
	{.name = NULL},
};

enum { VARIANT, STRIP, DEPTH, BLOCK, SPAN };
static const struct ss_param params[] = {
	[VARIANT] = {"variant", "layout of the cells and the loop over them", SS_WORD, VARIANT_NAMES, "int", NULL, 0, 0},
	[STRIP] = {"strip", "rows in a work item", SS_INT, "1..64*4", "16", "variant == 'bits' or variant == 'simd8'", 1,
               GOL_STRIP_MAX},
	[DEPTH] = {"depth", "generations per pass over the grid", SS_INT, "2..32*2", "8", "variant == 'temporal'", 1,
               GOL_DEPTH_MAX},
	[BLOCK] = {"block", "rows of a tile", SS_INT, "128..32768*4", "128", "variant == 'temporal'", 1, GOL_BLOCK_MAX},
	[SPAN] = {"span", "columns of a tile, in words of 64", SS_INT, "16..512*2", "64", "variant == 'temporal'", 1,
              GOL_SPAN_MAX},
	{.name = NULL},
};

static const char *const constraints[] = {"variant != 'serial' or threads == 1", NULL};

static void seed_cells(struct gol_input *input, uint64_t seed, int64_t percent) {
	uint64_t limit = ((uint64_t)percent << 32) / 100;
#pragma omp parallel for schedule(static)
	for (size_t row = 0; row < input->n; row++)
		for (size_t word = 0; word < input->words; word++) {
			uint64_t cells = 0, first = row * input->n + word * 64;
			for (unsigned bit = 0; bit < 64; bit++)
				cells |= (uint64_t)(kernel_random_at(seed, first + bit) >> 32 < limit) << bit;
			input->cells[row * input->words + word] = cells & (word + 1 < input->words ? UINT64_MAX : input->tail);
		}
}

enum ss_status gol_open(void *opaque, const struct ss_call *call) {
	struct gol_input *input = opaque;
	int64_t n = call->problem[N].i, generations = call->problem[GENERATIONS].i, density = call->problem[DENSITY].i;
	*input = (struct gol_input){.n = (size_t)n, .words = ((size_t)n + 63) / 64, .generations = generations};
	input->tail = UINT64_MAX >> (input->words * 64 - input->n);
	input->cells = calloc(input->n * input->words, sizeof *input->cells);
	if (!input->cells)
		return kernel_fail(call, SS_NOMEM, "no memory for a grid of %lld by %lld cells", (long long)n, (long long)n);
	seed_cells(input, call->seed, density);
	return SS_OK;
}

static const struct gol_isa *gol_isa_best(void) {
	const struct gol_isa *isa = gol_isas;
	while (isa->usable && !isa->usable())
		isa++;
	return isa;
}

static enum ss_status gol_setup(void *opaque, void *input, const struct ss_call *call) {
	struct gol_state *state = opaque;
	*state = (struct gol_state){
		.variant = variants[call->config[VARIANT].i], .input = input, .isa = gol_isa_best(), .strip = 1};
	if (state->variant == &gol_bits || state->variant == &gol_simd8)
		state->strip = (size_t)call->config[STRIP].i;
	if (state->variant == &gol_temporal) {
		state->block = (size_t)call->config[BLOCK].i;
		state->depth = (size_t)call->config[DEPTH].i;
		state->span = (size_t)call->config[SPAN].i;
	}
	state->threads = call->threads;
	if ((state->variant->prepare && !state->variant->prepare(state)) || !gol_grids_new(state))
		return kernel_fail(call, SS_NOMEM, "no memory for two grids of %zu by %zu cells", state->input->n,
		                   state->input->n);
	return SS_OK;
}

static void gol_reset(void *state, const struct ss_call *call) {
	(void)call;
	gol_grids_load(state);
}

static const struct ss_event events[] = {
	[GOL_CELL_UPDATES] = {"cell_updates", "cells computed; temporal computes those around a tile once more"},
	[GOL_ITEMS] = {"work_items", "rows, strips or tiles that were computed"},
	{.name = NULL},
};

static enum ss_status gol_run(void *opaque, const struct ss_call *call) {
	struct gol_state *state = opaque;
	state->events = call->events;
	(call->events ? counted[call->config[VARIANT].i] : state->variant)->run(state);
	return SS_OK;
}

static enum ss_status gol_verify(void *opaque, const struct ss_call *call) {
	const struct gol_state *state = opaque;
	if (!state->input->windows && !gol_expect(state->input, call->seed))
		return kernel_fail(call, SS_NOMEM, "no memory to verify a grid of %zu by %zu cells", state->input->n,
		                   state->input->n);
	return gol_compare(state, call);
}

/* At least one bit a cell is read once and written once: generations in between may stay in the caches. */
struct ss_work gol_work(const struct ss_call *call) {
	double cells = call->problem[N].r * call->problem[N].r;
	return (struct ss_work){cells * call->problem[GENERATIONS].r, cells / 4, "cell update"};
}

static size_t gol_measured(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
                           size_t most) {
	(void)call;
	return gol_figures(state, seconds, out, most);
}

void gol_close(void *opaque) {
	struct gol_input *input = opaque;
	free(input->cells);
	gol_expected_free(input);
}

const struct ss_kernel kernel_gol = {
	.abi = SS_KERNEL_ABI,
	.name = "gol",
	.summary = "Game of Life: a stencil over cells with dead borders",
	.flags = SS_OPENMP | SS_SCHEDULE,
	.problem = gol_problem,
	.params = params,
	.constraints = constraints,
	.schedule_when = "variant != 'serial'",
	.serial = "variant=serial",
	.input_size = sizeof(struct gol_input),
	.state_size = sizeof(struct gol_state),
	.open = gol_open,
	.setup = gol_setup,
	.reset = gol_reset,
	.run = gol_run,
	.verify = gol_verify,
	.work = gol_work,
	.teardown = gol_grids_free,
	.close = gol_close,
	.figures = gol_measured,
	.events = events,
};
