/* SPDX-License-Identifier: BSD-3-Clause */
/* Conway's Game of Life on n x n cells with dead borders. What the variants share: the grids and their memory. */
#ifndef KERNELS_GOL_GOL_H
#define KERNELS_GOL_GOL_H
#include <stdbool.h>
#include <string.h>

#include "kernels/count.h"

enum { GOL_N_MAX = 65536, GOL_WORDS_MAX = GOL_N_MAX / 64, GOL_LINE = 64 /* bytes */, GOL_GENERATIONS_MAX = 1000000 };
enum { GOL_STRIP_MAX = 1024, GOL_DEPTH_MAX = 64, GOL_BLOCK_MAX = GOL_N_MAX, GOL_SPAN_MAX = GOL_WORDS_MAX };
enum { GOL_WINDOWS_MAX = 12, GOL_KEPT = 5 };

/* The order is that of the kernel's events. */
enum { GOL_CELL_UPDATES, GOL_ITEMS };

/* A part of the last generation: 64 cells a word. */
struct gol_window {
	size_t row, rows, word, words;
	uint64_t *cells;
};

/* A problem: 64 cells a word, bit 0 first; a row begins a new word and its unused bits are 0. */
struct gol_input {
	size_t n, words; /* words: of a row */
	uint64_t tail;   /* the cells of its last word */
	int64_t generations;
	uint64_t *cells; /* n rows */
	int windows;     /* of `expected`; 0 until the first verification */
	struct gol_window expected[GOL_WINDOWS_MAX];
};

/* The vector loops of one instruction set. Rows of src give rows of dst; they write whole vectors, so the caller has
 * to clear the rest after the last cell. Strides in elements. */
struct gol_isa {
	const char *name;
	bool (*usable)(void); /* NULL: everywhere */
	void (*rows)(const uint64_t *src, uint64_t *dst, size_t stride, size_t rows, size_t words);
	/* Down a column of words, a few rows (an even number) at a time; kept: GOL_KEPT words for each of `words`, 0 or as
	 * the call for the rows above left them. Row 0 of dst is the next generation of the row above src. */
	void (*slide)(uint64_t *kept, const uint64_t *src, uint64_t *dst, size_t stride, size_t rows, size_t words);
	void (*bytes)(const uint8_t *src, uint8_t *dst, size_t stride, size_t rows, size_t n);
};
extern const struct gol_isa gol_isas[]; /* best first; the last works everywhere */

/* Two grids in one allocation. A row has at least one dead unit before and after it (the one after row r is the one
 * before row r + 1), and there is a dead row above the first and below the last. */
struct gol_state {
	const struct gol_variant *variant;
	struct gol_input *input; /* not owned */
	const struct gol_isa *isa;
	size_t strip;           /* rows in a work item */
	size_t stride;          /* bytes from one row to the next, whole cache lines */
	unsigned char *grid[2]; /* where row 0 of each begins */
	unsigned char *memory;
	size_t bytes; /* of memory */
	int now;      /* the grid with the current generation */

	/* temporal: generations in a pass, rows and words of a tile, rows in a step, and the buffers of each thread */
	size_t depth, block, span, step;
	int threads;
	uint64_t *tiles;
	size_t tile_words, tile_stride, tile_bytes;
	int64_t *events; /* ss_call's */
};

/* A layout and the loop over it. load and save convert one row of the current grid. */
struct gol_variant {
	size_t unit; /* bytes in one element of the layout */
	size_t cells_per_unit;
	bool (*prepare)(struct gol_state *state); /* may be NULL; false without memory */
	void (*load)(void *row, const uint64_t *cells, size_t n);
	void (*save)(const void *row, uint64_t *cells, size_t n); /* cells: zeroed */
	void (*run)(struct gol_state *state);
};
extern const struct gol_variant gol_int, gol_byte, gol_bits, gol_simd8, gol_temporal, gol_serial;
extern const struct gol_variant gol_int_counted, gol_byte_counted, gol_bits_counted, gol_simd8_counted,
	gol_temporal_counted, gol_serial_counted;

/* row may be -1 and n: the dead rows. */
static inline void *gol_row(const struct gol_state *state, int grid, ptrdiff_t row) {
	return state->grid[grid & 1] + row * (ptrdiff_t)state->stride;
}

static inline size_t gol_items(const struct gol_state *state) {
	return (state->input->n + state->strip - 1) / state->strip;
}

/* Rows in the item that begins with row `first`. */
static inline size_t gol_rows(const struct gol_state *state, size_t first) {
	size_t left = state->input->n - first;
	return left < state->strip ? left : state->strip;
}

static inline void gol_bits_load(void *row, const uint64_t *cells, size_t n) {
	memcpy(row, cells, (n + 63) / 64 * sizeof *cells);
}
static inline void gol_bits_save(const void *row, uint64_t *cells, size_t n) {
	memcpy(cells, row, (n + 63) / 64 * sizeof *cells);
}

/* Passes over the grid in a run of the temporal variant. */
static inline int64_t gol_temporal_passes(const struct gol_state *state) {
	return (state->input->generations + (int64_t)state->depth - 1) / (int64_t)state->depth;
}

/* The oracle: `generations` steps of n rows of `words` words, in place, serially and by another method than the
 * variants. False without memory. */
bool gol_evolve(uint64_t *cells, size_t n, size_t words, int64_t generations);
/* The same for a part of the grid only, computed from the cells that can influence it. Fills window->cells. */
bool gol_window_evolve(const struct gol_input *input, struct gol_window *window);

/* The expected last generation: all of it if that is affordable, else windows. False without memory. */
bool gol_expect(struct gol_input *input, const struct ss_call *call);
/* The rows of the current generation against it; SS_INCORRECT names the first cell that differs. */
enum ss_status gol_compare(const struct gol_state *state, const struct ss_call *call);

/* gol.c: shared with the table of another device. Its result in the host's memory is compared and measured as a
 * gol_state with input, variant (load, save and its units), grid, stride, now and depth. */
enum { GOL_N, GOL_GENERATIONS, GOL_DENSITY }; /* places in the problem */
extern const struct ss_param gol_problem[];
enum ss_status gol_open(void *input, const struct ss_call *call);
struct ss_work gol_work(const struct ss_call *call);
void gol_close(void *input);

/* See the hook in kernels/kernel.h. */
size_t gol_figures(const struct gol_state *state, double seconds, struct ss_figure *out, size_t most);
#endif
