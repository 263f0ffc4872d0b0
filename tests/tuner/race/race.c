/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/race/race.h"

#include "tests/tap.h"
#include "tests/tuner/race/noise.h"

enum { REPEATS = 100, FIELD = 8 };

static const struct noise three_percent = {.name = "log-normal 3 %", .sigma = 0.03};

static json_t *configs[ENTRIES_MAX];

static int race_of(struct sim *sim, struct race_entry *entries, size_t count, const struct race_options *options,
                   const struct race_observer *observer, size_t *winner, struct err *err) {
	struct trial_request request = {.kernel = "simulated", .limit_s = 0.01, .samples = 7};
	struct runner runner = {.ctx = sim, .run = sim_run};

	for (size_t e = 0; e < count; e++)
		entries[e].config = configs[e];
	memset(err, 0, sizeof *err);
	return race_run(&runner, &request, entries, count, options, observer, winner, err);
}

/* Runs many races of FIELD configurations with true times spread evenly over `spread` and with different costs. A clock
 * with steps cannot resolve the margin better than half a step. */
static void race_many(const struct noise *noise, double spread, int *within_1, int *within_2) {
	struct race_options options = race_defaults;
	double blur = noise->quantum / 2 / 0.1;

	*within_1 = *within_2 = 0;
	options.seconds_max = 0;
	for (int i = 0; i < REPEATS; i++) {
		struct sim sim = sim_new(noise, (uint64_t)i);
		struct race_entry entries[FIELD] = {{0}};
		double best = INFINITY;
		size_t winner = 0;
		struct err err;

		for (int e = 0; e < FIELD; e++) {
			sim.means[e] *= 1 + spread * rng_unit(&sim.rng);
			entries[e].cost = (double)rng_below(&sim.rng, 4);
			best = fmin(best, sim.means[e]);
		}
		options.seed = (uint64_t)i;
		if (race_of(&sim, entries, FIELD, &options, NULL, &winner, &err) != 0)
			continue;
		*within_1 += sim.means[winner] <= (1.01 + blur) * best;
		*within_2 += sim.means[winner] <= (1.02 + blur) * best;
	}
}

/* In the dense field several configurations lie just beyond the margin: a cheaper one that is 1.2 % behind the best may
 * win. */
static void test_rates(void) {
	for (int i = 0; i < NOISES; i++) {
		int within_1, within_2;

		race_many(&noises[i], 0.2, &within_1, &within_2);
		ok(within_1 >= 95, "%s: the winner is within 1 %% of the best in %d of 100", noises[i].name, within_1);
		race_many(&noises[i], 0.08, &within_1, &within_2);
		ok(within_1 >= 90 && within_2 >= 98, "%s: in a dense field in %d of 100, within 2 %% in %d", noises[i].name,
		   within_1, within_2);
	}
}

static void test_ties(void) {
	int cheapest = 0, fastest = 0;

	for (int i = 0; i < REPEATS; i++) {
		struct race_options options = race_defaults;
		struct sim sim = sim_new(&noises[0], (uint64_t)i);
		struct noise steps = {.quantum = 0.1}; /* a metric that all of them share */
		struct sim equal = sim_new(&steps, (uint64_t)i);
		struct race_entry same[4] = {{.cost = 4}, {.cost = 2}, {.cost = 1}, {.cost = 3}};
		struct race_entry apart[4] = {{.cost = 4}, {.cost = 2}, {.cost = 1}, {.cost = 3}};
		size_t winner = 0;
		struct err err;

		options.seed = (uint64_t)i;
		race_of(&equal, same, 4, &options, NULL, &winner, &err);
		cheapest += winner == 2;
		sim.means[0] /= 1.05;
		race_of(&sim, apart, 4, &options, NULL, &winner, &err);
		fastest += winner == 0;
	}
	ok(cheapest >= 95, "among equals the cheapest wins (%d of 100)", cheapest);
	ok(fastest >= 95, "5 %% faster wins at any cost (%d of 100)", fastest);
}

/* Each change that takes part has to be taken back in the duel. */
static void test_changes(void) {
	int simplest = 0, fastest = 0, today = 0;

	for (int i = 0; i < REPEATS; i++) {
		struct race_entry same[3] = {{.changes = 5}, {.changes = 1}, {.changes = 3}};
		struct race_entry apart[3] = {{.changes = 5}, {.changes = 1}, {.changes = 3}};
		struct race_entry against[2] = {{.changes = 2}, {.changes = 0}};
		struct sim sim = sim_new(&three_percent, (uint64_t)i);
		size_t winner = 3;
		struct err err;

		race_of(&sim, same, 3, &race_defaults, NULL, &winner, &err);
		simplest += winner == 1;
		sim.means[1] = sim.means[2] = 0.105;
		race_of(&sim, apart, 3, &race_defaults, NULL, &winner, &err);
		fastest += winner == 0;
		sim.means[1] = 0.1003;
		race_of(&sim, against, 2, &race_defaults, NULL, &winner, &err);
		today += winner == 1 && against[1].median < against[0].median;
		today += winner == 0;
	}
	ok(simplest >= 80, "the fewest changes win among three that are equally fast (%d of 100)", simplest);
	ok(fastest >= 95, "what is 5 %% faster wins with any number of changes (%d)", fastest);
	ok(today >= 80, "today's setting wins only if it is the fastest (%d)", today);
}

static void test_elimination(void) {
	struct sim sim = sim_new(&three_percent, 1);
	struct race_options options = race_defaults;
	struct race_entry entries[4] = {{0}};
	size_t winner = 9;
	struct err err;

	sim.means[0] = 0.5;
	sim.means[1] = 0.8;
	entries[0].cost = entries[1].cost = -1; /* that does not help those that are slower */
	options.early = true;
	ok(race_of(&sim, entries, 4, &options, NULL, &winner, &err) == 0 && winner >= 2, "one of the best two wins");
	ok(!entries[0].alive && !entries[1].alive && entries[winner].alive, "slow entries drop out");
	ok(entries[0].blocks < entries[winner].blocks && sim.runs[0] == entries[0].blocks,
	   "slow entries are run for %d of %d blocks, and not again", entries[0].blocks, entries[winner].blocks);
	ok(fabs(entries[0].median - 0.5) < 0.05 && fabs(entries[winner].median - 0.1) < 0.01, "medians are reported");
}

static void test_length(void) {
	struct race_options options = race_defaults;
	struct sim sim = sim_new(&noises[NOISES - 1], 1);
	struct race_entry entries[3] = {{0}}, one = {.cost = 1};
	size_t winner = 9;
	struct err err;

	options.blocks_max = 12;
	race_of(&sim, entries, 3, &options, NULL, &winner, &err);
	ok(entries[winner].blocks == 12, "an undecided race ends with the maximum of blocks");
	options.seconds_max = 1e-9;
	race_of(&sim, entries, 3, &options, NULL, &winner, &err);
	ok(entries[winner].blocks == 5, "out of time, it runs the minimum of blocks");
	ok(race_of(&sim, &one, 1, &options, NULL, &winner, &err) == 0 && winner == 0 && one.blocks == 5 && one.median > 0,
	   "a race of one is measured and won");
	ok(race_of(&sim, &one, 0, &options, NULL, &winner, &err) == -1 && err.code == ERR_NOTHING,
	   "an empty race is refused");
}

static void test_failures(void) {
	struct sim sim = sim_new(&noises[0], 2);
	struct race_entry entries[5] = {{0}};
	size_t winner = 9;
	struct err err;

	sim.means[0] = sim.means[1] = sim.means[2] = 0.05;
	for (int e = 0; e < 4; e++) {
		sim.fail[e] = e == 0 ? TRIAL_TIMEOUT : e == 1 ? TRIAL_CORRECTNESS : TRIAL_RUNTIME;
		sim.fail_from[e] = e == 3 ? 2 : 1 + e;
		sim.fail_every[e] = e == 3 ? 5 : 1;
	}
	ok(race_of(&sim, entries, 5, &race_defaults, NULL, &winner, &err) == 0 && winner >= 3,
	   "a failing entry cannot win");
	ok(!entries[0].alive && entries[0].failed == TRIAL_TIMEOUT && sim.runs[0] == 3 && isnan(entries[0].median),
	   "a failing entry is out after 3 failures in a row");
	ok(!entries[1].alive && entries[1].failed == TRIAL_CORRECTNESS && sim.runs[1] == 2, "after one wrong result");
	ok(!entries[2].alive && entries[2].failed == TRIAL_RUNTIME && entries[2].blocks == 2,
	   "an entry that worked before is out after one wrong result");
	ok(entries[3].failed == TRIAL_CORRECT && entries[3].blocks < sim.runs[3], "a rare failure is forgiven");
	for (int e = 0; e < 5; e++) {
		sim.fail[e] = TRIAL_RUNTIME;
		sim.fail_from[e] = sim.fail_every[e] = 1;
	}
	ok(race_of(&sim, entries, 5, &race_defaults, NULL, &winner, &err) == -1 && err.code == ERR_NOTHING,
	   "a field that fails completely is an error");
}

/* All fail only after the first look, when there is already a best. */
static void test_late_failures(void) {
	struct sim sim = sim_new(&noises[NOISES - 1], 2);
	struct race_entry entries[3] = {{0}};
	size_t winner = 9;
	struct err err;

	for (int e = 0; e < 3; e++) {
		sim.fail[e] = TRIAL_RUNTIME;
		sim.fail_from[e] = 6;
		sim.fail_every[e] = 1;
	}
	ok(race_of(&sim, entries, 3, &race_defaults, NULL, &winner, &err) == -1 && err.code == ERR_NOTHING,
	   "a race in which everything fails late has no winner");
}

static void test_liars(void) {
	static const double lies[] = {NAN, 0, -0.1, INFINITY, -INFINITY, 1e300, 1e-320};

	for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
		struct sim sim = sim_new(&noises[0], 7);
		struct race_entry entries[3] = {{0}};
		size_t winner = 9;
		struct err err;
		bool tiny = lies[i] > 0 && lies[i] < 1;

		sim.fail[1] = TRIAL_CORRECT;
		sim.fail_from[1] = sim.fail_every[1] = 1;
		sim.lie = lies[i];
		ok(race_of(&sim, entries, 3, &race_defaults, NULL, &winner, &err) == 0 && (winner == 1) == tiny &&
		       entries[1].alive == tiny && entries[1].failed == (tiny ? TRIAL_CORRECT : TRIAL_RUNTIME),
		   "a runner that reports %g s does no harm", lies[i]);
	}
}

static void test_interruption(void) {
	int stopped = 0;

	for (int at = 1; at <= 40; at++) {
		struct sim sim = sim_new(&noises[0], 9);
		struct race_entry entries[FIELD] = {{0}};
		size_t winner = 9;
		struct err err;

		sim.trials = 0;
		sim.interrupt_at = at;
		stopped += race_of(&sim, entries, FIELD, &race_defaults, NULL, &winner, &err) == -1 &&
		           err.code == ERR_INTERRUPTED && sim.trials == at && winner == 9;
	}
	ok(stopped == 40, "an interruption ends the race at once (%d of 40)", stopped);
}

struct watch {
	int trials, stop_at, block, seen[FIELD], first[FIELD], in_block, twice;
};

static int watch_trial(void *ctx, const char *phase, int block, const json_t *config, const struct trial_result *result,
                       struct err *err) {
	struct watch *watch = ctx;
	int e = (int)json_integer_value(json_object_get(config, "i"));

	if (block != watch->block) {
		memset(watch->seen, 0, sizeof watch->seen);
		watch->in_block = 0;
		watch->block = block;
	}
	watch->first[e] += watch->in_block++ == 0;
	watch->twice += watch->seen[e]++ > 0 || strcmp(phase, "race") != 0 || result->sample_count != 1;
	return ++watch->trials == watch->stop_at ? err_set(err, ERR_FAILED, NULL, "the disk is full") : 0;
}

static void test_observer(void) {
	struct watch watch = {0}, stopper = {.stop_at = 5};
	struct race_observer observer = {.ctx = &watch, .trial = watch_trial};
	struct sim sim = sim_new(&noises[NOISES - 1], 4), replay = sim;
	struct race_entry entries[4] = {{0}}, again[4] = {{0}};
	size_t winner = 9, other = 8;
	struct err err;
	int same = 0;

	race_of(&sim, entries, 4, &race_defaults, &observer, &winner, &err);
	ok(watch.twice == 0 && watch.trials == sim.runs[0] + sim.runs[1] + sim.runs[2] + sim.runs[3],
	   "every trial is observed, and none twice in a block");
	ok(watch.first[0] && watch.first[1] && watch.first[2] && watch.first[3], "each entry sometimes begins a block");
	race_of(&replay, again, 4, &race_defaults, NULL, &other, &err);
	for (int e = 0; e < 4; e++)
		same += entries[e].median == again[e].median && entries[e].blocks == again[e].blocks;
	ok(winner == other && same == 4, "the same seed gives the same race");
	observer.ctx = &stopper;
	ok(race_of(&sim, entries, 4, &race_defaults, &observer, &winner, &err) == -1 && err.code == ERR_FAILED &&
	       stopper.trials == 5,
	   "the observer can stop it, with its error");
}

static void test_options(void) {
	const struct race_options good = race_defaults;
	struct race_options bad[] = {good, good, good, good, good};
	struct sim sim = sim_new(&noises[0], 4);
	struct race_entry entries[2] = {{0}};
	size_t winner;
	struct err err;
	int refused = 0;

	bad[0].blocks_min = 0;
	bad[1].blocks_max = 4;
	bad[2].level = NAN;
	bad[3].margin = -1;
	bad[4].blocks_max = 1 << 30;
	for (int i = 0; i < 5; i++)
		refused += race_of(&sim, entries, 2, &bad[i], NULL, &winner, &err) == -1 && err.code == ERR_USAGE;
	ok(refused == 5, "impossible options are refused (%d of 5)", refused);
}

int main(void) {
	for (int i = 0; i < ENTRIES_MAX; i++)
		configs[i] = json_pack("{s:i}", "i", i);
	test_rates();
	test_ties();
	test_changes();
	test_elimination();
	test_length();
	test_failures();
	test_late_failures();
	test_liars();
	test_interruption();
	test_observer();
	test_options();
	for (int i = 0; i < ENTRIES_MAX; i++)
		json_decref(configs[i]);
	return tap_done();
}
