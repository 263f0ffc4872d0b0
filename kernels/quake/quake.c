/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table: earthquakes on a grid of random energies. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/answer.h"
#include "kernels/fail.h"
#include "kernels/pages.h"
#include "kernels/quake/quake.h"
#include "kernels/random.h"

/* The oracle scatters: a cell that fires gives to its neighbours. It shares nothing with the variants. */
static void give(float *next, double *received, bool inside, size_t cell) {
	if (!inside)
		return;
	next[cell] += QUAKE_FDELTA;
	*received += 1;
}

static double fire(const float *cur, float *next, size_t n, double *received) {
	double count = 0;
	for (size_t cell = 0; cell < n * n; cell++)
		if (cur[cell] > QUAKE_EMAX) {
			size_t row = cell / n, column = cell % n;
			give(next, received, column > 0, cell - 1);
			give(next, received, column + 1 < n, cell + 1);
			give(next, received, row > 0, cell - n);
			give(next, received, row + 1 < n, cell + n);
			count++;
		}
	return count;
}

static double settle(float *cells, size_t count, double *released) {
	double energy = 0;
	for (size_t cell = 0; cell < count; cell++) {
		if (cells[cell] > QUAKE_EMAX) {
			cells[cell] -= QUAKE_EMAX;
			*released += 1;
		}
		energy += (double)cells[cell];
	}
	return energy / (double)count;
}

static void evolve(struct quake_answer *answer, float *cur, size_t n, int64_t steps) {
	for (int64_t step = 0; step < steps; step++) {
		for (size_t cell = 0; cell < n * n; cell++)
			answer->cells[cell] += QUAKE_EDELTA;
		memcpy(cur, answer->cells, n * n * sizeof *cur);
		answer->counts[step] = fire(cur, answer->cells, n, &answer->received);
		answer->means[step] = settle(answer->cells, n * n, &answer->released);
	}
}

static void quake_answer_free(struct quake_answer *answer) {
	free(answer->cells);
	free(answer->counts);
	free(answer->means);
	*answer = (struct quake_answer){0};
}

bool quake_oracle(struct quake_input *input, const struct ss_call *call) {
	struct quake_answer *answer = &input->answer;
	size_t size = input->n * input->n * sizeof *input->cells;
	float *cur = malloc(size);
	quake_answer_free(answer);
	answer->cells = malloc(size);
	answer->counts = calloc((size_t)input->steps, sizeof *answer->counts);
	answer->means = calloc((size_t)input->steps, sizeof *answer->means);
	size_t steps = (size_t)input->steps * sizeof *answer->counts;
	const struct kernel_part parts[] = {{answer->cells, size},
	                                    {answer->counts, steps},
	                                    {answer->means, steps},
	                                    {&answer->received, sizeof answer->received},
	                                    {&answer->released, sizeof answer->released}};
	const size_t count = sizeof parts / sizeof *parts;
	bool enough = cur && answer->cells && answer->counts && answer->means;
	if (enough && !kernel_answer_recall(call, parts, count)) {
		memcpy(answer->cells, input->cells, size);
		evolve(answer, cur, input->n, input->steps);
		kernel_answer_keep(call, parts, count);
	} else if (!enough) {
		quake_answer_free(answer);
	}
	free(cur);
	return enough;
}

/* The memory of a state. Its pages are mapped afresh for every configuration, so that the first touch under that
 * configuration's team decides where they are. */

enum { RING_ROWS = 4 * (QUAKE_DEPTH_MAX - 1), ALARMS_MARGIN = 16 };

static size_t round_up(size_t x, size_t to) {
	return (x + to - 1) / to * to;
}

/* QUAKE_N_MAX keeps all of this far from overflow, the number of threads may not. */
static bool layout(struct quake_state *s, size_t *grid_bytes) {
	size_t n = s->input->n, rings = 0;
	s->columns = round_up(n, QUAKE_CHUNK);
	s->stride =
		QUAKE_LINE + s->columns * sizeof(float) + round_up(s->columns / QUAKE_CHUNK + ALARMS_MARGIN, QUAKE_LINE);
	*grid_bytes = (n + 2) * s->stride;
	s->ring_bytes = s->variant->bands ? round_up(RING_ROWS * s->stride, 4096) : 0;
	return !__builtin_mul_overflow(s->ring_bytes, (size_t)s->threads, &rings) &&
	       !__builtin_add_overflow(rings, 2 * *grid_bytes, &s->bytes);
}

/* Zeros again: it is the touch that matters. */
static void touch(struct quake_state *s) {
	ptrdiff_t n = (ptrdiff_t)s->input->n, block = s->variant->bands ? (ptrdiff_t)s->block : 1;
	for (int grid = 0; grid < 2; grid++) {
#pragma omp parallel for schedule(runtime)
		for (ptrdiff_t first = 0; first < n; first += block)
			for (ptrdiff_t i = first; i < first + block && i < n; i++)
				memset(quake_row(s, grid, i), 0, s->columns * sizeof(float));
	}
	if (!s->ring_bytes)
		return;
#pragma omp parallel num_threads(s->threads)
	memset(s->rings + (size_t)omp_get_thread_num() * s->ring_bytes, 0, s->ring_bytes);
}

/* The memory of a state, touched first by the threads that will compute it; false without memory. The load puts
 * the input into grid 0. */
static bool quake_grids_new(struct quake_state *s) {
	size_t grid_bytes;
	if (!layout(s, &grid_bytes))
		return false;
	void *pages = kernel_pages_new(s->bytes);
	if (!pages)
		return false;
	s->memory = pages;
	s->grid[0] = s->memory + s->stride + QUAKE_LINE;
	s->grid[1] = s->grid[0] + grid_bytes;
	s->rings = s->memory + 2 * grid_bytes;
	touch(s);
	return true;
}

static void quake_grids_load(struct quake_state *s) {
	ptrdiff_t n = (ptrdiff_t)s->input->n, block = s->variant->bands ? (ptrdiff_t)s->block : 1;
	s->now = 0;
#pragma omp parallel for schedule(runtime)
	for (ptrdiff_t first = 0; first < n; first += block)
		for (ptrdiff_t i = first; i < first + block && i < n; i++)
			memcpy(quake_row(s, 0, i), s->input->cells + i * n, (size_t)n * sizeof(float));
}

static void quake_grids_free(struct quake_state *s) {
	kernel_pages_free(s->memory, s->bytes);
	s->memory = NULL;
}

static const struct quake_variant *const variants[] = {&quake_serial, &quake_rows, &quake_collapse, &quake_fused,
                                                       &quake_temporal};
/* The loops of the last two are those of their instruction set. */
static const struct quake_variant *const counted[] = {&quake_serial_counted, &quake_rows_counted,
                                                      &quake_collapse_counted, &quake_fused, &quake_temporal};
#define VARIANT_NAMES "serial,rows,collapse,fused,temporal" /* the same order */

/* Energies up to QUAKE_EMAX: there are quakes from the first step on. Up to a tenth of it, as in the project, the first
 * comes after 36000 steps. */
enum { N = QUAKE_N, STEPS = QUAKE_STEPS, ENERGY = QUAKE_ENERGY };
const struct ss_param quake_problem[] = {
	[N] = {"n", "edge of the grid in cells", SS_INT, NULL, "256", NULL, 1, QUAKE_N_MAX},
	[STEPS] = {"steps", "steps in one run", SS_INT, NULL, "64", NULL, 1, QUAKE_STEPS_MAX},
	[ENERGY] = {"energy", "upper end of the energies at the start; a cell fires above 4", SS_REAL, NULL, "4", NULL, 0,
                QUAKE_ENERGY_MAX},
	{.name = NULL},
};

#define SWEEPS "variant == 'serial' or variant == 'rows' or variant == 'collapse'"
enum { VARIANT, BORDER, REDUCTION, SKIP, DEPTH, BLOCK };
static const struct ss_param params[] = {
	[VARIANT] = {"variant", "loops over the grid", SS_WORD, VARIANT_NAMES, "rows", NULL, 0, 0},
	[BORDER] = {"border", "cells outside the grid: tested for, or zeros around it", SS_WORD, "branches,halo", "halo",
                SWEEPS, 0, 0},
	[REDUCTION] = {"reduction", "how the counts and energies of the threads are combined", SS_WORD,
                   "omp,atomic,critical", "omp", "variant == 'rows' or variant == 'collapse'", 0, 0},
	[SKIP] = {"skip", "only charge chunks in which no cell fires", SS_WORD, "no,yes", "yes",
              "variant == 'fused' or variant == 'temporal'", 0, 0},
	[DEPTH] = {"depth", "steps per pass over the grid", SS_INT, "2..16*2", "4", "variant == 'temporal'", 1,
               QUAKE_DEPTH_MAX},
	[BLOCK] = {"block", "rows in a band", SS_INT, "16..1024*2", "64", "variant == 'temporal'", 1, QUAKE_BLOCK_MAX},
	{.name = NULL},
};

static const char *const constraints[] = {"variant != 'serial' or threads == 1", NULL};

/* A float holds 24 bits. */
static float uniform(uint64_t seed, uint64_t cell) {
	return (float)(kernel_random_at(seed, cell) >> 40) * 0x1p-24f;
}

enum ss_status quake_open(void *opaque, const struct ss_call *call) {
	struct quake_input *input = opaque;
	int64_t n = call->problem[N].i, steps = call->problem[STEPS].i;
	double energy = call->problem[ENERGY].r;
	*input = (struct quake_input){.n = (size_t)n, .steps = steps};
	input->cells = malloc((size_t)(n * n) * sizeof *input->cells);
	if (!input->cells)
		return kernel_fail(call, SS_NOMEM, "no memory for %d x %d cells", (int)n, (int)n);
	for (int64_t cell = 0; cell < n * n; cell++)
		input->cells[cell] = uniform(call->seed, (uint64_t)cell) * (float)energy;
	return SS_OK;
}

static void configure(struct quake_state *s, struct quake_input *input, const struct ss_call *call) {
	const struct ss_value *c = call->config;
	*s = (struct quake_state){.variant = variants[c[VARIANT].i],
	                          .input = input,
	                          .border = c[BORDER].i,
	                          .reduction = c[REDUCTION].i,
	                          .skip = c[SKIP].i,
	                          .depth = (size_t)c[DEPTH].i,
	                          .block = (size_t)c[BLOCK].i,
	                          .threads = call->threads,
	                          .isa = quake_isa_best()};
	for (size_t j = 0; j < QUAKE_CHUNK; j++) {
		s->valid[j] = -1;
		s->valid[QUAKE_CHUNK + j] = -(j < input->n % QUAKE_CHUNK);
	}
}

static enum ss_status quake_setup(void *opaque, void *input, const struct ss_call *call) {
	struct quake_state *s = opaque;
	configure(s, input, call);
	s->counts = calloc((size_t)s->input->steps, sizeof *s->counts);
	s->means = calloc((size_t)s->input->steps, sizeof *s->means);
	if (!s->counts || !s->means || !quake_grids_new(s))
		return kernel_fail(call, SS_NOMEM, "no memory for two grids of %zu x %zu cells", s->input->n, s->input->n);
	quake_grids_load(s);
	return SS_OK;
}

static void quake_reset(void *state, const struct ss_call *call) {
	(void)call;
	quake_grids_load(state);
}

void quake_tally_add(const struct quake_state *s, int64_t step, const struct quake_tally *tally) {
#pragma omp atomic
	s->counts[step] += (double)tally->count;
#pragma omp atomic
	s->means[step] += tally->energy;
}

static const struct ss_event events[] = {
	[QUAKE_CELL_UPDATES] = {"cell_updates", "cells computed; temporal computes those between bands more than once"},
	[QUAKE_CHUNKS_SKIPPED] = {"chunks_skipped",
                              "chunks of cells that were only charged because no cell fired near them"},
	{.name = NULL},
};

static void variant_run(struct quake_state *s, const struct ss_call *call) {
	const struct quake_isa *isa = s->isa;
	if (!call->events) {
		s->variant->run(s);
		return;
	}
	s->events = call->events;
	s->isa = &quake_isas_counted[isa - quake_isas];
	counted[call->config[VARIANT].i]->run(s);
	s->isa = isa;
}

static enum ss_status quake_run(void *state, const struct ss_call *call) {
	struct quake_state *s = state;
	int64_t steps = s->input->steps;
	double cells = (double)(s->input->n * s->input->n);
	for (int64_t step = 0; step < steps; step++)
		s->counts[step] = s->means[step] = 0;
	variant_run(s, call);
	for (int64_t step = 0; step < steps; step++)
		s->means[step] /= cells;
	return SS_OK;
}

static enum ss_status cells_verify(const struct quake_state *s, const struct ss_call *call) {
	size_t n = s->input->n;
	for (size_t i = 0; i < n; i++) {
		const float *found = quake_row(s, s->now, (ptrdiff_t)i), *expected = s->input->answer.cells + i * n;
		for (size_t j = 0; j < n; j++)
			if (memcmp(&found[j], &expected[j], sizeof *found) != 0)
				return kernel_wrong(call, "row %zu column %zu holds %.9g, should be %.9g", i, j, (double)found[j],
				                    (double)expected[j]);
	}
	return SS_OK;
}

enum ss_status quake_verify(void *state, const struct ss_call *call) {
	const struct quake_state *s = state;
	const struct quake_answer *answer = &s->input->answer;
	if (!answer->cells && !quake_oracle(s->input, call))
		return kernel_fail(call, SS_NOMEM, "no memory to verify %zu x %zu cells", s->input->n, s->input->n);
	for (int64_t step = 0; step < s->input->steps; step++) {
		if (s->counts[step] != answer->counts[step])
			return kernel_wrong(call, "%.0f cells fire in step %d, should be %.0f", s->counts[step], (int)step,
			                    answer->counts[step]);
		if (!(fabs(s->means[step] - answer->means[step]) <= QUAKE_TOLERANCE * answer->means[step]))
			return kernel_wrong(call, "the mean energy after step %d is %.9g, should be %.9g", (int)step,
			                    s->means[step], answer->means[step]);
	}
	return cells_verify(s, call);
}

/* The grid is read once and written once: steps in between may stay in the caches. */
struct ss_work quake_work(const struct ss_call *call) {
	double cells = call->problem[N].r * call->problem[N].r;
	return (struct ss_work){cells * call->problem[STEPS].r, 2 * sizeof(float) * cells, "cell update"};
}

size_t quake_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
                     size_t most) {
	const struct quake_state *s = state;
	int64_t steps = s->input->steps;
	double updates = (double)(s->input->n * s->input->n) * (double)steps, fired = 0;
	(void)call;
	for (int64_t step = 0; step < steps; step++)
		fired += s->counts[step];
	const struct ss_figure figures[] = {
		{"events", fired, ""},
		{"mean_energy", s->means[steps - 1], ""},
		{"time_per_step", seconds / (double)steps * 1e6, "us"},
		{"updates", updates / seconds * 1e-6, "Mupdates/s"},
	};
	size_t count = sizeof figures / sizeof *figures;
	count = count < most ? count : most;
	memcpy(out, figures, count * sizeof *figures);
	return count;
}

size_t quake_series(const void *state, const struct ss_call *call, struct ss_series *out, size_t most) {
	const struct quake_state *s = state;
	size_t steps = (size_t)s->input->steps;
	const struct ss_series series[] = {{"count", s->counts, steps}, {"energy", s->means, steps}};
	size_t count = most < 2 ? most : 2;
	(void)call;
	memcpy(out, series, count * sizeof *series);
	return count;
}

static void quake_teardown(void *state) {
	struct quake_state *s = state;
	quake_grids_free(s);
	free(s->counts);
	free(s->means);
}

void quake_close(void *opaque) {
	struct quake_input *input = opaque;
	free(input->cells);
	quake_answer_free(&input->answer);
}

const struct ss_kernel kernel_quake = {
	.abi = SS_KERNEL_ABI,
	.name = "quake",
	.summary = "Burridge-Knopoff earthquakes: a cellular automaton that fires and passes energy on",
	.flags = SS_OPENMP | SS_SCHEDULE,
	.problem = quake_problem,
	.params = params,
	.constraints = constraints,
	.schedule_when = "variant != 'serial' and variant != 'collapse'",
	.serial = "variant=serial",
	.input_size = sizeof(struct quake_input),
	.state_size = sizeof(struct quake_state),
	.open = quake_open,
	.setup = quake_setup,
	.reset = quake_reset,
	.run = quake_run,
	.verify = quake_verify,
	.work = quake_work,
	.teardown = quake_teardown,
	.close = quake_close,
	.figures = quake_figures,
	.series = quake_series,
	.events = events,
};
