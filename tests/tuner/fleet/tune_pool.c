/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole procedure on simulated fleets: all trials accounted for, nodes of different speed, bad nodes found, blocks
 * on one node only, losses repeated. */
#include "base/json/js.h"
#include "tests/tuner/fleet/play.h"

static const char *state_of(const struct fleet_played *played, size_t node) {
	return js_string_or(fleet_played_node(played, node), "state", "?");
}

static const char *reason_of(const struct fleet_played *played, size_t node) {
	return js_string_or(fleet_played_node(played, node), "reason", "");
}

static uint64_t node_trials(const struct fleet_played *played) {
	uint64_t sum = 0;
	size_t i;
	json_t *node;
	json_array_foreach(json_object_get(played->result, "nodes"), i, node) sum += (uint64_t)js_int_or(node, "trials", 0);
	return sum;
}

/* The true speedup of the recommendation over the baseline. */
static double gain_of(const struct fleet_played *played, const struct fleet_play *play) {
	const json_t *best = json_object_get(json_object_get(played->result, "best"), "config");
	const json_t *baseline = json_object_get(json_object_get(played->result, "baseline"), "config");
	return fleet_play_seconds(baseline, play->run_s) / fleet_play_seconds(best, play->run_s);
}

static double ratio_of(const struct fleet_played *played) {
	return js_real_or(json_object_get(played->result, "speedup"), "ratio", NAN);
}

static void plain(void) {
	struct fleet_play asked = fleet_play_small(NULL);
	struct fleet_played played, again;
	asked.speed_spread = 0.3;
	char *path = fleet_play_at(&asked, "plain.db", &played);
	struct fleet_stored stored = fleet_stored(path, played.search);
	ok(fleet_played_int(&played, "evaluations") == 400 && stored.configs == 399, "400 evaluations are in the store");
	ok(stored.named == stored.all && stored.all == played.tally.trials && node_trials(&played) == stored.all,
	   "every trial is stored once, with its node: %llu", (unsigned long long)stored.all);
	ok(stored.mixed == 0, "no block was on two nodes");
	ok(fabs(ratio_of(&played) / gain_of(&played, &asked) - 1) < 0.02,
	   "the speedup on nodes of half to double speed is right, %.3f of %.3f", ratio_of(&played),
	   gain_of(&played, &asked));
	ok(fleet_played_count(&played, "good") == 8, "no node of half to double speed is set aside");
	ok(fabs(js_real_or(played.result, "node_seconds_busy", 0) / played.tally.busy_s - 1) < 1e-6,
	   "node-seconds in jobs are reported");
	ok(fabs(js_real_or(played.result, "node_seconds", 0) / (8 * played.makespan) - 1) < 1e-6,
	   "node-seconds held are reported: all nodes for the whole time");
	char *other = fleet_play_at(&asked, "again.db", &again);
	ok(json_equal(json_object_get(played.result, "best"), json_object_get(again.result, "best")) &&
	       played.makespan == again.makespan,
	   "the same seed gives the same result");
	fleet_played_clear(&played);
	fleet_played_clear(&again);
	free(path);
	free(other);
}

static void faster(void) {
	struct fleet_play asked = fleet_play_small(NULL);
	struct fleet_played one, eight;
	asked.nodes = 1;
	char *path = fleet_play_at(&asked, "one.db", &one);
	asked.nodes = 8;
	char *other = fleet_play_at(&asked, "eight.db", &eight);
	ok(one.searched / eight.searched > 6.5, "eight nodes search %.1f times as fast as one",
	   one.searched / eight.searched);
	fleet_played_clear(&one);
	fleet_played_clear(&eight);
	free(path);
	free(other);
}

static void slow_and_throttled(size_t node, struct simulated_node *out) {
	if (node == 2)
		out->speed = 0.6;
	if (node == 5) {
		out->throttle = 1.5;
		out->throttle_at = 150;
	}
}

static void outliers(void) {
	struct fleet_play asked = fleet_play_small(NULL);
	struct fleet_played played;
	asked.node = slow_and_throttled;
	char *path = fleet_play_at(&asked, "outliers.db", &played);
	struct fleet_stored stored = fleet_stored(path, played.search);
	ok(strcmp(state_of(&played, 2), "set aside") == 0 && strstr(reason_of(&played, 2), "slow"), "a slow node: %s",
	   reason_of(&played, 2));
	ok(strcmp(state_of(&played, 5), "set aside") == 0 && strstr(reason_of(&played, 5), "throttled"),
	   "a throttled node: %s", reason_of(&played, 5));
	ok(fleet_played_count(&played, "good") == 6, "the others are good");
	ok(stored.configs == 399 && stored.twins > 0, "results of the throttled node are measured again: %llu",
	   (unsigned long long)stored.twins);
	ok(fabs(ratio_of(&played) / gain_of(&played, &asked) - 1) < 0.02, "the speedup is the true one");
	fleet_played_clear(&played);
	free(path);
}

static void losses(void) {
	struct fleet_play asked = fleet_play_small(NULL);
	struct fleet_played played;
	asked.fail_every_s = 200;
	asked.away_s = 30;
	asked.queue_s = 3;
	char *path = fleet_play_at(&asked, "losses.db", &played);
	struct fleet_stored stored = fleet_stored(path, played.search);
	ok(played.tally.lost > 5, "%llu jobs are lost with their nodes", (unsigned long long)played.tally.lost);
	ok(fleet_played_int(&played, "evaluations") == 400 && stored.configs == 399,
	   "all evaluations are made nevertheless");
	ok(stored.named == played.tally.trials, "every result that came back is kept: %llu",
	   (unsigned long long)stored.named);
	ok(fabs(ratio_of(&played) / gain_of(&played, &asked) - 1) < 0.03, "the speedup is the true one");
	fleet_played_clear(&played);
	free(path);
}

static void mortal(size_t node, struct simulated_node *out) {
	out->fail_every_s = node < 6 ? 100 : 0;
}

static void dead(void) {
	struct fleet_play asked = fleet_play_small(NULL);
	struct fleet_played played;
	asked.node = mortal;
	char *path = fleet_play_at(&asked, "dead.db", &played);
	ok(fleet_played_int(&played, "evaluations") == 400 && fleet_played_count(&played, "lost") == 6,
	   "two nodes go on after six are lost for good");
	ok(strcmp(state_of(&played, 0), "lost") == 0 && *reason_of(&played, 0),
	   "a node that is lost for good has a reason: %s", reason_of(&played, 0));
	fleet_played_clear(&played);
	free(path);
}

static void counting(void) {
	static const char *const names[] = {"cycles", NULL};
	struct fleet_play asked = fleet_play_small(NULL);
	struct fleet_played played;
	asked.evaluations = 100;
	asked.counters = names;
	asked.fail_every_s = 300;
	asked.away_s = 20;
	char *path = fleet_play_at(&asked, "counting.db", &played);
	struct fleet_stored stored = fleet_stored(path, played.search);
	const json_t *counting = json_object_get(played.result, "counting");
	size_t finalists = json_array_size(json_object_get(played.result, "finalists")),
		   told = json_array_size(json_object_get(counting, "failures"));
	/* A winner that was proven early and is replaced later was counted, too. */
	ok(stored.counted > 1 && stored.counted <= finalists + 2 && told >= stored.counted,
	   "baseline and finalists are counted on the nodes: %llu trials, %zu reported as uncounted",
	   (unsigned long long)stored.counted, told);
	ok(stored.early > 0 && stored.mixed == 0, "%llu of them while race and duel left nodes idle",
	   (unsigned long long)stored.early);
	fleet_played_clear(&played);
	free(path);
}

static bool baseline_broken(const json_t *config) {
	return js_int_or(config, "pa", 0) == 6;
}

static bool all_broken(const json_t *config) {
	(void)config;
	return true;
}

static void broken(void) {
	struct fleet_play asked = fleet_play_small(NULL);
	struct fleet_played played;
	asked.broken = baseline_broken;
	asked.evaluations = 100;
	char *path = fleet_play_at(&asked, "broken.db", &played);
	ok(fleet_played_int(&played, "evaluations") == 100 &&
	       strcmp(js_string_or(played.result, "verdict", "?"), "no baseline") == 0,
	   "a baseline that fails everywhere does not set nodes aside");
	ok(fleet_played_count(&played, "good") == 8, "all are good");
	fleet_played_clear(&played);
	free(path);
	asked.broken = all_broken;
	path = fleet_play_at(&asked, "nothing.db", &played);
	ok(played.err.code == ERR_NOTHING, "an error if nothing works: %s", played.err.what);
	fleet_played_clear(&played);
	free(path);
}

static void large(void) {
	struct fleet_play asked = {.nodes = 1000,
	                           .evaluations = 50000,
	                           .seed = 1,
	                           .run_s = 10,
	                           .trial_s = 10,
	                           .noise = 0.01,
	                           .speed_spread = 0.05};
	struct fleet_played played;
	char *path = fleet_play_at(&asked, "large.db", &played);
	struct fleet_stored stored = fleet_stored(path, played.search);
	double efficiency = played.searched_busy_s / ((double)asked.nodes * played.searched);
	ok(fleet_played_int(&played, "evaluations") == 50000 && stored.configs == 49999,
	   "1000 nodes: all trials are accounted for");
	ok(stored.all == played.tally.trials && node_trials(&played) == stored.all, "none is lost or stored twice");
	ok(efficiency > 0.9, "nodes are busy %.1f %% of the search", 100 * efficiency);
	fleet_played_clear(&played);
	free(path);
}

static double late_seconds;

static void late_and_slow(size_t node, struct simulated_node *out) {
	if (node != 2)
		return;
	out->queue_s = late_seconds;
	out->speed = 0.5;
}

/* The late node gets its first work in the finals. */
static void late(void) {
	struct fleet_play asked = fleet_play_small(NULL);
	struct fleet_played played;
	asked.node = late_and_slow;
	asked.nodes = 3; /* so few that the finals need all of them */
	late_seconds = 1e9;
	char *path = fleet_play_at(&asked, "never.db", &played);
	ok(fleet_stored(path, played.search).scale_least > 0.9, "nodes of one speed have one scale");
	late_seconds = played.searched + 1;
	fleet_played_clear(&played);
	free(path);
	path = fleet_play_at(&asked, "late.db", &played);
	struct fleet_stored stored = fleet_stored(path, played.search);
	ok(fabs(stored.scale_least / 0.5 - 1) < 0.05,
	   "a slow node that arrives in the finals measures the baseline first: its scale is %.3f", stored.scale_least);
	ok(stored.all == played.tally.trials && node_trials(&played) == stored.all,
	   "the baseline of a late node is stored");
	fleet_played_clear(&played);
	free(path);
}

int main(void) {
	fixture_begin();
	plain();
	faster();
	outliers();
	losses();
	late();
	dead();
	counting();
	broken();
	large();
	return fixture_end();
}
