/* SPDX-License-Identifier: BSD-3-Clause */
/* The expected last generation. A small problem is computed whole by the oracle, a larger one whole by plain
 * loops over bytes. For the largest, windows of the grid are: columns of words over its full height and bands of rows
 * over its full width, some at the borders and some at random, so that every row and every column is looked at
 * somewhere. */
#include <stdlib.h>
#include <string.h>

#include "kernels/random.h"
#include "kernels/gol/gol.h"

/* Cell updates. */
#define SMALL 3e7
#define LARGE 2e10
enum { BYTES_N_MAX = 8192, BAND = 32 };

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
