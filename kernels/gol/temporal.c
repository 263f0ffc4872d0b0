/* SPDX-License-Identifier: BSD-3-Clause */
/* Several generations a pass over the grid: a tile is as tall as one likes and is computed from the top to the bottom,
 * a few rows at a time, every generation one row behind the one before it (time skewing: Wonnacott, Achieving Scalable
 * Locality with Time Skewing, 2002; wavefronts: Wellein et al., Efficient Temporal Blocking for Stencil Computations by
 * Multicore-Aware Wavefront Parallelization, 2009). The rows of a step go back and forth between two buffers in the
 * first-level cache; the sums of its last two rows, which a generation needs from the step before, are kept for each of
 * them.
 *
 * Tiles need not wait for each other, since they compute what they need of their neighbours once more (overlapped
 * tiling: Krishnamoorthy et al., Effective Automatic Parallelization of Stencil Computations, 2007): `depth` rows above
 * and below, and across a word on each side, wide enough for 64 generations. In a buffer, the word before the tile is
 * word LEFT. */
#include "kernels/pages.h"
#include "kernels/gol/gol.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { WORDS_A_LINE = GOL_LINE / 8, LEFT = WORDS_A_LINE };
enum { STEP_BYTES = 24 << 10, STEP_MIN = 4, STEP_MAX = 16, STREAM_BYTES = 32 << 20 };

struct tile {
	ptrdiff_t first, end; /* its rows */
	size_t word, words;   /* its columns */
	size_t depth;
	uint64_t *cells[2], *kept;
};

static size_t tiles_across(const struct gol_state *state) {
	return (state->input->words + state->span - 1) / state->span;
}

static size_t tiles_down(const struct gol_state *state) {
	return (state->input->n + state->block - 1) / state->block;
}

/* Rows of one generation. */
static size_t kept_words(const struct gol_state *state) {
	return (state->tile_stride - LEFT) * GOL_KEPT;
}

static struct tile tile_find(const struct gol_state *state, size_t item, size_t depth) {
	const struct gol_input *input = state->input;
	size_t across = tiles_across(state), word = item % across * state->span, first = item / across * state->block;
	size_t rows = input->n - first < state->block ? input->n - first : state->block;
	uint64_t *cells = state->tiles + (size_t)omp_get_thread_num() * state->tile_bytes / sizeof(uint64_t);
	return (struct tile){.first = (ptrdiff_t)first,
	                     .end = (ptrdiff_t)(first + rows),
	                     .word = word,
	                     .words = input->words - word < state->span ? input->words - word : state->span,
	                     .depth = depth,
	                     .cells = {cells, cells + state->tile_words},
	                     .kept = cells + 2 * state->tile_words};
}

/* Copies from the grid, with a word on each side; rows outside are dead. */
static void copy_in(const struct gol_state *state, const struct tile *tile, int now, ptrdiff_t row) {
	uint64_t *dst = tile->cells[0] + LEFT;
	for (size_t i = 0; i < state->step; i++, row++, dst += state->tile_stride)
		if (row >= 0 && row < (ptrdiff_t)state->input->n)
			memcpy(dst, (const uint64_t *)gol_row(state, now, row) + tile->word - 1, (tile->words + 2) * sizeof *dst);
		else
			memset(dst, 0, (tile->words + 2) * sizeof *dst);
}

/* Whole lines past the caches. Returns the words that are done. */
static size_t stream(uint64_t *dst, const uint64_t *src, size_t words) {
	size_t word = 0;
#if defined(__SSE2__)
	for (; (uintptr_t)dst % GOL_LINE == 0 && word + 2 <= words / WORDS_A_LINE * WORDS_A_LINE; word += 2)
		_mm_stream_si128((__m128i *)(dst + word), _mm_loadu_si128((const __m128i *)(src + word)));
#endif
	return word;
}

static void stream_end(void) {
#if defined(__SSE2__)
	_mm_sfence();
#endif
}

/* Grids that no cache holds until the next pass need not go through it. */
static void copy_out(const struct gol_state *state, const struct tile *tile, int now, ptrdiff_t row) {
	const uint64_t *src = tile->cells[tile->depth & 1] + LEFT + 1;
	for (size_t i = 0; i < state->step; i++, row++, src += state->tile_stride)
		if (row >= tile->first && row < tile->end) {
			uint64_t *dst = (uint64_t *)gol_row(state, now + 1, row) + tile->word;
			size_t done = state->bytes < STREAM_BYTES ? 0 : stream(dst, src, tile->words);
			memcpy(dst + done, src + done, (tile->words - done) * sizeof *src);
		}
}

static void trim_sides(const struct gol_state *state, const struct tile *tile, uint64_t *cells) {
	const struct gol_input *input = state->input;
	bool left = tile->word == 0, right = input->words <= tile->word + tile->words + 1;
	size_t last = LEFT + input->words - tile->word;
	for (size_t i = 0; (left || right) && i < state->step; i++, cells += state->tile_stride) {
		if (left)
			cells[LEFT] = 0;
		if (right) {
			cells[last] &= input->tail;
			cells[last + 1] = 0;
		}
	}
}

/* Cells outside the grid are dead, whatever was computed there. */
static void trim(const struct gol_state *state, const struct tile *tile, uint64_t *cells, ptrdiff_t row) {
	ptrdiff_t n = (ptrdiff_t)state->input->n, end = row + (ptrdiff_t)state->step;
	trim_sides(state, tile, cells);
	for (; (row < 0 || end > n) && row < end; row++, cells += state->tile_stride)
		if (row < 0 || row >= n)
			memset(cells + LEFT, 0, (tile->words + 2) * sizeof *cells);
}

/* A step of the tile. In generation g, which is g rows behind, rows from above + g on are valid; `above` is the
 * first of generation 0. */
static void tile_step(const struct gol_state *state, const struct tile *tile, int now, ptrdiff_t row, ptrdiff_t above) {
	size_t useful = (size_t)(row - above + (ptrdiff_t)state->step + 1) / 2;
	size_t last = useful < tile->depth ? useful : tile->depth;
	copy_in(state, tile, now, row);
	for (size_t g = 1; g <= last; g++) {
		uint64_t *dst = tile->cells[g & 1];
		state->isa->slide(tile->kept + (g - 1) * kept_words(state), tile->cells[~g & 1] + LEFT, dst + LEFT,
		                  state->tile_stride, state->step, tile->words + 2);
		trim(state, tile, dst, row - (ptrdiff_t)g);
	}
	if (last == tile->depth)
		copy_out(state, tile, now, row - (ptrdiff_t)last);
	KERNEL_COUNT(state->events, GOL_CELL_UPDATES, last * state->step * (tile->words + 2) * 64);
}

static void tile_pass(const struct gol_state *state, size_t item, int now, size_t depth) {
	struct tile tile = tile_find(state, item, depth);
	ptrdiff_t above = tile.first - (ptrdiff_t)depth;
	memset(tile.kept, 0, depth * kept_words(state) * sizeof *tile.kept);
	for (ptrdiff_t row = above < 0 ? 0 : above; row < tile.end + (ptrdiff_t)depth; row += (ptrdiff_t)state->step)
		tile_step(state, &tile, now, row, above);
	stream_end();
	KERNEL_COUNT(state->events, GOL_ITEMS, 1);
}

/* The generations are shared out evenly to the passes. */
static void temporal_run(struct gol_state *state) {
	int64_t passes = gol_temporal_passes(state), generations = state->input->generations;
	size_t items = tiles_down(state) * tiles_across(state);
#pragma omp parallel
	for (int64_t pass = 0; pass < passes; pass++) {
		size_t depth = (size_t)(generations / passes + (pass < generations % passes));
#pragma omp for schedule(runtime)
		for (size_t item = 0; item < items; item++)
			tile_pass(state, item, (state->now + pass) & 1, depth);
	}
	state->now = (state->now + passes) & 1;
}

/* The most rows for which both buffers stay in the first-level cache. */
static size_t step_rows(size_t stride) {
	size_t rows = STEP_BYTES / (2 * stride * sizeof(uint64_t)) / 2 * 2;
	return rows < STEP_MIN ? STEP_MIN : rows > STEP_MAX ? STEP_MAX : rows;
}

/* Each row has a word beyond its last one; vectors end with a line. */
static bool temporal_prepare(struct gol_state *state) {
	const struct gol_input *input = state->input;
	size_t line = WORDS_A_LINE, threads = (size_t)omp_get_max_threads(), share = (input->n + threads - 1) / threads;
	state->span = state->span < input->words ? state->span : input->words;
	state->block = state->block < input->n ? state->block : input->n;
	state->strip = state->block < share ? state->block : share;
	state->tile_stride = LEFT + (state->span + 2 + line - 1) / line * line;
	state->step = step_rows(state->tile_stride);
	state->tile_words = state->step * state->tile_stride + line;
	size_t words = 2 * state->tile_words + state->depth * kept_words(state);
	state->tile_bytes = (words * sizeof(uint64_t) + 4095) / 4096 * 4096;
	state->threads = state->threads > (int)threads ? state->threads : (int)threads;
	state->tiles = kernel_pages_new(state->tile_bytes * (size_t)state->threads);
	if (!state->tiles)
		return false;
#pragma omp parallel
	memset(state->tiles + (size_t)omp_get_thread_num() * state->tile_bytes / sizeof(uint64_t), 0, state->tile_bytes);
	return true;
}

const struct gol_variant KERNEL_COUNTED(gol_temporal) = {.unit = sizeof(uint64_t),
                                                         .cells_per_unit = 64,
                                                         .prepare = temporal_prepare,
                                                         .load = gol_bits_load,
                                                         .save = gol_bits_save,
                                                         .run = temporal_run};
