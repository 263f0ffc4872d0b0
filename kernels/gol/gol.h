/* SPDX-License-Identifier: BSD-3-Clause */
/* Conway's Game of Life on n x n cells with dead borders. What the variants share: the grids and their memory. */
#ifndef KERNELS_GOL_GOL_H
#define KERNELS_GOL_GOL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernel.h"

enum { GOL_N_MAX = 65536, GOL_STRIP_MAX = 1024, GOL_WORDS_MAX = GOL_N_MAX / 64, GOL_LINE = 64 /* bytes */ };

/* One problem: 64 cells a word, bit 0 first; a row begins a new word and its unused bits are 0. */
struct gol_input {
	size_t n, words; /* words: of a row */
	int64_t generations;
	uint64_t *cells;    /* n rows */
	uint64_t *expected; /* after all generations; NULL until the first verification */
};

/* Two grids in one allocation. A row has at least one dead unit before and after it (the one after row r is the one
 * before row r + 1), and there is a dead row above the first and below the last. */
struct gol_state {
	const struct gol_variant *variant;
	struct gol_input *input; /* not owned */
	size_t strip;            /* rows in a work item */
	size_t stride;           /* bytes from one row to the next, whole cache lines */
	unsigned char *grid[2];  /* where row 0 of each begins */
	unsigned char *memory;
	int now;                 /* the grid with the current generation */
	const struct gol_bits_level *level; /* bits: the instructions to use */
};

/* A layout and the loop over it. load and save convert one row of the current grid. */
struct gol_variant {
	const char *name, *summary;
	size_t unit;           /* bytes in one element of the layout */
	size_t cells_per_unit;
	bool strips;           /* its work items are strips of rows, else single rows */
	void (*prepare)(struct gol_state *state); /* may be NULL */
	void (*load)(void *row, const uint64_t *cells, size_t n);
	void (*save)(const void *row, uint64_t *cells, size_t n); /* cells: zeroed */
	void (*run)(struct gol_state *state);
};
extern const struct gol_variant gol_int, gol_byte, gol_bits;

/* row may be -1 and n: the dead rows. */
static inline void *gol_row(const struct gol_state *state, int grid, ptrdiff_t row) {
	return state->grid[grid & 1] + row * (ptrdiff_t)state->stride;
}

static inline size_t gol_items(const struct gol_state *state) {
	return (state->input->n + state->strip - 1) / state->strip;
}

/* Both grids of a state, dead, each row first touched by the thread that will compute it; false without memory. */
bool gol_grids_new(struct gol_state *state);
/* The input becomes the current generation. */
void gol_grids_load(struct gol_state *state);

/* The bit-packed strip for one set of instructions: rows of src give rows of dst; stride in words; `tail` keeps the
 * cells of the last word. */
typedef void gol_bits_strip(const uint64_t *src, uint64_t *dst, size_t stride, size_t rows, size_t words,
                            uint64_t tail);
struct gol_bits_level {
	const char *name;
	bool (*usable)(void);
	gol_bits_strip *strip;
};
extern const struct gol_bits_level gol_bits_levels[]; /* best first; the last works everywhere: usable is NULL */

/* The oracle: `generations` steps of n rows of `words` words, in place, serially and by another method than the
 * variants. False without memory. */
bool gol_evolve(uint64_t *cells, size_t n, size_t words, int64_t generations);

#endif
