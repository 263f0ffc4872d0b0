/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cc: every variant on every built-in graph and on graphs whose components are known; reports of a run. */
#include <stdlib.h>

#include "tests/kernels/cc_rig.h"
#include "tests/kernels/cc_shapes.h"
#include "tests/tap.h"

struct setting {
	const char *variant, *update, *link, *rounds;
};

static const struct setting settings[] = {
	{"rows", "inplace", "hook", "2"},       {"rows", "synchronous", "hook", "2"},
	{"jump", "inplace", "hook", "2"},       {"afforest", "inplace", "hook", "1"},
	{"afforest", "inplace", "hook", "2"},   {"afforest", "inplace", "hook", "4"},
	{"afforest", "inplace", "splice", "1"}, {"afforest", "inplace", "splice", "3"},
	{"serial", "inplace", "hook", "2"},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static struct cc_state *state_of(struct live *live) {
	return live->state[0].memory;
}

static void configure(struct live *live, const struct setting *setting, int threads, omp_sched_t schedule) {
	live_config(live, 0, "variant", setting->variant);
	live_config(live, 0, "update", setting->update);
	live_config(live, 0, "link", setting->link);
	live_config(live, 0, "rounds", setting->rounds);
	live->state[0].threads = threads;
	live->state[0].schedule = schedule;
}

/* Leaves the state set up, so that its labels can be looked at. */
static bool run_right(struct live *live, int runs) {
	enum ss_status status = live_setup(live, 0);
	for (int i = 0; status == SS_OK && i < runs; i++) {
		status = live_run(live, 0);
		status = status == SS_OK ? live_verify(live, 0) : status;
	}
	if (status != SS_OK)
		printf("# status %d: %s\n", (int)status, live->message);
	return status == SS_OK;
}

static bool setting_right(struct live *live, const struct setting *setting, int threads, omp_sched_t schedule) {
	configure(live, setting, threads, schedule);
	bool right = run_right(live, 2);
	live_teardown(live, 0);
	if (!right)
		printf("# %s %s %s rounds %s, %d threads\n", setting->variant, setting->update, setting->link, setting->rounds,
		       threads);
	return right;
}

static bool all_right(struct live *live) {
	bool right = true, large = input_of(live)->graph.n > 2000;
	for (int i = 0; i < SETTINGS; i++) {
		right = setting_right(live, &settings[i], large ? 2 : 3, omp_sched_dynamic) && right;
		if (!large)
			right = setting_right(live, &settings[i], 1, omp_sched_static) && right;
	}
	return right;
}

static void built_in_test(void) {
	static const char *const graphs[] = {"kmer", "rgg", "queen", "rmat"};
	static const char *const sizes[] = {"1", "2", "3", "17", "255", "1000", "20000"};
	for (size_t g = 0; g < 4; g++)
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
			struct live *live = open_built_in(graphs[g], sizes[i], i % 2 ? "0" : "4");
			ok(live_open(live) == SS_OK && all_right(live), "%s of %s, every variant", graphs[g], sizes[i]);
			live_free(live);
		}
}

static bool labels_known(struct live *live, const struct shape *shape) {
	for (int v = 0; v < shape->n; v++)
		if (state_of(live)->label[v] != shape->label(v, shape->n))
			return false;
	return true;
}

static bool shape_right(struct live *live, const struct shape *shape) {
	bool right = true;
	for (int i = 0; i < SETTINGS; i++) {
		configure(live, &settings[i], 1 + i % 3, omp_sched_guided);
		right = run_right(live, 1) && labels_known(live, shape) && right;
		live_teardown(live, 0);
	}
	return right;
}

static void shapes_test(void) {
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		struct live *live = live_new(&kernel_cc);
		struct cc_pairs pairs = {.n = shapes[i].n};
		shapes[i].join(&pairs);
		ok(cc_graph_build(&input_of(live)->graph, &pairs) == SS_OK && shape_right(live, &shapes[i]), "%s",
		   shapes[i].name);
		live_free(live);
	}
}

static void verify_test(void) {
	struct live *live = open_built_in("queen", "27", "0");
	live_open(live);
	configure(live, &settings[0], 2, omp_sched_static);
	ok(run_right(live, 1), "before the labels are spoilt");
	state_of(live)->label[5] = 4;
	ok(live_verify(live, 0) == SS_INCORRECT, "a wrong label is found");
	is_text(live->message, "vertex 5 has label 4, should be 0", "the wrong label is named");
	input_of(live)->expected[5] = 4;
	ok(live_verify(live, 0) == SS_INCORRECT, "neighbours with different labels are found, whatever the oracle says");
	is_text(live->message, "vertex 1 has label 0, a neighbour another",
	        "the first of two different neighbours is named");
	input_of(live)->expected[5] = 0;
	for (int v = 0; v < 27; v++)
		state_of(live)->label[v] = 1;
	ok(live_verify(live, 0) == SS_INCORRECT, "labels that agree but are not the smallest are found");
	is_text(live->message, "vertex 0 has label 1, should be 0", "the label that is not the smallest is named");
	live_teardown(live, 0);
	live_free(live);
}

static double figure_of(struct live *live, const char *name) {
	struct ss_figure out[SS_FIGURES_MAX];
	struct ss_call call = live_call(live, 0);
	size_t count = kernel_cc.figures(state_of(live), &call, 0.5, out, SS_FIGURES_MAX);
	for (size_t i = 0; i < count; i++)
		if (strcmp(out[i].name, name) == 0)
			return out[i].value;
	return -1;
}

/* Sum of the series and its length. */
static double series_sum(struct live *live, size_t *count) {
	struct ss_series series = {0};
	struct ss_call call = live_call(live, 0);
	double sum = 0;
	kernel_cc.series(state_of(live), &call, &series, 1);
	for (size_t i = 0; i < series.count; i++)
		sum += series.values[i];
	*count = series.count;
	return sum;
}

static void figures_right(struct live *live, const struct setting *setting) {
	const struct cc_input *input = input_of(live);
	size_t count;
	configure(live, setting, 2, omp_sched_static);
	bool right = run_right(live, 2);
	double sum = series_sum(live, &count), edges = (double)input->graph.ends / 2,
		   iterations = figure_of(live, "iterations");
	ok(right && iterations >= 1 && iterations == (double)count &&
	       figure_of(live, "time_per_iteration") == 5e5 / iterations,
	   "%s: a value of the series for each iteration", setting->variant);
	ok(figure_of(live, "edges") == edges && figure_of(live, "edges_per_s") == 1e-6 * edges / 0.5 &&
	       figure_of(live, "vertices") == 900,
	   "%s: edges and vertices", setting->variant);
	ok(figure_of(live, "components") == input->components && figure_of(live, "largest") * 900 == input->largest,
	   "%s: components", setting->variant);
	bool trees = setting->variant[0] == 'a' || setting->variant[0] == 's';
	ok(trees ? sum == 900 - input->components : sum >= 900 - input->components,
	   "%s: as many labels fall as there are vertices without a root", setting->variant);
	struct ss_call call = live_call(live, 0);
	ok(kernel_cc.figures(state_of(live), &call, 1, NULL, 0) == 0 &&
	       kernel_cc.series(state_of(live), &call, NULL, 0) == 0,
	   "%s: no room for figures", setting->variant);
	live_teardown(live, 0);
}

static void figures_test(void) {
	struct live *live = open_built_in("rgg", "900", "5");
	live_open(live);
	for (int i = 0; i < SETTINGS; i++)
		figures_right(live, &settings[i]);
	live_free(live);
}

static bool refused(const char *graph, const char *n, const char *degree, const char *why) {
	struct live *live = open_built_in(graph, n, degree);
	bool right = live_open(live) == SS_INVALID && strstr(live->message, why);
	if (!right)
		printf("# %s\n", live->message);
	live_free(live);
	return right;
}

static void refusals_test(void) {
	ok(refused("nothing", "10", "0", "kmer, rgg, queen and rmat are built in"), "an unknown word");
	ok(refused("", "10", "0", "built in"), "no word at all");
	struct live *live = open_built_in("missing.graph", "10", "0");
	struct ss_work work = live_work(live, 0);
	ok(work.ops == 0 && work.bytes == 0 && work.op, "the work on a file is not known");
	live_free(live);
}

int main(void) {
	shapes_test();
	verify_test();
	figures_test();
	refusals_test();
	built_in_test();
	return tap_done();
}
