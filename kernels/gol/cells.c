/* SPDX-License-Identifier: BSD-3-Clause */
/* The variants that go over the whole grid once a generation: an int a cell as it is first written, with and without
 * OpenMP; a byte a cell with rows that the compiler vectorises, or with explicit vectors that walk down a strip of rows
 * with the sums of three in registers; 64 cells a word, vectors of words, row after row in strips. */
#include "kernels/gol/gol.h"

static void bytes_load(void *row, const uint64_t *cells, size_t n) {
	uint8_t *to = row;
	for (size_t i = 0; i < n; i++)
		to[i] = cells[i / 64] >> i % 64 & 1;
}

static void bytes_save(const void *row, uint64_t *cells, size_t n) {
	const uint8_t *from = row;
	for (size_t i = 0; i < n; i++)
		cells[i / 64] |= (uint64_t)(from[i] != 0) << i % 64;
}

static void ints_load(void *row, const uint64_t *cells, size_t n) {
	int *to = row;
	for (size_t i = 0; i < n; i++)
		to[i] = cells[i / 64] >> i % 64 & 1;
}

static void ints_save(const void *row, uint64_t *cells, size_t n) {
	const int *from = row;
	for (size_t i = 0; i < n; i++)
		cells[i / 64] |= (uint64_t)(from[i] != 0) << i % 64;
}

static void int_row(const struct gol_state *state, ptrdiff_t i) {
	ptrdiff_t n = (ptrdiff_t)state->input->n;
	const int *above = gol_row(state, state->now, i - 1), *row = gol_row(state, state->now, i);
	const int *below = gol_row(state, state->now, i + 1);
	int *next = gol_row(state, state->now + 1, i);
	for (ptrdiff_t j = 0; j < n; j++) {
		int neighbours =
			above[j - 1] + above[j] + above[j + 1] + row[j - 1] + row[j + 1] + below[j - 1] + below[j] + below[j + 1];
		next[j] = neighbours == 3 || (neighbours == 2 && row[j]);
	}
	KERNEL_COUNT(state->events, GOL_CELL_UPDATES, n);
	KERNEL_COUNT(state->events, GOL_ITEMS, 1);
}

/* The baseline. */
static void int_run(struct gol_state *state) {
	ptrdiff_t n = (ptrdiff_t)state->input->n;
	for (int64_t generation = 0; generation < state->input->generations; generation++, state->now ^= 1) {
#pragma omp parallel for schedule(runtime)
		for (ptrdiff_t i = 0; i < n; i++)
			int_row(state, i);
	}
}

/* Speedups are over its time. */
static void serial_run(struct gol_state *state) {
	ptrdiff_t n = (ptrdiff_t)state->input->n;
	for (int64_t generation = 0; generation < state->input->generations; generation++, state->now ^= 1)
		for (ptrdiff_t i = 0; i < n; i++)
			int_row(state, i);
}

/* 3 neighbours, or 2 and alive: exactly then neighbours | alive is 3. */
static void byte_row(const uint8_t *above, const uint8_t *row, const uint8_t *below, uint8_t *next, ptrdiff_t n) {
	for (ptrdiff_t j = 0; j < n; j++) {
		uint8_t neighbours =
			above[j - 1] + above[j] + above[j + 1] + row[j - 1] + row[j + 1] + below[j - 1] + below[j] + below[j + 1];
		next[j] = (neighbours | row[j]) == 3;
	}
}

static void byte_run(struct gol_state *state) {
	ptrdiff_t n = (ptrdiff_t)state->input->n;
	int64_t generations = state->input->generations;
#pragma omp parallel
	for (int64_t generation = 0; generation < generations; generation++) {
		int now = (state->now + generation) & 1;
#pragma omp for schedule(runtime)
		for (ptrdiff_t i = 0; i < n; i++) {
			byte_row(gol_row(state, now, i - 1), gol_row(state, now, i), gol_row(state, now, i + 1),
			         gol_row(state, now + 1, i), n);
			KERNEL_COUNT(state->events, GOL_CELL_UPDATES, n);
			KERNEL_COUNT(state->events, GOL_ITEMS, 1);
		}
	}
	state->now = (state->now + generations) & 1;
}

/* All generations, one after the other; a strip of rows from `first` on is an item of work. */
typedef void strip_step(const struct gol_state *state, int now, size_t first);
static void strips_run(struct gol_state *state, strip_step *step) {
	size_t items = gol_items(state);
	int64_t generations = state->input->generations;
#pragma omp parallel
	for (int64_t generation = 0; generation < generations; generation++) {
#pragma omp for schedule(runtime)
		for (size_t item = 0; item < items; item++)
			step(state, (state->now + generation) & 1, item * state->strip);
	}
	state->now = (state->now + generations) & 1;
}

static void bytes_step(const struct gol_state *state, int now, size_t first) {
	size_t rows = gol_rows(state, first), n = state->input->n, over = -n % GOL_LINE;
	uint8_t *dst = gol_row(state, now + 1, (ptrdiff_t)first);
	state->isa->bytes(gol_row(state, now, (ptrdiff_t)first), dst, state->stride, rows, n);
	for (size_t row = 0; row < rows; row++, dst += state->stride)
		memset(dst + n, 0, over);
	KERNEL_COUNT(state->events, GOL_CELL_UPDATES, rows * n);
	KERNEL_COUNT(state->events, GOL_ITEMS, 1);
}

static void simd8_run(struct gol_state *state) {
	strips_run(state, bytes_step);
}

static void bits_step(const struct gol_state *state, int now, size_t first) {
	const struct gol_input *input = state->input;
	size_t rows = gol_rows(state, first), words = input->words, stride = state->stride / sizeof(uint64_t);
	uint64_t *dst = gol_row(state, now + 1, (ptrdiff_t)first);
	state->isa->rows(gol_row(state, now, (ptrdiff_t)first), dst, stride, rows, words);
	for (size_t row = 0; row < rows; row++, dst += stride) {
		dst[words - 1] &= input->tail;
		for (size_t word = words; word % 8; word++)
			dst[word] = 0;
	}
	KERNEL_COUNT(state->events, GOL_CELL_UPDATES, rows * input->n);
	KERNEL_COUNT(state->events, GOL_ITEMS, 1);
}

static void bits_run(struct gol_state *state) {
	strips_run(state, bits_step);
}

const struct gol_variant KERNEL_COUNTED(gol_int) = {
	.unit = sizeof(int), .cells_per_unit = 1, .load = ints_load, .save = ints_save, .run = int_run};
const struct gol_variant KERNEL_COUNTED(gol_serial) = {
	.unit = sizeof(int), .cells_per_unit = 1, .load = ints_load, .save = ints_save, .run = serial_run};
const struct gol_variant KERNEL_COUNTED(gol_byte) = {
	.unit = sizeof(uint8_t), .cells_per_unit = 1, .load = bytes_load, .save = bytes_save, .run = byte_run};
const struct gol_variant KERNEL_COUNTED(gol_simd8) = {
	.unit = sizeof(uint8_t), .cells_per_unit = 1, .load = bytes_load, .save = bytes_save, .run = simd8_run};
const struct gol_variant KERNEL_COUNTED(gol_bits) = {
	.unit = sizeof(uint64_t), .cells_per_unit = 64, .load = gol_bits_load, .save = gol_bits_save, .run = bits_run};
