/* SPDX-License-Identifier: BSD-3-Clause */
/* A part of the last generation, exactly: it depends on cells at most as many rows and columns away as there are
 * generations. Plain loops over bytes in two copies, of a region that shrinks by a ring a generation. */
#include <stdlib.h>

#include "kernels/gol/gol.h"

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
