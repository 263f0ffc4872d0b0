/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole procedure on simulated fleets: all trials accounted for, nodes of different speed together, bad nodes
 * found, blocks whole on one node, losses made good, interrupts and resumes. */
#include <config.h>

#include "src/base/json/js.h"
#include "tests/tuner/fleet/play.h"

static struct fleet_play small(const char *store) {
	return (struct fleet_play){
		.nodes = 8, .evaluations = 400, .seed = 5, .run_s = 1, .trial_s = 2, .noise = 0.01, .store = store};
}

static int64_t int_of(const struct fleet_played *played, const char *key) {
	return js_int_or(played->result, key, -1);
}

static const json_t *node_of(const struct fleet_played *played, size_t node) {
	return json_array_get(json_object_get(played->result, "nodes"), node);
}

static const char *state_of(const struct fleet_played *played, size_t node) {
	return js_string_or(node_of(played, node), "state", "?");
}

static const char *reason_of(const struct fleet_played *played, size_t node) {
	return js_string_or(node_of(played, node), "reason", "");
}

static uint64_t node_trials(const struct fleet_played *played) {
	uint64_t sum = 0;
	size_t i;
	json_t *node;
	json_array_foreach(json_object_get(played->result, "nodes"), i, node) sum += (uint64_t)js_int_or(node, "trials", 0);
	return sum;
}

static size_t count_in(const struct fleet_played *played, const char *state) {
	size_t count = 0, i;
	json_t *node;
	json_array_foreach(json_object_get(played->result, "nodes"), i, node) count +=
		strcmp(js_string_or(node, "state", ""), state) == 0;
	return count;
}

static char *play(const struct fleet_play *asked, const char *name, struct fleet_played *played) {
	struct fleet_play play = *asked;
	char *path = fixture_path(name);
	play.store = path;
	if (fleet_play(&play, played))
		printf("# %s\n", played->err.what);
	return path;
}

/* Of the recommendation, against the baseline: true times. */
static double gain_of(const struct fleet_played *played, const struct fleet_play *play) {
	const json_t *best = json_object_get(json_object_get(played->result, "best"), "config");
	const json_t *baseline = json_object_get(json_object_get(played->result, "baseline"), "config");
	return fleet_play_seconds(baseline, play->run_s) / fleet_play_seconds(best, play->run_s);
}

static double ratio_of(const struct fleet_played *played) {
	return js_real_or(json_object_get(played->result, "speedup"), "ratio", NAN);
}

static void plain(void) {
	struct fleet_play asked = small(NULL);
	struct fleet_played played, again;
	asked.speed_spread = 0.3;
	char *path = play(&asked, "plain.db", &played);
	struct fleet_stored stored = fleet_stored(path, played.search);
	ok(int_of(&played, "evaluations") == 400 && stored.configs == 399, "400 evaluations are in the store");
	ok(stored.named == stored.all && stored.all == played.tally.trials && node_trials(&played) == stored.all,
	   "every trial that ran is there once, with its node: %llu", (unsigned long long)stored.all);
	ok(stored.mixed == 0, "no block was on two nodes");
	ok(fabs(ratio_of(&played) / gain_of(&played, &asked) - 1) < 0.02,
	   "nodes of speeds from a half to twice: the speedup is the true one, %.3f of %.3f", ratio_of(&played),
	   gain_of(&played, &asked));
	ok(count_in(&played, "good") == 8, "and all of them are good");
	ok(fabs(js_real_or(played.result, "node_seconds_busy", 0) / played.tally.busy_s - 1) < 1e-6,
	   "node-seconds in jobs are told");
	ok(fabs(js_real_or(played.result, "node_seconds", 0) / (8 * played.makespan) - 1) < 1e-6,
	   "and those that nodes were held, which are those of all nodes all the time");
	char *other = play(&asked, "again.db", &again);
	ok(json_equal(json_object_get(played.result, "best"), json_object_get(again.result, "best")) &&
	       played.makespan == again.makespan,
	   "the same again with the same seed");
	fleet_played_clear(&played);
	fleet_played_clear(&again);
	free(path);
	free(other);
}

static void faster(void) {
	struct fleet_play asked = small(NULL);
	struct fleet_played one, eight;
	asked.nodes = 1;
	char *path = play(&asked, "one.db", &one);
	asked.nodes = 8;
	char *other = play(&asked, "eight.db", &eight);
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
	struct fleet_play asked = small(NULL);
	struct fleet_played played;
	asked.node = slow_and_throttled;
	char *path = play(&asked, "outliers.db", &played);
	struct fleet_stored stored = fleet_stored(path, played.search);
	ok(strcmp(state_of(&played, 2), "set aside") == 0 && strstr(reason_of(&played, 2), "slow"), "a slow node: %s",
	   reason_of(&played, 2));
	ok(strcmp(state_of(&played, 5), "set aside") == 0 && strstr(reason_of(&played, 5), "throttled"),
	   "a throttled node: %s", reason_of(&played, 5));
	ok(count_in(&played, "good") == 6, "the others are good");
	ok(stored.configs == 399 && stored.twins > 0, "what the throttled node measured is measured again: %llu",
	   (unsigned long long)stored.twins);
	ok(fabs(ratio_of(&played) / gain_of(&played, &asked) - 1) < 0.02, "the speedup is the true one");
	fleet_played_clear(&played);
	free(path);
}

static void losses(void) {
	struct fleet_play asked = small(NULL);
	struct fleet_played played;
	asked.fail_every_s = 200;
	asked.away_s = 30;
	asked.queue_s = 3;
	char *path = play(&asked, "losses.db", &played);
	struct fleet_stored stored = fleet_stored(path, played.search);
	ok(played.tally.lost > 5, "%llu jobs are lost with their nodes", (unsigned long long)played.tally.lost);
	ok(int_of(&played, "evaluations") == 400 && stored.configs == 399, "all evaluations are made all the same");
	ok(stored.named == played.tally.trials, "and nothing that came back is lost: %llu",
	   (unsigned long long)stored.named);
	ok(fabs(ratio_of(&played) / gain_of(&played, &asked) - 1) < 0.03, "the speedup is the true one");
	fleet_played_clear(&played);
	free(path);
}

static void mortal(size_t node, struct simulated_node *out) {
	out->fail_every_s = node < 6 ? 100 : 0;
}

static void dead(void) {
	struct fleet_play asked = small(NULL);
	struct fleet_played played;
	asked.node = mortal;
	char *path = play(&asked, "dead.db", &played);
	ok(int_of(&played, "evaluations") == 400 && count_in(&played, "lost") == 6,
	   "two nodes go on where six are lost for good");
	ok(strcmp(state_of(&played, 0), "lost") == 0 && *reason_of(&played, 0), "with the reason: %s",
	   reason_of(&played, 0));
	fleet_played_clear(&played);
	free(path);
}

static void all_die(size_t node, struct simulated_node *out) {
	out->fail_every_s = 50;
	(void)node;
}

/* The rest is measured by a resumed search on other nodes. */
static void all_dead(void) {
	struct fleet_play asked = small(NULL);
	struct fleet_played played, resumed;
	asked.node = all_die;
	char *path = play(&asked, "all_dead.db", &played);
	ok(played.err.code == ERR_FAILED && strstr(played.err.what, "lost"), "without nodes it ends: %s", played.err.what);
	struct fleet_stored before = fleet_stored(path, 1);
	asked.node = NULL;
	asked.resume = 1;
	char *same = play(&asked, "all_dead.db", &resumed);
	struct fleet_stored after = fleet_stored(path, 1);
	ok(before.configs > 10 && after.configs == 399 && int_of(&resumed, "evaluations") == 400,
	   "resumed, it goes on: %llu configurations, then %llu", (unsigned long long)before.configs,
	   (unsigned long long)after.configs);
	ok(resumed.tally.trials < played.tally.trials + 500 && after.all == before.all + resumed.tally.trials,
	   "and measures nothing a second time");
	fleet_played_clear(&played);
	fleet_played_clear(&resumed);
	free(path);
	free(same);
}

static void counting(void) {
	static const char *const names[] = {"cycles", NULL};
	struct fleet_play asked = small(NULL);
	struct fleet_played played;
	asked.evaluations = 100;
	asked.counters = names;
	asked.fail_every_s = 300;
	asked.away_s = 20;
	char *path = play(&asked, "counting.db", &played);
	struct fleet_stored stored = fleet_stored(path, played.search);
	const json_t *counting = json_object_get(played.result, "counting");
	size_t finalists = json_array_size(json_object_get(played.result, "finalists")),
		   told = json_array_size(json_object_get(counting, "failures"));
	ok(stored.counted > 1 && stored.counted <= finalists + 1 && told >= stored.counted,
	   "baseline and finalists are counted on the nodes: %llu trials; that nothing counts here is told %zu times",
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
	struct fleet_play asked = small(NULL);
	struct fleet_played played;
	asked.broken = baseline_broken;
	asked.evaluations = 100;
	char *path = play(&asked, "broken.db", &played);
	ok(int_of(&played, "evaluations") == 100 && strcmp(js_string_or(played.result, "verdict", "?"), "no baseline") == 0,
	   "a baseline that fails everywhere is no reason to set nodes aside");
	ok(count_in(&played, "good") == 8, "all are good");
	fleet_played_clear(&played);
	free(path);
	asked.broken = all_broken;
	path = play(&asked, "nothing.db", &played);
	ok(played.err.code == ERR_NOTHING, "where nothing works it says so: %s", played.err.what);
	fleet_played_clear(&played);
	free(path);
}

static volatile int stop;

static double stop_after;
static double stopping_clock(void) {
	static double now;
	now += 0.001;
	stop = now > stop_after;
	return now;
}

static void interrupts(void) {
	struct fleet_play asked = small(NULL);
	struct fleet_played played, resumed;
	asked.clock = stopping_clock;
	asked.interrupt = &stop;
	stop_after = 0.5;
	char *path = play(&asked, "interrupt.db", &played);
	struct fleet_stored before = fleet_stored(path, 1);
	ok(played.err.code == ERR_INTERRUPTED && before.configs > 5 && before.configs < 399,
	   "interrupted after %llu configurations", (unsigned long long)before.configs);
	ok(before.all == played.tally.trials && played.tally.lost == 0, "what nodes were at then is kept, too");
	stop = 0;
	asked.clock = NULL;
	asked.interrupt = NULL;
	asked.resume = 1;
	char *same = play(&asked, "interrupt.db", &resumed);
	struct fleet_stored after = fleet_stored(path, 1);
	ok(after.configs == 399 && after.all == before.all + resumed.tally.trials, "resumed, it measures the rest");
	fleet_played_clear(&played);
	fleet_played_clear(&resumed);
	free(path);
	free(same);
}

static void interrupted_finals(void) {
	struct fleet_play asked = small(NULL);
	struct fleet_played played, resumed;
	asked.interrupt = asked.raised = &stop;
	stop = 0;
	char *path = play(&asked, "finals.db", &played);
	struct fleet_stored before = fleet_stored(path, 1);
	ok(played.err.code == ERR_INTERRUPTED && before.configs == 399, "interrupted in the race");
	ok(before.all == played.tally.trials && before.all > 400, "all that was measured is kept: %llu",
	   (unsigned long long)before.all);
	stop = 0;
	asked.raised = NULL;
	asked.resume = 1;
	char *same = play(&asked, "finals.db", &resumed);
	ok(strcmp(js_string_or(resumed.result, "verdict", ""), "faster") == 0 && resumed.tally.trials < 300,
	   "resumed, the race is run, and no more: %llu trials", (unsigned long long)resumed.tally.trials);
	size_t used = 0;
	for (size_t i = 0; i < asked.nodes; i++)
		used += js_int_or(node_of(&resumed, i), "trials", 0) > 1;
	ok(used == asked.nodes, "by all %zu nodes", used);
	fleet_played_clear(&played);
	fleet_played_clear(&resumed);
	free(path);
	free(same);
}

/* A budget in seconds is one of virtual wall time. */
static void seconds(void) {
	struct fleet_play asked = small(NULL);
	struct fleet_played played;
	asked.evaluations = 0;
	asked.seconds = 2000;
	char *path = play(&asked, "seconds.db", &played);
	int64_t evaluations = int_of(&played, "evaluations");
	ok(evaluations > 400 && played.searched < 2000 &&
	       strcmp(js_string_or(played.result, "stopped", "?"), "budget") == 0,
	   "%lld evaluations in %.0f of 2000 s", (long long)evaluations, played.searched);
	fleet_played_clear(&played);
	free(path);
}

static double held(const struct fleet_played *played) {
	return js_real_or(played->result, "node_seconds", 0);
}

/* What nodes spend binds, however many they are. */
static void node_seconds(void) {
	static const size_t nodes[] = {1, 4, 8, 32};
	double wall[sizeof nodes / sizeof *nodes];
	for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
		struct fleet_play asked = small(NULL);
		struct fleet_played played;
		asked.nodes = nodes[i];
		asked.evaluations = 0;
		asked.node_seconds = 20000;
		char *path = play(&asked, "held.db", &played);
		wall[i] = played.makespan;
		ok(held(&played) > 0.75 * 20000 && held(&played) < 1.1 * 20000 &&
		       strcmp(js_string_or(played.result, "stopped", "?"), "budget") == 0,
		   "%zu nodes: %.0f of 20000 node-seconds, %.0f of them measuring", nodes[i], held(&played),
		   js_real_or(played.result, "node_seconds_busy", 0));
		fleet_played_clear(&played);
		unlink(path);
		free(path);
	}
	ok(wall[0] > 3 * wall[1] && wall[1] > 1.5 * wall[2] && wall[2] > 2 * wall[3],
	   "the more nodes the shorter: %.0f, %.0f, %.0f, %.0f s", wall[0], wall[1], wall[2], wall[3]);
}

/* The same where nodes come one after the other, go away, and are lost for good. */
static void node_seconds_of_some(void) {
	struct fleet_play asked = small(NULL);
	struct fleet_played played;
	double came = 0;
	asked.evaluations = 0;
	asked.node_seconds = 20000;
	asked.queue_s = 200;
	char *path = play(&asked, "come.db", &played);
	for (size_t i = 0; i < asked.nodes; i++)
		came += fmax(0, played.makespan - asked.queue_s * (double)i);
	ok(fabs(held(&played) / came - 1) < 1e-6 && came > 0.75 * 20000 && came < 1.1 * 20000,
	   "nodes that wait in a queue cost nothing: %.0f node-seconds", held(&played));
	fleet_played_clear(&played);
	free(path);
	asked.queue_s = 0;
	asked.fail_every_s = 500;
	asked.away_s = 400;
	path = play(&asked, "go.db", &played);
	ok(held(&played) > 0.75 * 20000 && held(&played) < 1.1 * 20000 && held(&played) < 0.9 * 8 * played.makespan,
	   "nor do those that are away: %.0f node-seconds of %.0f", held(&played), 8 * played.makespan);
	fleet_played_clear(&played);
	free(path);
	asked.fail_every_s = asked.away_s = 0;
	asked.node = mortal;
	path = play(&asked, "few.db", &played);
	ok(held(&played) > 0.75 * 20000 && held(&played) < 1.1 * 20000 && count_in(&played, "lost") == 6,
	   "two nodes spend what six don't that are lost: %.0f node-seconds in %.0f s", held(&played), played.makespan);
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
	char *path = play(&asked, "large.db", &played);
	struct fleet_stored stored = fleet_stored(path, played.search);
	double efficiency = played.searched_busy_s / ((double)asked.nodes * played.searched);
	ok(int_of(&played, "evaluations") == 50000 && stored.configs == 49999, "1000 nodes: all trials are accounted for");
	ok(stored.all == played.tally.trials && node_trials(&played) == stored.all, "none is lost, none is there twice");
	ok(efficiency > 0.9, "nodes are busy %.1f %% of the search", 100 * efficiency);
	fleet_played_clear(&played);
	free(path);
}

static double late_seconds;

static void late_and_slow(size_t node, struct simulated_node *out) {
	if (node != 7)
		return;
	out->queue_s = late_seconds;
	out->speed = 0.5;
}

/* It was never asked for anything before the finals. */
static void late(void) {
	struct fleet_play asked = small(NULL);
	struct fleet_played played;
	asked.node = late_and_slow;
	late_seconds = 1e9;
	char *path = play(&asked, "never.db", &played);
	ok(fleet_stored(path, played.search).scale_least > 0.9, "nodes of one speed have one scale");
	late_seconds = played.searched + 1;
	fleet_played_clear(&played);
	free(path);
	path = play(&asked, "late.db", &played);
	struct fleet_stored stored = fleet_stored(path, played.search);
	ok(fabs(stored.scale_least / 0.5 - 1) < 0.05,
	   "a slow node that comes in the finals measures the baseline before it is compared: its scale is %.3f",
	   stored.scale_least);
	ok(stored.all == played.tally.trials && node_trials(&played) == stored.all, "which is kept, too");
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
	all_dead();
	counting();
	broken();
	interrupts();
	interrupted_finals();
	seconds();
	node_seconds();
	node_seconds_of_some();
	large();
	return fixture_end();
}
