/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search on a simulated fleet in which the coordinator's own work takes the time that it takes.
 * fleet_api NODES TRIALS STRATEGY RUN_SECONDS STORE: each line has the name, value and unit of a figure. */
#include <config.h>

#include <stdlib.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "tests/tuner/fleet/play.h"

int main(int argc, char **argv) {
	if (argc != 6)
		return 2;
	struct fleet_play play = {.nodes = strtoul(argv[1], NULL, 10),
	                          .evaluations = strtoull(argv[2], NULL, 10),
	                          .strategy = argv[3],
	                          .run_s = strtod(argv[4], NULL),
	                          .store = argv[5],
	                          .seed = 1,
	                          .noise = 0.01,
	                          .speed_spread = 0.05,
	                          .clock = sys_now};
	struct fleet_played played;
	double begun = sys_now();
	play.trial_s = play.run_s;
	if (fleet_play(&play, &played))
		fprintf(stderr, "%s\n", played.err.what);
	double nodes = (double)play.nodes;
	printf("trials\t%llu\t\n", (unsigned long long)played.searched_trials);
	printf("efficiency\t%.4f\t\n", played.searched_busy_s / (nodes * played.searched));
	printf("search\t%.1f\ts\n", played.searched);
	printf("coordinator\t%.2f\ts\n", played.searched_real);
	printf("results\t%.0f\t/s\n", (double)played.searched_trials / played.searched_real);
	printf("finals\t%.1f\ts\n", played.makespan - played.searched);
	printf("finals_coordinator\t%.2f\ts\n", sys_now() - begun - played.searched_real);
	fleet_played_clear(&played);
	return played.err.code != 0;
}
