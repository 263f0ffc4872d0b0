/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A million trials on ten thousand simulated nodes, most of which fail at some time: with 1000000 as argument, as `make
 * soak` does, and otherwise a twentieth of that, which takes the same paths with as many nodes: each gets about five
 * configurations instead of a hundred, and fails as often in the shorter search. bench/fleet.py measures how many
 * results per second the coordinator handles. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/json/js.h"
#include "tests/tuner/fleet/play.h"

enum { NODES = 10000, EVALUATIONS = 50000 };

static uint64_t node_trials(const json_t *result) {
	uint64_t sum = 0;
	size_t i;
	json_t *node;
	json_array_foreach(json_object_get(result, "nodes"), i, node) sum += (uint64_t)js_int_or(node, "trials", 0);
	return sum;
}

int main(int argc, char **argv) {
	int evaluations = argc > 1 ? atoi(argv[1]) : EVALUATIONS;
	fixture_begin();
	char *path = fixture_path("million.db");
	const struct fleet_play asked = {.nodes = NODES,
	                                 .evaluations = (uint64_t)evaluations,
	                                 .seed = 1,
	                                 .run_s = 10,
	                                 .trial_s = 10,
	                                 .noise = 0.01,
	                                 .speed_spread = 0.05,
	                                 .fail_every_s = fmin(10000, evaluations / 25.0),
	                                 .away_s = 60,
	                                 .store = path};
	struct fleet_played played;
	if (fleet_play(&asked, &played))
		printf("# %s\n", played.err.what);
	struct fleet_stored stored = fleet_stored(path, played.search);
	double idle = played.searched - played.searched_busy_s / NODES;
	printf("# %llu trials in %.0f s of the nodes' time, %.0f s here: %.0f results/s\n",
	       (unsigned long long)played.tally.trials, played.makespan, played.searched_real,
	       (double)played.searched_trials / played.searched_real);
	ok(js_int_or(played.result, "evaluations", 0) == evaluations && (long long)stored.configs == evaluations - 1,
	   "%d nodes: %d evaluations, each configuration once", NODES, evaluations);
	ok(played.tally.lost > NODES / 10, "%llu jobs were lost with their nodes", (unsigned long long)played.tally.lost);
	ok(stored.all == played.tally.trials && node_trials(played.result) == stored.all,
	   "none of %llu trials is lost or stored twice", (unsigned long long)stored.all);
	ok(idle < 1000, "nodes are idle, or away, for %.0f s of the %.0f s of the search", idle, played.searched);
	fleet_played_clear(&played);
	unlink(path);
	free(path);
	return fixture_end();
}
