/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much time two simulated nodes save in the whole procedure, not in the search alone. */
#include <math.h>
#include <unistd.h>

#include "tests/tuner/fleet/play.h"

/* The virtual time from the first trial to the end of counting. */
static double makespan_of(size_t nodes, uint64_t evaluations, uint64_t seed) {
	static const char *const names[] = {"cycles", NULL};
	char *path = fixture_path("makespan.db");
	const struct fleet_play asked = {.nodes = nodes,
	                                 .evaluations = evaluations,
	                                 .seed = seed,
	                                 .run_s = 1,
	                                 .trial_s = 0.01,
	                                 .noise = 0.001,
	                                 .counters = names,
	                                 .store = path};
	struct fleet_played played;
	if (fleet_play(&asked, &played))
		printf("# %s\n", played.err.what);
	unlink(path);
	free(path);
	fleet_played_clear(&played);
	return played.makespan;
}

/* Ratios are averaged over seeds, because race and duel differ in length. */
static void two_nodes(void) {
	static const uint64_t evaluations[] = {24, 60};
	enum { SEEDS = 10 };
	for (size_t i = 0; i < sizeof evaluations / sizeof *evaluations; i++) {
		double sum = 0;
		for (uint64_t seed = 1; seed <= SEEDS; seed++)
			sum += log(makespan_of(1, evaluations[i], seed) / makespan_of(2, evaluations[i], seed));
		ok(exp(sum / SEEDS) > 1.9, "two nodes finish %llu evaluations, race, duel and counters %.3f times as fast",
		   (unsigned long long)evaluations[i], exp(sum / SEEDS));
	}
}

int main(void) {
	fixture_begin();
	two_nodes();
	return fixture_end();
}
