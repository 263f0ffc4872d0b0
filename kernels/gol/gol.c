/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table: cells from a hash of their numbers, two grids a configuration. */
#include <stdio.h>
#include <stdlib.h>

#include "kernels/answer.h"
#include "kernels/fail.h"
#include "kernels/gol/gol.h"
#include "kernels/pages.h"
#include "kernels/random.h"

/* The oracle scatters: every living cell adds one to the counts of its eight neighbours. Three rows of counts roll over
 * the grid, so that it is done in place. */
/* A part of the last generation, exactly: it depends on cells at most as many rows and columns away as there are
 * generations. Plain loops over bytes in two copies, of a region that shrinks by a ring a generation. */

/* Rows and columns of the grid: from .. to. */
struct region {
	int64_t row, row_end, column, column_end;
};

static struct region grow(const struct gol_input *input, const struct gol_window *window, int64_t halo) {
	int64_t n = (int64_t)input->n, row = (int64_t)window->row - halo, column = (int64_t)window->word * 64 - halo;
	int64_t row_end = (int64_t)(window->row + window->rows) + halo;
	int64_t column_end = (int64_t)(window->word + window->words) * 64 + halo;
	return (struct region){row < 0 ? 0 : row, row_end > n ? n : row_end, column < 0 ? 0 : column,
	                       column_end > n ? n : column_end};
}

/* A dead cell on each side. */
static size_t width(struct region all) {
	return (size_t)(all.column_end - all.column) + 2;
}

static uint8_t *at(uint8_t *cells, struct region all, int64_t row, int64_t column) {
	return cells + (size_t)(row - all.row + 1) * width(all) + (size_t)(column - all.column + 1);
}

static void fill(const struct gol_input *input, uint8_t *cells, struct region all) {
#pragma omp parallel for schedule(static)
	for (int64_t row = all.row; row < all.row_end; row++)
		for (int64_t column = all.column; column < all.column_end; column++)
			*at(cells, all, row, column) =
				input->cells[(size_t)row * input->words + (size_t)column / 64] >> column % 64 & 1;
}

static void row_next(const uint8_t *above, const uint8_t *row, const uint8_t *below, uint8_t *restrict next,
                     int64_t count) {
	for (int64_t i = 0; i < count; i++) {
		uint8_t square = above[i - 1] + above[i] + above[i + 1] + row[i - 1] + row[i] + row[i + 1] + below[i - 1] +
		                 below[i] + below[i + 1];
		next[i] = (square == 3) | ((square == 4) & row[i]);
	}
}

static void generation_next(uint8_t *now, uint8_t *next, struct region all, struct region part) {
#pragma omp parallel for schedule(static)
	for (int64_t row = part.row; row < part.row_end; row++)
		row_next(at(now, all, row - 1, part.column), at(now, all, row, part.column), at(now, all, row + 1, part.column),
		         at(next, all, row, part.column), part.column_end - part.column);
}

static void pack(uint8_t *cells, struct region all, struct region part, struct gol_window *window) {
	for (int64_t row = part.row; row < part.row_end; row++)
		for (int64_t column = part.column; column < part.column_end; column++) {
			size_t word = (size_t)(row - part.row) * window->words + (size_t)(column - part.column) / 64;
			window->cells[word] |= (uint64_t)*at(cells, all, row, column) << column % 64;
		}
}

bool gol_window_evolve(const struct gol_input *input, struct gol_window *window) {
	int64_t generations = input->generations;
	struct region all = grow(input, window, generations);
	size_t size = (size_t)(all.row_end - all.row + 2) * width(all);
	uint8_t *now = calloc(1, size), *next = calloc(1, size);
	window->cells = calloc(window->rows * window->words, sizeof *window->cells);
	bool ready = now && next && window->cells;
	if (ready)
		fill(input, now, all);
	for (int64_t left = generations - 1; ready && left >= 0; left--) {
		uint8_t *swap = now;
		generation_next(now, next, all, grow(input, window, left));
		now = next;
		next = swap;
	}
	if (ready)
		pack(now, all, grow(input, window, 0), window);
	free(now);
	free(next);
	return ready;
}

/* The count rows begin with a cell outside the grid: column c is at c + 1. */
static void scatter(const uint64_t *row, size_t words, uint8_t *above, uint8_t *same, uint8_t *below) {
	for (size_t word = 0; word < words; word++)
		for (uint64_t rest = row[word]; rest; rest &= rest - 1) {
			size_t column = word * 64 + (size_t)__builtin_ctzll(rest);
			for (size_t i = column; i < column + 3; i++) {
				above[i]++;
				same[i]++;
				below[i]++;
			}
			same[column + 1]--;
		}
}

static void settle(uint64_t *row, size_t n, const uint8_t *counts) {
	for (size_t word = 0; word * 64 < n; word++) {
		uint64_t old = row[word], new = 0;
		for (size_t bit = 0; bit < 64 && word * 64 + bit < n; bit++) {
			uint8_t count = counts[word * 64 + bit + 1];
			new |= (uint64_t)(count == 3 || (count == 2 && (old >> bit & 1))) << bit;
		}
		row[word] = new;
	}
}

bool gol_evolve(uint64_t *cells, size_t n, size_t words, int64_t generations) {
	size_t width = n + 2;
	uint8_t *counts = malloc(3 * width);
	if (!counts)
		return false;
	for (int64_t generation = 0; generation < generations; generation++) {
		memset(counts, 0, 3 * width);
		for (size_t row = 0; row <= n; row++) {
			uint8_t *above = counts + (row + 2) % 3 * width; /* row - 1, complete after this scatter */
			if (row < n)
				scatter(cells + row * words, words, above, counts + row % 3 * width, counts + (row + 1) % 3 * width);
			if (row > 0)
				settle(cells + (row - 1) * words, n, above);
			memset(above, 0, width); /* becomes row + 2 */
		}
	}
	free(counts);
	return true;
}

/* The expected last generation. A small problem is computed whole by the oracle, a larger one whole by plain
 * loops over bytes. For the largest, windows of the grid are: columns of words over its full height and bands of rows
 * over its full width, some at the borders and some at random, so that every row and every column is looked at
 * somewhere. */

/* Cell updates. */
#define SMALL 3e7
#define LARGE 2e10
enum { BYTES_N_MAX = 8192, BAND = 32 };

/* Two at random, the first, the last, the rest at random; a column of words and a band of rows in turn. */
static struct gol_window place(const struct gol_input *input, uint64_t seed, int i) {
	bool column = i % 2 == 0;
	size_t limit = column ? input->words : input->n - BAND + 1, from = kernel_random_at(seed, (uint64_t)i) % limit;
	if (i / 2 == 1)
		from = 0;
	if (i / 2 == 2)
		from = limit - 1;
	return column ? (struct gol_window){.rows = input->n, .word = from, .words = 1}
	              : (struct gol_window){.row = from, .rows = BAND, .words = input->words};
}

static bool windows(struct gol_input *input, uint64_t seed, double budget) {
	double generations = (double)input->generations, n = (double)input->n;
	double cost = n * generations * (64 + generations); /* of a window: its halo goes from all of them to none */
	for (int i = 0; i < GOL_WINDOWS_MAX && (i < 2 || budget >= cost); i++, budget -= cost) {
		struct gol_window *window = &input->expected[input->windows++];
		*window = place(input, seed, i);
		if (!gol_window_evolve(input, window))
			return false;
	}
	return true;
}

static bool whole(struct gol_input *input, bool small, const struct ss_call *call) {
	struct gol_window *window = &input->expected[0];
	*window = (struct gol_window){.rows = input->n, .words = input->words};
	input->windows = 1;
	size_t bytes = input->n * input->words * sizeof *window->cells;
	window->cells = malloc(bytes);
	struct kernel_part part = {window->cells, bytes};
	if (!window->cells || kernel_answer_recall(call, &part, 1))
		return window->cells;
	bool done;
	if (small) {
		memcpy(window->cells, input->cells, bytes);
		done = gol_evolve(window->cells, input->n, input->words, input->generations);
	} else {
		free(window->cells);
		done = gol_window_evolve(input, window);
		part.data = window->cells;
	}
	if (done)
		kernel_answer_keep(call, &part, 1);
	return done;
}

static bool affordable(const struct gol_input *input, double updates) {
	return input->n < BAND || (input->n <= BYTES_N_MAX && updates <= LARGE);
}

static void gol_expected_free(struct gol_input *input);

bool gol_expect(struct gol_input *input, const struct ss_call *call) {
	double updates = (double)input->n * (double)input->n * (double)input->generations;
	bool small = updates <= SMALL;
	bool done = small || affordable(input, updates) ? whole(input, small, call) : windows(input, call->seed, LARGE);
	if (!done)
		gol_expected_free(input);
	return done;
}

static void gol_expected_free(struct gol_input *input) {
	for (int i = 0; i < input->windows; i++)
		free(input->expected[i].cells);
	input->windows = 0;
}

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
	if (!state->input->windows && !gol_expect(state->input, call))
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
