/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Game of Life: tiles of every shape and depth, the oracle by windows, figures, and refusals. */
#include "kernels/gol/gol.h"
#include "base/rng.h"
#include "tests/kernels/live.h"
#include "tests/tap.h"

enum { COUNT = 8 };

static struct live *live_gol(int n, int generations, int density) {
	char text[3][16];
	struct live *live = live_new(kernel_find("gol")->kernel);
	snprintf(text[0], sizeof *text, "%d", n);
	snprintf(text[1], sizeof *text, "%d", generations);
	snprintf(text[2], sizeof *text, "%d", density);
	live_problem(live, "n", text[0]);
	live_problem(live, "generations", text[1]);
	live_problem(live, "density", text[2]);
	if (live_open(live) != SS_OK)
		abort();
	return live;
}

static bool tiles_right(struct live *live, int depth, int block, int span) {
	char text[3][16];
	snprintf(text[0], sizeof *text, "%d", depth);
	snprintf(text[1], sizeof *text, "%d", block);
	snprintf(text[2], sizeof *text, "%d", span);
	live_config(live, 0, "variant", "temporal");
	live_config(live, 0, "depth", text[0]);
	live_config(live, 0, "block", text[1]);
	live_config(live, 0, "span", text[2]);
	bool right = live_setup(live, 0) == SS_OK && live_run(live, 0) == SS_OK && live_verify(live, 0) == SS_OK;
	if (!right)
		printf("# depth=%d block=%d span=%d: %s\n", depth, block, span, live->message);
	live_teardown(live, 0);
	return right;
}

/* Generations that no depth but 1 divides, more and fewer than the depth, halos wider than the tile and the grid. */
static void check_tiles(int n, int generations) {
	static const int depths[] = {1, 2, 3, 4, 8, 16, 63, 64}, blocks[] = {1, 2, 5, 16, 63, 64, 128, 65536};
	static const int spans[] = {1, 2, 3, 4, 5, 8, 9, 1024};
	struct live *live = live_gol(n, generations, 40);
	bool right = true;
	for (int d = 0; d < COUNT; d++)
		for (int b = 0; b < COUNT; b++) {
			live->state[0].threads = 1 + (d + b) % 3;
			live->state[0].schedule = (d + b) % 2 ? omp_sched_dynamic : omp_sched_static;
			right &= tiles_right(live, depths[d], blocks[b], spans[(d + 3 * b) % COUNT]);
		}
	ok(right, "tiles of all kinds, n=%d, %d generations", n, generations);
	live_free(live);
}

/* The same cells by both ways of the oracle. */
static void check_window(struct rng *rng) {
	int n = 1 + (int)rng_below(rng, 300), generations = 1 + (int)rng_below(rng, 80);
	struct live *live = live_gol(n, generations, 45);
	struct gol_input *input = live->input;
	struct gol_window w = {.row = rng_below(rng, input->n), .word = rng_below(rng, input->words)};
	size_t bytes = input->n * input->words * sizeof(uint64_t);
	uint64_t *cells = malloc(bytes);
	w.rows = 1 + rng_below(rng, input->n - w.row);
	w.words = 1 + rng_below(rng, input->words - w.word);
	memcpy(cells, input->cells, bytes);
	bool same = gol_evolve(cells, input->n, input->words, generations) && gol_window_evolve(input, &w);
	for (size_t row = 0; same && row < w.rows; row++)
		same = memcmp(w.cells + row * w.words, cells + (w.row + row) * input->words + w.word,
		              w.words * sizeof *cells) == 0;
	ok(same, "n=%d, %d generations: rows %zu + %zu, words %zu + %zu", n, generations, w.row, w.rows, w.word, w.words);
	free(w.cells);
	free(cells);
	live_free(live);
}

static bool wrong_after(struct live *live, size_t row, size_t word, uint64_t bits) {
	struct gol_state *state = live->state[0].memory;
	uint64_t *at = (uint64_t *)gol_row(state, state->now, (ptrdiff_t)row) + word;
	*at ^= bits;
	bool wrong = live_verify(live, 0) == SS_INCORRECT;
	*at ^= bits;
	return wrong;
}

/* Too large to be computed whole: a wrong row is found wherever it is, and so is a wrong column. */
static void check_large(const char *variant) {
	struct live *live = live_gol(8200, 9, 30);
	struct gol_input *input = live->input;
	struct rng rng;
	rng_split(&rng, 7, variant);
	live_config(live, 0, "variant", variant);
	bool right = live_setup(live, 0) == SS_OK && live_run(live, 0) == SS_OK && live_verify(live, 0) == SS_OK;
	ok(right && input->windows > 2 && input->windows <= GOL_WINDOWS_MAX, "%s is right in %d windows of a large grid",
	   variant, input->windows);
	bool row_found = right, column_found = right;
	for (int i = 0; right && i < 10; i++) {
		size_t row = rng_below(&rng, input->n), word = rng_below(&rng, input->words);
		for (int w = 0; w < input->windows; w++)
			if (input->expected[w].rows == input->n)
				row_found &= wrong_after(live, row, input->expected[w].word, 4);
			else
				column_found &= wrong_after(live, input->expected[w].row, word, 1);
	}
	ok(row_found, "%s: a wrong row is found", variant);
	ok(column_found, "%s: a wrong column is found", variant);
	ok(live_verify(live, 0) == SS_OK, "%s: and the right ones are right", variant);
	live_teardown(live, 0);
	live_free(live);
}

/* Long enough for the plain loops over bytes, and computed whole. */
static void check_medium(void) {
	struct live *live = live_gol(2000, 30, 30);
	const struct gol_input *input = live->input;
	live_config(live, 0, "variant", "bits");
	bool right = live_setup(live, 0) == SS_OK && live_run(live, 0) == SS_OK && live_verify(live, 0) == SS_OK;
	ok(right && input->windows == 1 && input->expected[0].rows == input->n && input->expected[0].words == input->words,
	   "a grid of medium size is looked at as a whole");
	live_teardown(live, 0);
	live_free(live);
}

static double figure(const struct ss_figure *figures, size_t count, const char *name) {
	for (size_t i = 0; i < count; i++)
		if (strcmp(figures[i].name, name) == 0)
			return figures[i].value;
	return -1;
}

/* A block and a blinker: 7 cells for ever. */
static void check_figures(const char *variant, double traffic) {
	struct live *live = live_gol(100, 17, 0);
	struct gol_input *input = live->input;
	struct ss_figure figures[SS_FIGURES_MAX];
	for (size_t row = 10; row < 12; row++)
		input->cells[row * input->words] = 3;
	input->cells[50 * input->words + 1] = 7 << 20;
	live_config(live, 0, "variant", variant);
	bool right = live_setup(live, 0) == SS_OK && live_run(live, 0) == SS_OK;
	struct ss_call call = live_call(live, 0);
	size_t count = live->kernel->figures(live->state[0].memory, &call, 0.5, figures, SS_FIGURES_MAX);
	ok(right && figure(figures, count, "population") == 7, "%s: the population", variant);
	ok(figure(figures, count, "rate") == 100 * 100 * 17 / 0.5 * 1e-9 &&
	       figure(figures, count, "generation") == 0.5 / 17 * 1e6,
	   "%s: the rates", variant);
	ok(figure(figures, count, "traffic") == traffic, "%s: the traffic", variant);
	ok(live->kernel->figures(live->state[0].memory, &call, 0.5, figures, 2) == 2, "%s: as many as wanted", variant);
	live_teardown(live, 0);
	live_free(live);
}

int main(void) {
	static const int sizes[] = {1, 2, 3, 17, 63, 64, 65, 127, 128, 129, 255, 330};
	struct rng rng;
	rng_split(&rng, 3, "windows");
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (int generations = 1; generations < 100; generations = generations * 4 + 3)
			check_tiles(sizes[i], generations);
	for (int i = 0; i < 40; i++)
		check_window(&rng);
	check_medium();
	check_large("bits");
	check_large("temporal");
	check_figures("int", 2 * 4 * 100 * 100);
	check_figures("simd8", 2 * 100 * 100);
	check_figures("bits", 2 * 100 * 100 / 8.0);
	check_figures("temporal", 2 * 100 * 100 / 8.0 * 3 / 17);
	return tap_done();
}
