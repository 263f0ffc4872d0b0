/* SPDX-License-Identifier: BSD-3-Clause */
/* The oracle scatters: every living cell adds one to the counts of its eight neighbours. Three rows of counts roll over
 * the grid, so that it is done in place. */
#include <stdlib.h>
#include <string.h>

#include "kernels/gol/gol.h"

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
