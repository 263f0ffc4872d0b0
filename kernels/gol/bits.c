/* SPDX-License-Identifier: BSD-3-Clause */
/* 64 cells a word, counted with carry-save adders (Knuth, TAOCP 4A, section 7.1.3). The sums of three cells along a
 * row serve the rows above and below too, so a strip of rows keeps those of the last two rows. */
#include <string.h>

#include "kernels/gol/gol.h"

#define INLINE static inline __attribute__((always_inline))

/* For 64 cells a word: the low and the high bit of a sum of up to three cells. */
struct sums {
	uint64_t low[GOL_WORDS_MAX], high[GOL_WORDS_MAX];
};

INLINE void row_sums(const uint64_t *row, ptrdiff_t words, struct sums *restrict sums) {
	for (ptrdiff_t w = 0; w < words; w++) {
		uint64_t cell = row[w], left = cell << 1 | row[w - 1] >> 63, right = cell >> 1 | row[w + 1] << 63;
		sums->low[w] = left ^ cell ^ right;
		sums->high[w] = (left & right) | (cell & (left ^ right));
	}
}

/* above becomes the sums of the row below. With its own cell, a cell lives on at 3, or at 4 if it is alive. */
INLINE void row_step(const uint64_t *row, const uint64_t *below, uint64_t *restrict next, ptrdiff_t words,
                     struct sums *restrict above, const struct sums *restrict same) {
	for (ptrdiff_t w = 0; w < words; w++) {
		uint64_t cell = below[w], left = cell << 1 | below[w - 1] >> 63, right = cell >> 1 | below[w + 1] << 63;
		uint64_t low = left ^ cell ^ right, high = (left & right) | (cell & (left ^ right));
		uint64_t low2 = above->low[w] ^ same->low[w], high2 = above->high[w] ^ same->high[w];
		uint64_t ones = low2 ^ low, carry = (above->low[w] & same->low[w]) | (low2 & low);
		uint64_t twos = high2 ^ high, fours = (above->high[w] & same->high[w]) | (high2 & high);
		uint64_t odd_twos = twos ^ carry; /* sum = ones + 2 odd_twos + 4 (fours + (twos & carry)) */
		next[w] = (ones & odd_twos & ~fours) | (~ones & row[w] & ~odd_twos & (fours ^ (twos & carry)));
		above->low[w] = low;
		above->high[w] = high;
	}
}

INLINE void strip_step(const uint64_t *src, uint64_t *dst, size_t stride, size_t rows, size_t words, uint64_t tail) {
	struct sums sums[2], *above = &sums[0], *same = &sums[1];
	row_sums(src - stride, (ptrdiff_t)words, above);
	row_sums(src, (ptrdiff_t)words, same);
	for (size_t row = 0; row < rows; row++, src += stride, dst += stride) {
		struct sums *below = above;
		row_step(src, src + stride, dst, (ptrdiff_t)words, above, same);
		dst[words - 1] &= tail;
		above = same;
		same = below;
	}
}

/* One copy of the strip for each set of instructions. */
#define LEVEL(name, attribute)                                                                                        \
	attribute static void strip_##name(const uint64_t *src, uint64_t *dst, size_t stride, size_t rows,                \
	                                   size_t words, uint64_t tail) {                                                 \
		strip_step(src, dst, stride, rows, words, tail);                                                              \
	}

LEVEL(generic, )
#ifdef __x86_64__
LEVEL(avx2, __attribute__((target("avx2"))))
LEVEL(avx512, __attribute__((target("avx512f,avx512vl"))))

static bool avx2_usable(void) {
	return __builtin_cpu_supports("avx2");
}

static bool avx512_usable(void) {
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
}
#endif

const struct gol_bits_level gol_bits_levels[] = {
#ifdef __x86_64__
	{"avx512", avx512_usable, strip_avx512},
	{"avx2", avx2_usable, strip_avx2},
#endif
	{"generic", NULL, strip_generic},
};

static void bits_prepare(struct gol_state *state) {
	state->level = gol_bits_levels;
	while (state->level->usable && !state->level->usable())
		state->level++;
}

static void bits_load(void *row, const uint64_t *cells, size_t n) {
	memcpy(row, cells, (n + 63) / 64 * sizeof *cells);
}

static void bits_save(const void *row, uint64_t *cells, size_t n) {
	memcpy(cells, row, (n + 63) / 64 * sizeof *cells);
}

static void bits_run(struct gol_state *state) {
	const struct gol_input *input = state->input;
	size_t items = gol_items(state), strip = state->strip, stride = state->stride / sizeof(uint64_t);
	uint64_t tail = UINT64_MAX >> (input->words * 64 - input->n);
#pragma omp parallel
	for (int64_t generation = 0; generation < input->generations; generation++) {
		int now = (state->now + generation) & 1;
#pragma omp for schedule(runtime)
		for (size_t item = 0; item < items; item++) {
			size_t first = item * strip, rows = input->n - first < strip ? input->n - first : strip;
			const uint64_t *src = gol_row(state, now, (ptrdiff_t)first);
			state->level->strip(src, gol_row(state, now + 1, (ptrdiff_t)first), stride, rows, input->words, tail);
		}
	}
	state->now = (state->now + input->generations) & 1;
}

const struct gol_variant gol_bits = {
	.name = "bits",
	.summary = "64 cells a word, carry-save adders, SIMD strips of rows",
	.unit = sizeof(uint64_t),
	.cells_per_unit = 64,
	.strips = true,
	.prepare = bits_prepare,
	.load = bits_load,
	.save = bits_save,
	.run = bits_run,
};
