/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels/gol/gol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct gol_variant *const variants[] = {
	&gol_int,
	&gol_byte,
	&gol_bits,
};
#define VARIANT_NAMES "int,byte,bits" /* the same order */
enum { VARIANTS = sizeof variants / sizeof *variants };

enum { N, GENERATIONS, DENSITY };
static const struct ss_param problem[] = {
	[N] = {"n", "edge of the grid in cells", SS_INT, NULL, "1024", NULL, 1, GOL_N_MAX},
	[GENERATIONS] = {"generations", "steps in one run", SS_INT, NULL, "10", NULL, 1, 1e6},
	[DENSITY] = {"density", "living cells at the start in percent", SS_INT, NULL, "30", NULL, 0, 100},
	{.name = NULL},
};

enum { VARIANT, STRIP };
static const struct ss_param params[] = {
	[VARIANT] = {"variant", "layout of the cells and the loop over them", SS_WORD, VARIANT_NAMES, "int", NULL, 0, 0},
	[STRIP] = {"strip", "rows in a work item", SS_INT, "1..64*4", "16", "variant == 'bits'", 1, GOL_STRIP_MAX},
	{.name = NULL},
};

/* SplitMix64 (Steele, Lea, Flood 2014) as a hash of the cell's number. */
static bool born(uint64_t seed, uint64_t cell, int64_t percent) {
	uint64_t z = seed + (cell + 1) * UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return ((z ^ z >> 31) >> 32) * 100 < (uint64_t)percent << 32;
}

static enum ss_status gol_open(void *opaque, const struct ss_call *call) {
	struct gol_input *input = opaque;
	size_t n = (size_t)call->problem[N].i;
	if (n < 1 || n > GOL_N_MAX)
		return SS_INVALID;
	*input = (struct gol_input){.n = n, .words = (n + 63) / 64, .generations = call->problem[GENERATIONS].i};
	input->cells = calloc(n * input->words, sizeof *input->cells);
	if (!input->cells)
		return SS_NOMEM;
	for (size_t row = 0; row < n; row++)
		for (size_t i = 0; i < n; i++)
			input->cells[row * input->words + i / 64] |=
				(uint64_t)born(call->seed, row * n + i, call->problem[DENSITY].i) << i % 64;
	return SS_OK;
}

static enum ss_status gol_setup(void *opaque, void *input, const struct ss_call *call) {
	struct gol_state *state = opaque;
	int64_t variant = call->config[VARIANT].i, strip = call->config[STRIP].i;
	if (variant < 0 || variant >= VARIANTS || strip < 1 || strip > GOL_STRIP_MAX) {
		snprintf(call->message, call->message_size, "strip must be in 1..%d and the variant known", GOL_STRIP_MAX);
		return SS_INVALID;
	}
	*state = (struct gol_state){.variant = variants[variant], .input = input};
	state->strip = state->variant->strips ? (size_t)strip : 1;
	if (state->variant->prepare)
		state->variant->prepare(state);
	return gol_grids_new(state) ? SS_OK : SS_NOMEM;
}

static void gol_reset(void *state, const struct ss_call *call) {
	(void)call;
	gol_grids_load(state);
}

static enum ss_status gol_run(void *opaque, const struct ss_call *call) {
	struct gol_state *state = opaque;
	(void)call;
	state->variant->run(state);
	return SS_OK;
}

static enum ss_status expect(struct gol_input *input) {
	size_t count = input->n * input->words;
	uint64_t *cells = malloc(count * sizeof *cells);
	if (!cells)
		return SS_NOMEM;
	memcpy(cells, input->cells, count * sizeof *cells);
	if (!gol_evolve(cells, input->n, input->words, input->generations)) {
		free(cells);
		return SS_NOMEM;
	}
	input->expected = cells;
	return SS_OK;
}

static enum ss_status differ(const struct gol_input *input, size_t row, const uint64_t *found,
                             const struct ss_call *call) {
	const uint64_t *expected = input->expected + row * input->words;
	for (size_t word = 0; word < input->words; word++)
		if (found[word] != expected[word]) {
			int bit = __builtin_ctzll(found[word] ^ expected[word]);
			bool alive = found[word] >> bit & 1;
			snprintf(call->message, call->message_size, "row %zu column %zu is %s, should be %s", row,
			         word * 64 + (size_t)bit, alive ? "alive" : "dead", alive ? "dead" : "alive");
			return SS_INCORRECT;
		}
	return SS_OK;
}

static enum ss_status gol_verify(void *opaque, const struct ss_call *call) {
	const struct gol_state *state = opaque;
	struct gol_input *input = state->input;
	enum ss_status status = input->expected ? SS_OK : expect(input);
	for (size_t row = 0; row < input->n && status == SS_OK; row++) {
		uint64_t found[GOL_WORDS_MAX] = {0};
		state->variant->save(gol_row(state, state->now, (ptrdiff_t)row), found, input->n);
		status = differ(input, row, found, call);
	}
	return status;
}

/* At least one bit a cell is read once and written once: generations in between may stay in the caches. */
static struct ss_work gol_work(const struct ss_call *call) {
	double cells = call->problem[N].r * call->problem[N].r;
	return (struct ss_work){cells * call->problem[GENERATIONS].r, cells / 4, "cell update"};
}

static void gol_teardown(void *state) {
	free(((struct gol_state *)state)->memory);
}

static void gol_close(void *opaque) {
	struct gol_input *input = opaque;
	free(input->cells);
	free(input->expected);
}

const struct ss_kernel kernel_gol = {
	.abi = SS_KERNEL_ABI,
	.name = "gol",
	.summary = "Game of Life: a stencil over cells with dead borders",
	.flags = SS_OPENMP | SS_SCHEDULE,
	.problem = problem,
	.params = params,
	.input_size = sizeof(struct gol_input),
	.state_size = sizeof(struct gol_state),
	.open = gol_open,
	.setup = gol_setup,
	.reset = gol_reset,
	.run = gol_run,
	.verify = gol_verify,
	.work = gol_work,
	.teardown = gol_teardown,
	.close = gol_close,
};
