/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A million trials on ten thousand simulated nodes, most of which fail at some time. bench/fleet.py measures how many
 * results per second the coordinator handles. */
#include <config.h>

#include <math.h>
#include <unistd.h>

#include "src/base/json/js.h"
#include "tests/tuner/fleet/play.h"

enum { NODES = 10000, EVALUATIONS = 1000000 };

static uint64_t node_trials(const json_t *result) {
	uint64_t sum = 0;
	size_t i;
	json_t *node;
	json_array_foreach(json_object_get(result, "nodes"), i, node) sum += (uint64_t)js_int_or(node, "trials", 0);
	return sum;
}

int main(void) {
	fixture_begin();
	char *path = fixture_path("million.db");
	const struct fleet_play asked = {.nodes = NODES,
	                                 .evaluations = EVALUATIONS,
	                                 .seed = 1,
	                                 .run_s = 10,
	                                 .trial_s = 10,
	                                 .noise = 0.01,
	                                 .speed_spread = 0.05,
	                                 .fail_every_s = 10000,
	                                 .away_s = 60,
	                                 .store = path};
	struct fleet_played played;
	if (fleet_play(&asked, &played))
		printf("# %s\n", played.err.what);
	struct fleet_stored stored = fleet_stored(path, played.search);
	double efficiency = played.searched_busy_s / (NODES * played.searched);
	printf("# %llu trials in %.0f s of the nodes' time, %.0f s here: %.0f results/s\n",
	       (unsigned long long)played.tally.trials, played.makespan, played.searched_real,
	       (double)played.searched_trials / played.searched_real);
	ok(js_int_or(played.result, "evaluations", 0) == EVALUATIONS && stored.configs == EVALUATIONS - 1,
	   "%d nodes: a million evaluations, each configuration once", NODES);
	ok(played.tally.lost > NODES / 10, "%llu jobs were lost with their nodes", (unsigned long long)played.tally.lost);
	ok(stored.all == played.tally.trials && node_trials(played.result) == stored.all,
	   "none of %llu trials is lost or stored twice", (unsigned long long)stored.all);
	ok(efficiency > 0.9, "nodes are busy %.1f %% of the search", 100 * efficiency);
	fleet_played_clear(&played);
	unlink(path);
	free(path);
	return fixture_end();
}
