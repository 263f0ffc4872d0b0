/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Others disturb a race or a duel. Clock and /proc are simulated, because a test cannot know what the machine does. */
#include "tuner/race/race.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/tree.h"
#include "tests/tap.h"
#include "tests/tuner/race/noise.h"
#include "tuner/race/race.h"

/* One processor, on which another program runs from `from` to `to`. What runs then takes twice its time. */
struct world {
	char proc[32];
	int cpu;
	double end; /* of the time for it; 0: none */
	double now, from, to, ours, others, stolen;
	bool steals; /* it is another machine of the hypervisor */
	double trial_s;
	struct sim sim;
};

static bool is_loud(const struct world *world) {
	return world->from <= world->now && world->now < world->to;
}

static void text_write(const struct world *world, const char *name, const char *text) {
	char *path = mem_printf("%s/%s", world->proc, name);
	FILE *file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
	free(path);
}

/* Ticks are whole, as in the kernel. */
static void world_write(const struct world *world) {
	double hertz = (double)sysconf(_SC_CLK_TCK);
	long ours = (long)(hertz * world->ours), all = (long)(hertz * (world->ours + world->others));
	char *stat = mem_printf("cpu%d %ld 0 0 0 0 0 0 %ld 0 0\n", world->cpu, all, (long)(hertz * world->stolen));
	char *name = mem_printf("%d/stat", (int)getpid());
	char *self = mem_printf("%d (tuner) S 1 1 1 0 -1 0 1 2 3 4 %ld 0 0 0 20 0 1 0 5\n", (int)getpid(), ours);
	text_write(world, "stat", stat);
	text_write(world, name, self);
	text_write(world, "loadavg", "1.5 1 1 1/1 1\n");
	free(stat);
	free(name);
	free(self);
}

static void world_pass(struct world *world, double seconds, bool working) {
	double loud = is_loud(world) ? seconds : 0;
	world->ours += working ? seconds - loud / 2 : 0;
	*(world->steals ? &world->stolen : &world->others) += working ? loud / 2 : loud;
	world->now += seconds;
	world_write(world);
}

static double world_now(void *ctx) {
	return ((struct world *)ctx)->now;
}

static void world_pause(void *ctx, double seconds) {
	world_pass(ctx, seconds, false);
}

static int world_run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct world *world = ctx;
	bool loud = is_loud(world);
	int rc = sim_run(&world->sim, request, result, err);
	world_pass(world, world->trial_s * (loud ? 2 : 1), true);
	for (size_t i = 0; rc == 0 && i < result->sample_count; i++)
		result->samples[i] *= loud ? 2 : 1;
	return rc;
}

static struct world world_new(const struct noise *noise, double trial_s) {
	struct world world = {.proc = "/tmp/sweetspot-test-XXXXXX", .trial_s = trial_s, .sim = sim_new(noise, 1)};
	cpu_set_t set;
	if (!mkdtemp(world.proc) || sched_getaffinity(0, sizeof set, &set) != 0) {
		printf("Bail out! no folder, or more processors than this test knows\n");
		exit(99);
	}
	while (!CPU_ISSET(world.cpu, &set))
		world.cpu++;
	char *folder = mem_printf("%s/%d", world.proc, (int)getpid());
	mkdir(folder, 0700);
	free(folder);
	world_write(&world);
	return world;
}

static const struct noise quiet = {.name = "none"}, noisy = {.name = "5 %", .sigma = 0.05};
static json_t *configs[3];

struct outcome {
	struct race_watch watch;
	struct duel_result duel;
	json_t *json;
	int slow; /* samples of the pairs that count and that were taken beside others */
};

/* A duel of a with b, which takes `ratio` of its time. */
static struct outcome duel_in(struct world *world, double ratio, double seconds) {
	const struct busy_clock clock = {.ctx = world, .now = world_now, .pause = world_pause};
	struct outcome outcome = {.watch = {.busy = busy_open(world->proc, &clock), .seconds = seconds}};
	const struct trial_request request = {.kernel = "simulated", .samples = 1};
	struct runner runner = {.ctx = world, .run = world_run};
	struct duel_options options = duel_defaults;
	struct err err = {0};
	options.seconds_max = 0;
	options.watch = &outcome.watch;
	options.clock = (struct race_clock){.now = world_now, .ctx = world, .end = world->end};
	world->sim.means[0] = ratio * world->sim.means[1];
	ok(duel_run(&runner, &request, configs[0], configs[1], &options, NULL, &outcome.duel, &err) == 0, "a duel: %s",
	   err.what);
	for (size_t i = 0; i < outcome.duel.paired.count; i++)
		outcome.slow += outcome.duel.b[i] > 1.5 * world->sim.means[1];
	outcome.json = race_watch_json(&outcome.watch);
	busy_free(outcome.watch.busy);
	tree_remove(world->proc);
	return outcome;
}

static void outcome_clear(struct outcome *outcome) {
	duel_result_clear(&outcome->duel);
	json_decref(outcome->watch.pairs);
	json_decref(outcome->json);
}

/* At most `edge` of the pairs may be from it: short ones, in a time of which the others used little. */
static void burst(double trial_s, double from, double to, int edge) {
	struct world world = world_new(&quiet, trial_s);
	world.from = from;
	world.to = to;
	struct outcome outcome = duel_in(&world, 0.8, 60);
	ok(outcome.duel.verdict == PAIRED_FASTER && outcome.duel.paired.count == 21 && outcome.slow <= edge,
	   "a burst at %g s: %d of the %zu pairs of runs of %g s are from it", from, outcome.slow,
	   outcome.duel.paired.count, trial_s);
	ok(outcome.watch.repeated > 0 && outcome.watch.disturbed == 0 && outcome.watch.blocks == 21,
	   "%d blocks were repeated, in %d portions", outcome.watch.repeated, outcome.watch.times);
	ok((int)json_array_size(outcome.watch.pairs) == outcome.watch.repeated,
	   "the numbers of the repeated blocks are known");
	outcome_clear(&outcome);
}

static void calm(double trial_s) {
	struct world world = world_new(&noisy, trial_s);
	struct outcome outcome = duel_in(&world, 1, 60);
	ok(outcome.watch.repeated == 0 && outcome.watch.disturbed == 0, "runs of %g s alone: nothing is repeated", trial_s);
	ok(!js_bool_or(outcome.json, "busy", true), "a machine without other load is not called busy");
	outcome_clear(&outcome);
}

static void loud_always(void) {
	struct world world = world_new(&quiet, 0.6);
	world.to = INFINITY;
	struct outcome outcome = duel_in(&world, 0.8, 20);
	ok(outcome.watch.spent <= 20 && outcome.watch.repeated > 0 && outcome.watch.repeated < 10,
	   "always loud: %d repetitions and the waiting end after %g s", outcome.watch.repeated, outcome.watch.spent);
	ok(outcome.duel.paired.count == 21 && outcome.watch.disturbed == 21, "the disturbed pairs count then");
	ok(js_bool_or(outcome.json, "busy", false) && js_int_or(outcome.json, "disturbed", 0) == 21,
	   "the result says that the machine was busy");
	outcome_clear(&outcome);
}

static void loud_without_patience(const char *wait, double most) {
	struct world world = world_new(&quiet, 0.6);
	world.to = INFINITY;
	setenv("SWEETSPOT_WAIT", wait, 1);
	struct outcome outcome = duel_in(&world, 0.8, 20);
	unsetenv("SWEETSPOT_WAIT");
	ok(outcome.watch.spent <= most && (outcome.watch.repeated > 0) == (most > 0),
	   "the user waits %s at most: %d repetitions, %g s", wait, outcome.watch.repeated, outcome.watch.spent);
	ok(outcome.duel.paired.count == 21 && js_bool_or(outcome.json, "busy", false),
	   "what is disturbed counts, and is told");
	outcome_clear(&outcome);
}

/* A repetition must not cost the proof. */
static void short_of_time(void) {
	struct world world = world_new(&quiet, 0.6);
	world.to = INFINITY;
	world.end = 8;
	struct outcome outcome = duel_in(&world, 0.8, 1e9);
	ok(outcome.duel.paired.count > 0 && world.now < 8, "%zu pairs in the time that there is",
	   outcome.duel.paired.count);
	outcome_clear(&outcome);
}

static void stolen(void) {
	struct world world = world_new(&quiet, 0.6);
	world.from = 3;
	world.to = 6;
	world.steals = true;
	struct outcome outcome = duel_in(&world, 0.8, 60);
	ok(outcome.slow == 0 && outcome.watch.repeated > 0, "what the hypervisor took is seen, too");
	outcome_clear(&outcome);
}

/* The same disturbance and other times: the same blocks are repeated. */
static void blind(void) {
	json_t *pairs[3];
	for (int i = 0; i < 3; i++) {
		struct world world = world_new(i == 2 ? &noisy : &quiet, 0.4);
		world.from = 2.1;
		world.to = 5.3;
		struct outcome outcome = duel_in(&world, i ? 0.5 : 1, 60);
		pairs[i] = json_deep_copy(outcome.watch.pairs);
		outcome_clear(&outcome);
	}
	ok(json_array_size(pairs[0]) > 0 && json_equal(pairs[0], pairs[1]) && json_equal(pairs[0], pairs[2]),
	   "the times that were measured play no part");
	for (int i = 0; i < 3; i++)
		json_decref(pairs[i]);
}

static void nobody(void) {
	struct race_watch watch = {.seconds = 60};
	ok(race_watch_ask(&watch, 3, true) == RACE_WATCH_KEEP && race_watch_ask(NULL, 3, true) == RACE_WATCH_KEEP,
	   "nobody watches");
	json_t *json = race_watch_json(&watch);
	ok(json_is_null(json), "nothing is known of a comparison that nobody watches");
	json_decref(json);
}

static void race_in(double from, double to, bool ends) {
	struct world world = world_new(&quiet, 0.6);
	const struct busy_clock clock = {.ctx = &world, .now = world_now, .pause = world_pause};
	struct race_watch watch = {.busy = busy_open(world.proc, &clock), .seconds = ends ? 60 : 1e9};
	const struct trial_request request = {.kernel = "simulated", .samples = 1};
	struct runner runner = {.ctx = &world, .run = world_run};
	struct race_options options = race_defaults;
	struct race_entry entries[3] = {{0}};
	struct err err = {0};
	size_t winner = 0;
	world.from = from;
	world.to = to;
	options.seconds_max = 0;
	options.watch = &watch;
	options.clock = (struct race_clock){.now = world_now, .ctx = &world};
	for (int i = 0; i < 3; i++) {
		entries[i].config = configs[i];
		world.sim.means[i] = i == 1 ? 0.1 : 0.12;
	}
	ok(race_run(&runner, &request, entries, 3, &options, NULL, &winner, &err) == 0 && winner == 1, "a race: %s",
	   err.what);
	ok(watch.repeated > 0 && watch.blocks > 0 && (watch.disturbed == 0) == ends, "%d blocks were repeated, %d count",
	   watch.repeated, watch.blocks);
	ok(fabs(entries[1].median - (ends ? 0.1 : 0.2)) < 1e-9, "the winner's median is of those that count: %g",
	   entries[1].median);
	busy_free(watch.busy);
	tree_remove(world.proc);
}

int main(void) {
	for (int i = 0; i < 3; i++)
		configs[i] = json_pack("{s:i}", "i", i);
	burst(0.6, 3, 9, 0);
	burst(0.6, 0, 2, 0);
	burst(0.05, 0.4, 2, 2);
	calm(0.6);
	calm(0.03);
	calm(0.001);
	loud_always();
	loud_without_patience("0", 0);
	loud_without_patience("5s", 5);
	loud_without_patience("1h", 20);
	short_of_time();
	stolen();
	blind();
	nobody();
	race_in(2, 5, true);
	race_in(0, INFINITY, false);
	for (int i = 0; i < 3; i++)
		json_decref(configs[i]);
	return tap_done();
}
