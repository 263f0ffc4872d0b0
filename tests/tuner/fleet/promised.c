/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A budget in seconds is a promise on nodes, too: on simulated fleets, for kernels and for programs, with runs from a
 * third of a second to some seconds, and where some configurations hang. */
#include <math.h>

#include "base/json/js.h"
#include "tests/tuner/fleet/play.h"

/* The share of the budget that is used at least, because a search that ends early wastes it. */
static const double USED = 0.85;

static bool hangs(const json_t *config) {
	return js_int_or(config, "pa", 0) == 2;
}

static const struct budget_case {
	const char *name;
	size_t nodes;
	double seconds, run_s, trial_s;
	bool program, hangs, clear; /* clear: a better configuration is found and proven with any seed */
} cases[] = {
	{"a program of a second on two nodes", 2, 25, 1, 0.05, true, false, false},
	{"the same on eight", 8, 25, 1, 0.05, true, false, false},
	{"a program of three seconds on two nodes", 2, 60, 3, 0.05, true, false, false},
	{"a program of which some settings hang", 4, 60, 1, 0.05, true, true, false},
	{"a kernel on two GPUs", 2, 20, 0.02, 0.3, false, false, true},
	{"a slow kernel on two GPUs", 2, 20, 0.3, 0.5, false, false, false},
	{"a kernel of which some settings hang", 4, 120, 0.1, 0.2, false, true, true},
	{"one node", 1, 60, 0.3, 0.5, false, false, true},
	{"a hundred nodes", 100, 60, 0.3, 0.5, false, false, true},
};

/* A search and its finals leave next to nothing idle. */
static bool seconds_add_up(const json_t *result) {
	const json_t *seconds = json_object_get(result, "seconds");
	double sum = 0, elapsed = js_real_or(result, "elapsed_s", NAN), idle = js_real_or(seconds, "idle", NAN);
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)seconds, name, value) sum += json_number_value(value);
	return fabs(sum - elapsed) < 1e-6 && idle < 0.01 * elapsed && js_real_or(seconds, "measure", 0) > 0;
}

static void play(const struct budget_case *one) {
	double most = 0, least = INFINITY;
	int proven = 0;
	bool added = true;
	enum { SEEDS = 5 };
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct fleet_play asked = {.nodes = one->nodes,
		                           .seconds = one->seconds,
		                           .seed = seed,
		                           .run_s = one->run_s,
		                           .trial_s = one->trial_s,
		                           .noise = 0.01,
		                           .speed_spread = 0.1,
		                           .program = one->program,
		                           .hangs = one->hangs ? hangs : NULL};
		struct fleet_played played;
		char *path = fleet_play_at(&asked, "promised.db", &played);
		most = fmax(most, played.makespan);
		least = fmin(least, played.makespan);
		added = added && seconds_add_up(played.result);
		proven += strcmp(js_string_or(played.result, "verdict", ""), "faster") == 0;
		printf("# %s: %.1f s of %.0f, searched %.1f s, %lld evaluations, %lld pairs, %s, busy %.2f\n", one->name,
		       played.makespan, one->seconds, played.searched, (long long)fleet_played_int(&played, "evaluations"),
		       (long long)fleet_played_int(&played, "pairs"), js_string_or(played.result, "verdict", "?"),
		       js_real_or(played.result, "node_seconds_busy", 0) / js_real_or(played.result, "node_seconds", 1));
		fleet_played_clear(&played);
		unlink(path);
		free(path);
	}
	ok(most <= one->seconds + fmax(2, 0.05 * one->seconds), "%s: %.1f of %.0f s", one->name, most, one->seconds);
	ok(least >= USED * one->seconds, "the budget is used: %.1f s", least);
	ok(added, "the phases add up to the budget that was used");
	if (one->clear)
		ok(proven == SEEDS, "the budget is enough for a proof: %d of %d", proven, SEEDS);
}

int main(void) {
	fixture_begin();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		play(&cases[i]);
	return fixture_end();
}
