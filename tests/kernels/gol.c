/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Game of Life: known patterns, borders, every set of instructions, and wrong cells are found; see also gol_tiles.c. */
#include "kernels/gol/gol.h"
#include "base/rng.h"
#include "tests/kernels/live.h"
#include "tests/tap.h"

static const char *const variants[] = {"int", "byte", "simd8", "bits", "temporal", "serial"};
enum { VARIANTS = 6 };

static bool cell(const uint64_t *cells, size_t words, size_t row, size_t column) {
	return cells[row * words + column / 64] >> column % 64 & 1;
}

/* Draws '#' at (row, column), lines ended by '|'. */
static void draw(uint64_t *cells, size_t words, size_t row, size_t column, const char *picture) {
	for (size_t c = column; *picture; picture++, c++) {
		if (*picture == '#')
			cells[row * words + c / 64] |= UINT64_C(1) << c % 64;
		if (*picture == '|') {
			row++;
			c = column - 1;
		}
	}
}

/* An empty problem, to draw in. */
static struct live *live_blank(const char *n, const char *generations, const char *density) {
	struct live *live = live_new(kernel_find("gol")->kernel);
	live_problem(live, "n", n);
	live_problem(live, "generations", generations);
	live_problem(live, "density", density);
	if (live_open(live) != SS_OK)
		abort();
	return live;
}

/* The grid after the run, as bits. Caller frees. */
static uint64_t *result(struct live *live) {
	const struct gol_state *state = live->state[0].memory;
	size_t words = state->input->words;
	uint64_t *cells = calloc(state->input->n * words, sizeof *cells);
	for (size_t row = 0; row < state->input->n; row++)
		state->variant->save(gol_row(state, state->now, (ptrdiff_t)row), cells + row * words, state->input->n);
	return cells;
}

static void becomes(const char *what, const char *n, const char *generations, size_t row, size_t column,
                    const char *before, size_t row_after, size_t column_after, const char *after) {
	struct live *live = live_blank(n, generations, "0");
	struct gol_input *input = live->input;
	size_t size = input->n * input->words * sizeof(uint64_t);
	uint64_t *want = calloc(1, size);
	draw(input->cells, input->words, row, column, before);
	draw(want, input->words, row_after, column_after, after);
	for (int v = 0; v < VARIANTS; v++) {
		live_config(live, 0, "variant", variants[v]);
		live_config(live, 0, "depth", "3");
		live_config(live, 0, "block", "35");
		live_config(live, 0, "span", "1");
		/* twice: a run must not depend on the one before */
		bool ran = live_setup(live, 0) == SS_OK && live_run(live, 0) == SS_OK && live_run(live, 0) == SS_OK;
		uint64_t *got = result(live);
		ok(ran && memcmp(got, want, size) == 0, "%s: %s, n=%s", variants[v], what, n);
		ok(live_verify(live, 0) == SS_OK, "%s: the oracle agrees", variants[v]);
		free(got);
		live_teardown(live, 0);
	}
	free(want);
	live_free(live);
}

static void check_patterns(void) {
	becomes("a blinker turns", "5", "1", 2, 1, "###", 1, 2, "#|#|#");
	becomes("a blinker turns back", "5", "2", 2, 1, "###", 2, 1, "###");
	becomes("a blinker across two words", "128", "3", 70, 63, "###", 69, 64, "#|#|#");
	becomes("a blinker loses to the border", "5", "1", 0, 1, "###", 0, 2, "#|#");
	becomes("a glider moves by one cell in 4 steps", "17", "4", 0, 0, ".#.|..#|###", 1, 1, ".#.|..#|###");
	becomes("a glider crosses words and rows", "130", "280", 0, 0, ".#.|..#|###", 70, 70, ".#.|..#|###");
	becomes("a glider ends as a block in the corner", "64", "300", 0, 0, ".#.|..#|###", 62, 62, "##|##");
	becomes("a block stays in a corner", "64", "5", 62, 62, "##|##", 62, 62, "##|##");
	becomes("a block stays in the other corner", "65", "5", 0, 63, "##|##", 0, 63, "##|##");
	becomes("one cell dies", "1", "1", 0, 0, "#", 0, 0, ".");
	becomes("two by two live on", "2", "7", 0, 0, "##|##", 0, 0, "##|##");
	becomes("a glider crosses the corner of a tile", "130", "36", 30, 58, ".#.|..#|###", 39, 67, ".#.|..#|###");
	becomes("a blinker across two tiles turns back", "128", "4", 33, 64, "#|#|#", 33, 64, "#|#|#");
	becomes("a blinker at the edge of a tile turns", "128", "7", 35, 62, "###", 34, 63, "#|#|#");
	becomes("a block lies on four tiles", "128", "10", 34, 63, "##|##", 34, 63, "##|##");
	becomes("a beehive lies on four tiles", "129", "11", 33, 126, ".#.|#.#|#.#|.#.", 33, 126, ".#.|#.#|#.#|.#.");
	becomes("no row wraps around", "64", "1", 10, 63, "#|#|#", 11, 62, "##");
	becomes("no column wraps around", "64", "1", 63, 9, "###", 62, 10, "#|#");
}

static void flip(struct gol_state *state, size_t row, size_t column) {
	size_t unit = state->variant->unit, per_unit = state->variant->cells_per_unit;
	unsigned char *at = gol_row(state, state->now, (ptrdiff_t)row);
	if (per_unit == 64)
		((uint64_t *)(void *)at)[column / 64] ^= UINT64_C(1) << column % 64;
	else
		at[column * unit] ^= 1;
}

/* Any one cell that differs is found and named. Little-endian or not: only zero and other count in int and byte. */
static void check_flips(const char *variant, const char *n) {
	struct live *live = live_blank(n, "5", "40");
	struct rng rng;
	bool found = true;
	live_config(live, 0, "variant", variant);
	bool right = live_setup(live, 0) == SS_OK && live_run(live, 0) == SS_OK && live_verify(live, 0) == SS_OK;
	struct gol_state *state = live->state[0].memory;
	rng_split(&rng, 2, variant);
	for (int i = 0; right && i < 50; i++) {
		size_t row = rng_below(&rng, state->input->n), column = rng_below(&rng, state->input->n);
		char name[64];
		flip(state, row, column);
		snprintf(name, sizeof name, "row %zu column %zu ", row, column);
		found &= live_verify(live, 0) == SS_INCORRECT && strncmp(live->message, name, strlen(name)) == 0;
		flip(state, row, column);
	}
	ok(right && found && live_verify(live, 0) == SS_OK, "%s n=%s: a flipped cell is found and named", variant, n);
	live_teardown(live, 0);
	live_free(live);
}

/* Every instruction set of this processor agrees with the oracle. */
static void check_isa(const struct gol_isa *isa, const char *variant, const char *n) {
	struct live *live = live_blank(n, "20", "35");
	live_config(live, 0, "variant", variant);
	live_config(live, 0, "span", "5");
	bool ready = live_setup(live, 0) == SS_OK;
	((struct gol_state *)live->state[0].memory)->isa = isa;
	ok(ready && live_run(live, 0) == SS_OK && live_verify(live, 0) == SS_OK, "%s with %s, n=%s", variant, isa->name, n);
	live_teardown(live, 0);
	live_free(live);
}

static void check_isas(void) {
	static const char *const sizes[] = {"1",   "2",   "3",   "17",  "63",  "64",  "65",   "127",
	                                    "128", "129", "255", "500", "512", "513", "1000", "1100"};
	for (const struct gol_isa *isa = gol_isas;; isa++) {
		bool usable = !isa->usable || isa->usable();
		if (!usable)
			tap_skip(isa->name, "not on this processor");
		for (int v = 2; usable && v < VARIANTS; v++)
			for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
				check_isa(isa, variants[v], sizes[i]);
		if (!isa->usable)
			break;
	}
}

static void check_input(void) {
	struct live *a = live_blank("200", "1", "30"), *b = live_blank("200", "1", "30");
	struct live *full = live_blank("65", "1", "100");
	const struct gol_input *first = a->input, *second = b->input, *alive = full->input;
	size_t size = first->n * first->words * sizeof(uint64_t), count = 0, all = 0;
	ok(memcmp(first->cells, second->cells, size) == 0, "the same seed gives the same cells");
	for (size_t i = 0; i < 200 * 200; i++)
		count += cell(first->cells, first->words, i / 200, i % 200);
	for (size_t i = 0; i < alive->n * alive->words; i++)
		all += (size_t)__builtin_popcountll(alive->cells[i]);
	ok(count > 11000 && count < 13000, "30 percent of the cells live: %zu of 40000", count);
	ok(all == 65 * 65, "at 100 percent all do, and none outside");
	live_free(b);
	b = live_new(a->kernel);
	live_problem(b, "n", "200");
	b->seed = 2;
	ok(live_open(b) == SS_OK && memcmp(first->cells, ((struct gol_input *)b->input)->cells, size) != 0,
	   "another seed gives others");
	live_free(a);
	live_free(b);
	live_free(full);
}

int main(void) {
	check_patterns();
	for (int v = 0; v < VARIANTS; v++) {
		check_flips(variants[v], "3");
		check_flips(variants[v], "130");
	}
	check_isas();
	check_input();
	return tap_done();
}
