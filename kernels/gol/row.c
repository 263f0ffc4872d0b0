/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the cells of a problem and rows of 64 cells a word, a byte or an int a cell. */
#include <string.h>

#include "kernels/gol/gol.h"

void gol_bits_load(void *row, const uint64_t *cells, size_t n) {
	memcpy(row, cells, (n + 63) / 64 * sizeof *cells);
}

void gol_bits_save(const void *row, uint64_t *cells, size_t n) {
	memcpy(cells, row, (n + 63) / 64 * sizeof *cells);
}

void gol_bytes_load(void *row, const uint64_t *cells, size_t n) {
	uint8_t *to = row;
	for (size_t i = 0; i < n; i++)
		to[i] = cells[i / 64] >> i % 64 & 1;
}

void gol_bytes_save(const void *row, uint64_t *cells, size_t n) {
	const uint8_t *from = row;
	for (size_t i = 0; i < n; i++)
		cells[i / 64] |= (uint64_t)(from[i] != 0) << i % 64;
}

void gol_ints_load(void *row, const uint64_t *cells, size_t n) {
	int *to = row;
	for (size_t i = 0; i < n; i++)
		to[i] = cells[i / 64] >> i % 64 & 1;
}

void gol_ints_save(const void *row, uint64_t *cells, size_t n) {
	const int *from = row;
	for (size_t i = 0; i < n; i++)
		cells[i / 64] |= (uint64_t)(from[i] != 0) << i % 64;
}
