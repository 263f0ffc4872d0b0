/* SPDX-License-Identifier: BSD-3-Clause */
/* Several generations a pass over the grid: a tile is copied into the cache together with a halo as wide as there are
 * generations, steps on there, losing a ring of the halo each time, and its inside is copied out. Neighbouring tiles
 * compute the same halo twice and need not wait for each other (overlapped tiling: Krishnamoorthy et al., Effective
 * Automatic Parallelization of Stencil Computations, 2007; ghost zones: Meng and Skadron, Performance Modeling and
 * Automatic Ghost Zone Optimization for Iterative Stencil Loops on GPUs, 2009).
 *
 * Across, the halo is one word on each side, wide enough for 64 generations. In a private tile, row 0 of the halo is row
 * 1, and the word before the tile is word LEFT. */
#include <omp.h>
#include <string.h>

#include "kernels/gol/gol.h"

enum { WORDS_A_LINE = GOL_LINE / 8, LEFT = WORDS_A_LINE };

struct tile {
	size_t first, rows, word, words; /* its place in the grid */
	int64_t above, below;            /* where the dead rows are in the private tile */
	uint64_t *cells[2];
};

static size_t tiles_across(const struct gol_state *state) {
	return (state->input->words + state->span - 1) / state->span;
}

static struct tile tile_find(const struct gol_state *state, size_t item, size_t depth) {
	const struct gol_input *input = state->input;
	size_t across = tiles_across(state), word = item % across * state->span, first = item / across * state->strip;
	uint64_t *cells = state->tiles + (size_t)omp_get_thread_num() * state->tile_bytes / sizeof(uint64_t);
	return (struct tile){.first = first,
	                     .rows = gol_rows(state, first),
	                     .word = word,
	                     .words = input->words - word < state->span ? input->words - word : state->span,
	                     .above = (int64_t)depth - (int64_t)first,
	                     .below = (int64_t)(input->n + 1 + depth) - (int64_t)first,
	                     .cells = {cells, cells + state->tile_words}};
}

/* Dead rows that are in the tile stay dead, in both copies. */
static void dead_row(const struct gol_state *state, const struct tile *tile, int64_t row, size_t depth) {
	if (row < 0 || row > (int64_t)(tile->rows + 2 * depth + 1))
		return;
	for (int i = 0; i < 2; i++)
		memset(tile->cells[i] + (size_t)row * state->tile_stride, 0, state->tile_stride * sizeof(uint64_t));
}

static void clip(const struct tile *tile, int64_t *from, int64_t *to) {
	if (*from <= tile->above)
		*from = tile->above + 1;
	if (*to > tile->below)
		*to = tile->below;
}

/* What is outside the grid on the left and right is dead, whatever was computed there. */
static void trim(const struct gol_state *state, const struct tile *tile, uint64_t *row, int64_t rows) {
	const struct gol_input *input = state->input;
	bool left = tile->word == 0, right = input->words <= tile->word + tile->words + 1;
	size_t last = LEFT + input->words - tile->word;
	for (; (left || right) && rows > 0; rows--, row += state->tile_stride) {
		if (left)
			row[LEFT] = 0;
		if (right) {
			row[last] &= input->tail;
			row[last + 1] = 0;
		}
	}
}

static void copy_in(const struct gol_state *state, const struct tile *tile, int now, size_t depth) {
	int64_t from = 1, to = (int64_t)(tile->rows + 2 * depth + 1);
	dead_row(state, tile, tile->above, depth);
	dead_row(state, tile, tile->below, depth);
	clip(tile, &from, &to);
	for (int64_t row = from; row < to; row++) {
		const uint64_t *src = gol_row(state, now, row - tile->above - 1);
		memcpy(tile->cells[0] + (size_t)row * state->tile_stride + LEFT, src + tile->word - 1,
		       (tile->words + 2) * sizeof *src);
	}
}

static void copy_out(const struct gol_state *state, const struct tile *tile, int now, size_t depth) {
	const uint64_t *src = tile->cells[depth & 1] + (depth + 1) * state->tile_stride + LEFT + 1;
	for (size_t row = 0; row < tile->rows; row++, src += state->tile_stride)
		memcpy((uint64_t *)gol_row(state, now + 1, (ptrdiff_t)(tile->first + row)) + tile->word, src,
		       tile->words * sizeof *src);
}

static void tile_step(const struct gol_state *state, size_t item, int now, size_t depth) {
	struct tile tile = tile_find(state, item, depth);
	copy_in(state, &tile, now, depth);
	for (size_t step = 1; step <= depth; step++) {
		int64_t from = (int64_t)step + 1, to = (int64_t)(tile.rows + 2 * depth + 1 - step);
		clip(&tile, &from, &to);
		size_t at = (size_t)from * state->tile_stride;
		uint64_t *dst = tile.cells[step & 1] + at;
		state->isa->columns(tile.cells[~step & 1] + at + LEFT, dst + LEFT, state->tile_stride, (size_t)(to - from),
		                    tile.words + 2);
		trim(state, &tile, dst, to - from);
	}
	copy_out(state, &tile, now, depth);
}

int64_t gol_temporal_passes(const struct gol_state *state) {
	return (state->input->generations + (int64_t)state->depth - 1) / (int64_t)state->depth;
}

/* The generations are shared out evenly to the passes. */
static void temporal_run(struct gol_state *state) {
	int64_t passes = gol_temporal_passes(state), generations = state->input->generations;
	size_t items = gol_items(state) * tiles_across(state);
#pragma omp parallel
	for (int64_t pass = 0; pass < passes; pass++) {
		size_t depth = (size_t)(generations / passes + (pass < generations % passes));
#pragma omp for schedule(runtime)
		for (size_t item = 0; item < items; item++)
			tile_step(state, item, (state->now + pass) & 1, depth);
	}
	state->now = (state->now + passes) & 1;
}

/* A word of each row is for what is right of the last one; vectors end with a line. */
static bool temporal_prepare(struct gol_state *state) {
	const struct gol_input *input = state->input;
	size_t line = WORDS_A_LINE;
	int most = omp_get_max_threads();
	state->span = state->span < input->words ? state->span : input->words;
	state->strip = state->strip < input->n ? state->strip : input->n;
	state->tile_stride = LEFT + (state->span + 2 + line - 1) / line * line;
	state->tile_words = (state->strip + 2 * state->depth + 2) * state->tile_stride + line;
	state->tile_bytes = (2 * state->tile_words * sizeof(uint64_t) + 4095) / 4096 * 4096;
	state->threads = state->threads > most ? state->threads : most;
	state->tiles = gol_pages_new(state->tile_bytes * (size_t)state->threads);
	if (!state->tiles)
		return false;
#pragma omp parallel
	memset(state->tiles + (size_t)omp_get_thread_num() * state->tile_bytes / sizeof(uint64_t), 0, state->tile_bytes);
	return true;
}

const struct gol_variant gol_temporal = {
	.name = "temporal",
	.summary = "64 cells a word, several generations on a tile with a halo",
	.unit = sizeof(uint64_t),
	.cells_per_unit = 64,
	.prepare = temporal_prepare,
	.load = gol_bits_load,
	.save = gol_bits_save,
	.run = temporal_run,
};
