/* SPDX-License-Identifier: BSD-3-Clause */
/* The oracle scatters: every living cell adds one to the counts of its eight neighbours. Three rows of counts roll over
 * the grid, so that it is done in place. */
#include <stdlib.h>

#include "kernels/gol/gol.h"
#include "kernels/random.h"

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

static bool windows(struct gol_input *input, uint64_t seed, double budget);

static bool whole(struct gol_input *input, bool small) {
	struct gol_window *window = &input->expected[0];
	*window = (struct gol_window){.rows = input->n, .words = input->words};
	input->windows = 1;
	if (!small)
		return gol_window_evolve(input, window);
	size_t bytes = input->n * input->words * sizeof *window->cells;
	window->cells = malloc(bytes);
	if (!window->cells)
		return false;
	memcpy(window->cells, input->cells, bytes);
	return gol_evolve(window->cells, input->n, input->words, input->generations);
}

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

static bool affordable(const struct gol_input *input, double updates) {
	return input->n < BAND || (input->n <= BYTES_N_MAX && updates <= LARGE);
}

bool gol_expect(struct gol_input *input, uint64_t seed) {
	double updates = (double)input->n * (double)input->n * (double)input->generations;
	bool small = updates <= SMALL;
	bool done = small || affordable(input, updates) ? whole(input, small) : windows(input, seed, LARGE);
	if (!done)
		gol_expected_free(input);
	return done;
}

void gol_expected_free(struct gol_input *input) {
	for (int i = 0; i < input->windows; i++)
		free(input->expected[i].cells);
	input->windows = 0;
}
