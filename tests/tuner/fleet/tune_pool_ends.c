/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The end of a search on a simulated fleet: nodes that are all lost, interrupts, budgets used up, and resuming. */
#include <math.h>

#include "base/json/js.h"
#include "tests/tuner/fleet/play.h"

static void all_die(size_t node, struct simulated_node *out) {
	out->fail_every_s = 50;
	(void)node;
}

/* A resumed search measures the rest on other nodes. */
static void all_dead(void) {
	struct fleet_play asked = fleet_play_small(NULL);
	struct fleet_played played, resumed;
	asked.node = all_die;
	char *path = fleet_play_at(&asked, "all_dead.db", &played);
	ok(played.err.code == ERR_FAILED && strstr(played.err.what, "lost"), "the search ends without nodes: %s",
	   played.err.what);
	struct fleet_stored before = fleet_stored(path, 1);
	asked.node = NULL;
	asked.resume = 1;
	char *same = fleet_play_at(&asked, "all_dead.db", &resumed);
	struct fleet_stored after = fleet_stored(path, 1);
	ok(before.configs > 10 && after.configs == 399 && fleet_played_int(&resumed, "evaluations") == 400,
	   "resumed, it continues: %llu configurations, then %llu", (unsigned long long)before.configs,
	   (unsigned long long)after.configs);
	/* 371 of the search, and the finals, which take each of six changes back */
	ok(resumed.tally.trials < played.tally.trials + 650 && after.all == before.all + resumed.tally.trials,
	   "a resumed search measures nothing a second time");
	fleet_played_clear(&played);
	fleet_played_clear(&resumed);
	free(path);
	free(same);
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
	struct fleet_play asked = fleet_play_small(NULL);
	struct fleet_played played, resumed;
	asked.clock = stopping_clock;
	asked.interrupt = &stop;
	stop_after = 0.5;
	char *path = fleet_play_at(&asked, "interrupt.db", &played);
	struct fleet_stored before = fleet_stored(path, 1);
	ok(played.err.code == ERR_INTERRUPTED && before.configs > 5 && before.configs < 399,
	   "interrupted after %llu configurations", (unsigned long long)before.configs);
	ok(before.all == played.tally.trials && played.tally.lost == 0, "results of running jobs are kept as well");
	stop = 0;
	asked.clock = NULL;
	asked.interrupt = NULL;
	asked.resume = 1;
	char *same = fleet_play_at(&asked, "interrupt.db", &resumed);
	struct fleet_stored after = fleet_stored(path, 1);
	ok(after.configs == 399 && after.all == before.all + resumed.tally.trials, "resumed, it measures the rest");
	fleet_played_clear(&played);
	fleet_played_clear(&resumed);
	free(path);
	free(same);
}

static void interrupted_finals(void) {
	struct fleet_play asked = fleet_play_small(NULL);
	struct fleet_played played, resumed;
	asked.interrupt = asked.raised = &stop;
	asked.noise = 0.03; /* so that the finals need enough blocks for all nodes */
	stop = 0;
	char *path = fleet_play_at(&asked, "finals.db", &played);
	struct fleet_stored before = fleet_stored(path, 1);
	ok(played.err.code == ERR_INTERRUPTED && before.configs == 399, "interrupted in the race");
	ok(before.all == played.tally.trials && before.all > 400, "all results are kept: %llu",
	   (unsigned long long)before.all);
	stop = 0;
	asked.raised = NULL;
	asked.resume = 1;
	char *same = fleet_play_at(&asked, "finals.db", &resumed);
	ok(strcmp(js_string_or(resumed.result, "verdict", ""), "faster") == 0 && resumed.tally.trials < 300,
	   "resumed, only the finals are run: %llu trials", (unsigned long long)resumed.tally.trials);
	size_t used = 0;
	for (size_t i = 0; i < asked.nodes; i++)
		used += js_int_or(fleet_played_node(&resumed, i), "trials", 0) > 1;
	/* Its blocks are longer than those of two, so some nodes may have none when it is decided. */
	ok(used > asked.nodes / 2, "the finals run on most nodes: %zu", used);
	fleet_played_clear(&played);
	fleet_played_clear(&resumed);
	free(path);
	free(same);
}

/* A budget in seconds limits the virtual wall time. */
static void seconds(void) {
	struct fleet_play asked = fleet_play_small(NULL);
	struct fleet_played played;
	asked.evaluations = 0;
	asked.seconds = 2000;
	char *path = fleet_play_at(&asked, "seconds.db", &played);
	int64_t evaluations = fleet_played_int(&played, "evaluations");
	ok(evaluations > 400 && played.searched < 2000 &&
	       strcmp(js_string_or(played.result, "stopped", "?"), "budget") == 0,
	   "%lld evaluations in %.0f of 2000 s", (long long)evaluations, played.searched);
	double all = js_real_or(played.result, "elapsed_s", INFINITY);
	ok(all > 1700 && all < 1.05 * 2000, "the search and the finals take %.0f s", all);
	fleet_played_clear(&played);
	free(path);
}

static double held(const struct fleet_played *played) {
	return js_real_or(played->result, "node_seconds", 0);
}

/* A budget in node-seconds limits what nodes cost, however many there are. */
static void node_seconds(void) {
	static const size_t nodes[] = {1, 4, 8, 32};
	double wall[sizeof nodes / sizeof *nodes];
	for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
		struct fleet_play asked = fleet_play_small(NULL);
		struct fleet_played played;
		asked.nodes = nodes[i];
		asked.evaluations = 0;
		asked.node_seconds = 20000;
		char *path = fleet_play_at(&asked, "held.db", &played);
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
	   "more nodes finish earlier: %.0f, %.0f, %.0f, %.0f s", wall[0], wall[1], wall[2], wall[3]);
}

static void mortal(size_t node, struct simulated_node *out) {
	out->fail_every_s = node < 6 ? 100 : 0;
}

/* The same if nodes arrive one after the other, go away, or are lost for good. */
static void node_seconds_of_some(void) {
	struct fleet_play asked = fleet_play_small(NULL);
	struct fleet_played played;
	double came = 0;
	asked.evaluations = 0;
	asked.node_seconds = 20000;
	asked.queue_s = 200;
	char *path = fleet_play_at(&asked, "come.db", &played);
	for (size_t i = 0; i < asked.nodes; i++)
		came += fmax(0, played.makespan - asked.queue_s * (double)i);
	ok(fabs(held(&played) / came - 1) < 1e-6 && came > 0.75 * 20000 && came < 1.1 * 20000,
	   "queued nodes cost nothing: %.0f node-seconds", held(&played));
	fleet_played_clear(&played);
	free(path);
	asked.queue_s = 0;
	asked.fail_every_s = 500;
	asked.away_s = 400;
	path = fleet_play_at(&asked, "go.db", &played);
	ok(held(&played) > 0.75 * 20000 && held(&played) < 1.1 * 20000 && held(&played) < 0.9 * 8 * played.makespan,
	   "nodes that are away cost nothing: %.0f node-seconds of %.0f", held(&played), 8 * played.makespan);
	fleet_played_clear(&played);
	free(path);
	asked.fail_every_s = asked.away_s = 0;
	asked.node = mortal;
	path = fleet_play_at(&asked, "few.db", &played);
	ok(held(&played) > 0.75 * 20000 && held(&played) < 1.1 * 20000 && fleet_played_count(&played, "lost") == 6,
	   "two nodes spend the budget of six lost ones: %.0f node-seconds in %.0f s", held(&played), played.makespan);
	fleet_played_clear(&played);
	free(path);
}

int main(void) {
	fixture_begin();
	all_dead();
	interrupts();
	interrupted_finals();
	seconds();
	node_seconds();
	node_seconds_of_some();
	return fixture_end();
}
