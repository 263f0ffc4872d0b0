/* SPDX-License-Identifier: GPL-3.0-or-later */
/* quake: every variant and instruction set gives the oracle's bits, the oracle agrees with hand calculation and
 * balance, and errors are found. */
#include <math.h>

#include "kernels/quake/quake.h"
#include "tests/kernels/live.h"
#include "tests/tap.h"

static const char *const variants[] = {"serial", "rows", "collapse", "fused", "temporal"};
enum { VARIANTS = 5, SERIAL = 0, FUSED = 3, TEMPORAL = 4 };

static struct live *open_quake(const char *n, const char *steps, const char *energy) {
	struct live *live = live_new(kernel_find("quake")->kernel);
	live_problem(live, "n", n);
	live_problem(live, "steps", steps);
	live_problem(live, "energy", energy);
	if (live_open(live) != SS_OK)
		abort();
	return live;
}

static struct quake_state *state_of(struct live *live) {
	return live->state[0].memory;
}

/* Another start, for the same problem. */
static void fill(struct live *live, float value) {
	struct quake_input *input = live->input;
	for (size_t c = 0; c < input->n * input->n; c++)
		input->cells[c] = value;
}

static const struct quake_answer *answer_of(struct live *live) {
	struct quake_input *input = live->input;
	if (!input->answer.cells && !quake_oracle(input, NULL))
		abort();
	return &input->answer;
}

static bool verified(struct live *live) {
	enum ss_status status = live_verify(live, 0);
	if (status != SS_OK)
		printf("# %s: status %d: %s\n", state_of(live)->variant->name, (int)status, live->message);
	return status == SS_OK;
}

/* Twice, as a measurement does. */
static bool right(struct live *live) {
	bool good = live_setup(live, 0) == SS_OK;
	for (int pass = 0; good && pass < 2; pass++)
		good = live_run(live, 0) == SS_OK && verified(live);
	live_teardown(live, 0);
	return good;
}

static bool right_with(struct live *live, const char *name, const char *const *values) {
	bool good = true;
	for (; *values; values++) {
		live_config(live, 0, name, *values);
		good = right(live) && good;
	}
	return good;
}

static bool skips_right(struct live *live) {
	return right_with(live, "skip", (const char *const[]){"no", "yes", NULL});
}

static bool sweeps_right(struct live *live) {
	static const char *const reductions[] = {"omp", "atomic", "critical", NULL};
	bool good = true;
	for (int border = 0; border < 2; border++) {
		live_config(live, 0, "border", border ? "halo" : "branches");
		good = right_with(live, "reduction", reductions) && good;
	}
	return good;
}

static bool bands_right(struct live *live) {
	static const char *const depths[] = {"1", "2", "7", "16"}, *const blocks[] = {"1", "5", "16", "1024"};
	bool good = true;
	for (int depth = 0; depth < 4; depth++)
		for (int block = 0; block < 4; block++) {
			live_config(live, 0, "depth", depths[depth]);
			live_config(live, 0, "block", blocks[block]);
			good = skips_right(live) && good;
		}
	return good;
}

/* All parameters of a variant. */
static bool variant_right(struct live *live, int variant) {
	live_config(live, 0, "variant", variants[variant]);
	live->state[0].threads = variant == SERIAL ? 1 : live->state[0].threads;
	return variant == TEMPORAL ? bands_right(live) : variant == FUSED ? skips_right(live) : sweeps_right(live);
}

static void check_sizes(void) {
	static const char *const sizes[] = {"1", "2", "3", "17", "63", "64", "65", "128", "255", "256"};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct live *live = open_quake(sizes[i], strlen(sizes[i]) < 3 ? "21" : "9", "4");
		for (int variant = 0; variant < VARIANTS; variant++) {
			live->state[0].threads = 2;
			ok(variant_right(live, variant), "%s, n=%s", variants[variant], sizes[i]);
		}
		live_free(live);
	}
}

static void check_steps(void) {
	static const char *const steps[] = {"1", "2", "3", "16", "17"};
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		struct live *live = open_quake("66", steps[i], "4.5");
		bool good = true;
		for (int variant = 0; variant < VARIANTS; variant++)
			good = variant_right(live, variant) && good;
		ok(good, "every variant, %s steps", steps[i]);
		live_free(live);
	}
}

static void check_teams(void) {
	static const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};
	struct live *live = open_quake("100", "11", "4");
	live_config(live, 0, "depth", "7");
	live_config(live, 0, "block", "5");
	for (int variant = 1; variant < VARIANTS; variant++) {
		bool good = true;
		live_config(live, 0, "variant", variants[variant]);
		for (int threads = 1; threads <= 7; threads += 3)
			for (int kind = 0; kind < 3; kind++) {
				live->state[0].threads = threads;
				live->state[0].schedule = kinds[kind];
				live->state[0].chunk = kind;
				good = right(live) && good;
			}
		ok(good, "%s with 1, 4 and 7 threads and each schedule", variants[variant]);
	}
	live_free(live);
}

static void check_instructions(void) {
	for (const struct quake_isa *isa = quake_isas; isa->name; isa++) {
		bool good = true;
		if (!isa->usable()) {
			tap_skip(isa->name, "not on this CPU");
			continue;
		}
		for (int n = 1; n < 150; n += n < 70 ? 1 : 13)
			for (int variant = FUSED; variant <= TEMPORAL; variant++) {
				char size[16];
				snprintf(size, sizeof size, "%d", n);
				struct live *live = open_quake(size, "13", n % 2 ? "4" : "9");
				live_config(live, 0, "variant", variants[variant]);
				live_config(live, 0, "skip", n % 3 ? "yes" : "no");
				good = live_setup(live, 0) == SS_OK && good;
				state_of(live)->isa = isa;
				good = live_run(live, 0) == SS_OK && verified(live) && good;
				live_teardown(live, 0);
				live_free(live);
			}
		ok(good, "fused and temporal compiled for %s", isa->name);
	}
	ok(quake_isa_best()->usable(), "the chosen instructions are usable");
}

static void check_start(const char *what, const char *n, const char *steps, float all, size_t cell, float value) {
	struct live *live = open_quake(n, steps, "0");
	struct quake_input *input = live->input;
	fill(live, all);
	input->cells[cell] = value;
	for (int variant = 0; variant < VARIANTS; variant++)
		ok(variant_right(live, variant), "%s: %s", what, variants[variant]);
	double events = 0;
	for (int64_t step = 0; step < input->steps; step++)
		events += answer_of(live)->counts[step];
	ok(events > 0, "%s: %.0f cells fire", what, events);
	live_free(live);
}

static void check_chains(void) {
	check_start("all fire together", "67", "20", 3.99995f, 0, 3.99995f);
	check_start("all fire, step after step", "67", "20", 900.0f, 0, 900.0f);
	check_start("all but one just do not, and it does", "130", "40", 3.98f, 65 * 130 + 64, 3.99995f);
	check_start("a corner", "70", "20", 3.5f, 70 * 70 - 1, 3.99995f);
	check_start("out of a chunk to the right", "192", "2", 3.5f, 90 * 192 + 63, 3.99995f);
	check_start("out of a chunk to the left", "192", "2", 3.5f, 90 * 192 + 128, 3.99995f);
	check_start("out of the last chunk to the left", "129", "20", 3.5f, 128 * 129 + 64, 3.99995f);
	check_start("a cell among zeros", "65", "3", 0.0f, 64, 4.0f);
}

/* Three by three, only the one in the middle above 4 - EDELTA at first. By hand, in units of energy and of EDELTA (d):
 * step 1: the middle, 4 + d, fires and falls to d; its neighbours, 3.5 + d, get 1 and, above 4, lose 4: 0.5 + d.
 *         They have been pushed over, but have not fired: corners stay at 3.25 + d.
 * step 2: nothing fires, all are charged. */
static void check_push(void) {
	static const float start[9] = {3.25f, 3.5f, 3.25f, 3.5f, 4.0f, 3.5f, 3.25f, 3.5f, 3.25f};
	static const double want[9] = {3.25, 0.5, 3.25, 0.5, 0.0, 0.5, 3.25, 0.5, 3.25};
	struct live *live = open_quake("3", "2", "0");
	struct quake_input *input = live->input;
	memcpy(input->cells, start, sizeof start);
	const struct quake_answer *answer = answer_of(live);
	bool near = true;
	for (int c = 0; c < 9; c++)
		near &= fabs((double)answer->cells[c] - (want[c] + 2 * (double)QUAKE_EDELTA)) < 1e-6;
	ok(near, "the energies after a single quake, by hand");
	ok(answer->counts[0] == 1 && answer->counts[1] == 0, "one cell fires in step 1, none in step 2");
	ok(answer->released == 5 && answer->received == 4, "five cells lose 4, four get 1");
	ok(fabs(answer->means[0] - (15.0 / 9 + (double)QUAKE_EDELTA)) < 1e-6, "the mean after step 1");
	for (int variant = 0; variant < VARIANTS; variant++)
		ok(variant_right(live, variant), "a single quake: %s", variants[variant]);
	live_free(live);
}

/* A cascade: a cell that loses 4 and stays above it fires in the next step. Row by row, in units of energy:
 *     8 0 0      4+ 1 0      0 2 0
 *     0 0 0  ->  1  0 0  ->  2 0 0   and then nothing
 *     0 0 0      0  0 0      0 0 0
 * The corner, 8 + d and then 4 + 2d, fires twice. */
static void check_cascade(void) {
	static const double want[9] = {0, 2, 0, 2, 0, 0, 0, 0, 0};
	struct live *live = open_quake("3", "3", "0");
	struct quake_input *input = live->input;
	input->cells[0] = 8;
	const struct quake_answer *answer = answer_of(live);
	bool near = true;
	for (int c = 0; c < 9; c++)
		near &= fabs((double)answer->cells[c] - (want[c] + 3 * (double)QUAKE_EDELTA)) < 2e-6;
	ok(near, "the energies after a cascade, by hand");
	ok(answer->counts[0] == 1 && answer->counts[1] == 1 && answer->counts[2] == 0, "the corner fires twice");
	for (int variant = 0; variant < VARIANTS; variant++)
		ok(variant_right(live, variant), "a cascade: %s", variants[variant]);
	live_free(live);
}

static double total(const float *cells, size_t count) {
	double sum = 0;
	for (size_t c = 0; c < count; c++)
		sum += (double)cells[c];
	return sum;
}

static void check_balance(void) {
	static const char *const energies[] = {"0.4", "4", "8", "1000"};
	for (int e = 0; e < 4; e++) {
		struct live *live = open_quake("90", "50", energies[e]);
		const struct quake_input *input = live->input;
		const struct quake_answer *answer = answer_of(live);
		size_t cells = input->n * input->n;
		double before = total(input->cells, cells), after = total(answer->cells, cells), fired = 0;
		double charged = (double)cells * 50 * (double)QUAKE_EDELTA;
		double want =
			before + charged - (double)QUAKE_EMAX * answer->released + (double)QUAKE_FDELTA * answer->received;
		for (int step = 0; step < 50; step++)
			fired += answer->counts[step];
		ok(fabs(after - want) < 1e-5 * (before + charged), "energy %s: what went in and out is what changed",
		   energies[e]);
		ok(answer->received <= 4 * fired && answer->received >= 2 * fired, "energy %s: a cell gives to 2 to 4",
		   energies[e]);
		ok(fabs(answer->means[49] - after / (double)cells) < 1e-9 * answer->means[49] && (fired > 0) == (e > 0),
		   "energy %s: the mean, and quakes or none", energies[e]);
		live_free(live);
	}
}

/* "column 10" must not do for column 1. */
static bool refused(struct live *live, const char *where) {
	return live_verify(live, 0) == SS_INCORRECT && strstr(live->message, where);
}

static bool cell_found(struct live *live, size_t cell) {
	struct quake_state *s = state_of(live);
	char where[64];
	snprintf(where, sizeof where, "row %zu column %zu holds ", cell / s->input->n, cell % s->input->n);
	float *at = &quake_row(s, s->now, (ptrdiff_t)(cell / s->input->n))[cell % s->input->n], old = *at;
	*at = nextafterf(old, 5);
	bool found = refused(live, where);
	*at = NAN;
	found = refused(live, where) && found;
	*at = old;
	return found;
}

static bool value_found(struct live *live, double *value, double wrong, int step, const char *format) {
	double old = *value;
	char where[64];
	snprintf(where, sizeof where, format, step);
	*value = wrong;
	bool found = refused(live, where);
	*value = old;
	return found;
}

static void check_verify(void) {
	for (int variant = 0; variant < VARIANTS; variant++) {
		struct live *live = open_quake("65", "10", "4");
		struct quake_state *s = state_of(live);
		live_config(live, 0, "variant", variants[variant]);
		live_setup(live, 0);
		ok(live_verify(live, 0) == SS_INCORRECT, "%s: the bare input is not a result", variants[variant]);
		bool found = live_run(live, 0) == SS_OK && verified(live);
		for (size_t cell = 0; cell < 65 * 65; cell += cell % 65 == 64 ? 1 : 32)
			found = cell_found(live, cell) && found;
		ok(found, "%s: a cell that is wrong by one bit is found and named", variants[variant]);
		found = true;
		for (int step = 0; step < 10; step++) {
			found = value_found(live, &s->counts[step], s->counts[step] + 1, step, "fire in step %d,") && found;
			found = value_found(live, &s->means[step], s->means[step] * 1.00002, step, "after step %d is") && found;
			found = value_found(live, &s->means[step], NAN, step, "after step %d is") && found;
		}
		ok(found && verified(live), "%s: a wrong count and a wrong mean are found", variants[variant]);
		live_teardown(live, 0);
		live_free(live);
	}
}

static void check_figures(void) {
	struct live *live = open_quake("100", "20", "4");
	live_config(live, 0, "variant", "temporal");
	live_setup(live, 0);
	live_run(live, 0);
	const struct quake_answer *answer = answer_of(live);
	struct ss_call call = live_call(live, 0);
	struct ss_figure figures[SS_FIGURES_MAX];
	struct ss_series series[SS_SERIES_MAX];
	double events = 0;
	for (int step = 0; step < 20; step++)
		events += answer->counts[step];
	size_t count = live->kernel->figures(state_of(live), &call, 0.5, figures, SS_FIGURES_MAX);
	ok(count == 4 && strcmp(figures[0].name, "events") == 0 && figures[0].value == events && events > 0, "events");
	ok(strcmp(figures[1].name, "mean_energy") == 0 && fabs(figures[1].value - answer->means[19]) < 1e-4, "mean energy");
	ok(fabs(figures[2].value - 25000) < 1e-6 && strcmp(figures[2].unit, "us") == 0, "time of a step");
	ok(fabs(figures[3].value - 0.4) < 1e-9 && strcmp(figures[3].unit, "Mupdates/s") == 0, "updates in a second");
	ok(live->kernel->figures(state_of(live), &call, 0.5, figures, 2) == 2, "no more figures than asked for");
	ok(live->kernel->series(state_of(live), &call, series, SS_SERIES_MAX) == 2, "two series");
	ok(strcmp(series[0].name, "count") == 0 && series[0].count == 20 &&
	       memcmp(series[0].values, answer->counts, 20 * sizeof(double)) == 0,
	   "the counts of all steps");
	ok(strcmp(series[1].name, "energy") == 0 && series[1].count == 20 && series[1].values[19] == figures[1].value,
	   "the mean energies of all steps");
	live_teardown(live, 0);
	live_free(live);
}

static void check_input(void) {
	struct live *live = open_quake("200", "1", "4");
	const float *cells = ((struct quake_input *)live->input)->cells;
	bool inside = true;
	for (int c = 0; c < 40000; c++)
		inside &= cells[c] >= 0 && cells[c] < 4;
	ok(inside && fabs(total(cells, 40000) / 40000 - 2) < 0.03, "energies at the start are uniform below the upper end");
	live_free(live);
}

int main(void) {
	check_push();
	check_cascade();
	check_balance();
	check_sizes();
	check_steps();
	check_teams();
	check_instructions();
	check_chains();
	check_verify();
	check_figures();
	check_input();
	return tap_done();
}
