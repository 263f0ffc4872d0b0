/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a duel does about failures, impossible times, interruptions, observers and options. */
#include "base/stats.h"
#include "tests/tuner/race/duel.h"

static struct sim sim_failing(int side, enum trial_status status, int from, int every) {
	struct sim sim = sim_new(&noises[0], 5);

	sim.fail[side] = status;
	sim.fail_from[side] = from;
	sim.fail_every[side] = every;
	return sim;
}

static void test_failures(void) {
	struct duel_result result;
	struct err err;

	for (int side = 0; side < 2; side++) {
		struct sim sim = sim_failing(side, TRIAL_TIMEOUT, 1, 1), late = sim_failing(side, TRIAL_RUNTIME, 10, 1),
				   wrong = sim_failing(side, TRIAL_CORRECTNESS, 4, 1);
		enum paired_verdict lost = side == 0 ? PAIRED_SLOWER : PAIRED_FASTER;

		ok(duel_of(&sim, &duel_defaults, NULL, &result, &err) == 0 && result.verdict == lost &&
		       result.failed[side] == TRIAL_TIMEOUT && result.failed[!side] == TRIAL_CORRECT,
		   "side %d never works: it loses, and the result says why", side);
		ok(sim.runs[side] == 3 && result.failures == 3 && result.paired.count == 0 && result.median[!side] > 0 &&
		       isnan(result.median[side]) && isnan(result.paired.ratio),
		   "after 3 blocks, with the other side's median");
		duel_result_clear(&result);
		ok(duel_of(&late, &duel_defaults, NULL, &result, &err) == 0 && result.verdict == lost &&
		       result.paired.count == 9 && result.failures == 3 && result.failed[side] == TRIAL_RUNTIME,
		   "side %d stops working: it loses, the 9 pairs before are kept", side);
		duel_result_clear(&result);
		ok(duel_of(&wrong, &duel_defaults, NULL, &result, &err) == 0 && result.verdict == lost && wrong.runs[side] == 4,
		   "side %d is wrong once: it loses at once", side);
		duel_result_clear(&result);
	}
}

/* b never ends within the bound. */
static void test_bound(void) {
	struct sim sim = sim_failing(1, TRIAL_CENSORED, 1, 1), near = sim_failing(1, TRIAL_CENSORED, 1, 1);
	struct duel_options options = duel_defaults;
	struct duel_result result;
	struct err err;

	options.pairs_first = 3;
	options.bound = 10 * sim.means[0];
	ok(duel_of(&sim, &options, NULL, &result, &err) == 0 && result.verdict == PAIRED_FASTER && result.decided &&
	       (size_t)result.bounded == result.paired.count && result.failures == 0,
	   "b is ended in each of %d pairs: a is faster", result.bounded);
	ok(fabs(result.paired.ratio / 0.1 - 1) < 0.2 && fabs(result.median[1] / options.bound - 1) < 1e-9,
	   "a is faster than b by the factor of the bound: %g", result.paired.ratio);
	duel_result_clear(&result);
	options.bound = 0.5 * near.means[0];
	ok(duel_of(&near, &options, NULL, &result, &err) == 0 && result.verdict != PAIRED_SLOWER &&
	       result.verdict != PAIRED_FASTER && !result.decided,
	   "a bound that a itself exceeds proves nothing");
	duel_result_clear(&result);
}

static void test_failures_mixed(void) {
	struct sim rare = sim_failing(0, TRIAL_RUNTIME, 4, 4), often = sim_failing(1, TRIAL_RUNTIME, 2, 2),
			   both = sim_failing(0, TRIAL_RUNTIME, 1, 1);
	struct duel_result result;
	struct err err;

	ok(duel_of(&rare, &duel_defaults, NULL, &result, &err) == 0 && result.verdict == PAIRED_TIE &&
	       result.paired.count >= 21 && result.failures >= 7 && result.failed[0] == TRIAL_RUNTIME,
	   "one failure in four costs blocks, not the duel");
	duel_result_clear(&result);
	ok(duel_of(&often, &duel_defaults, NULL, &result, &err) == 0 && result.verdict == PAIRED_FASTER &&
	       often.runs[1] < 21,
	   "a side that fails in half of its trials loses");
	duel_result_clear(&result);
	both.fail[1] = TRIAL_TIMEOUT;
	both.fail_from[1] = both.fail_every[1] = 1;
	ok(duel_of(&both, &duel_defaults, NULL, &result, &err) == -1 && err.code == ERR_NOTHING && result.a == NULL,
	   "there is no verdict where neither side works");
}

static void test_liars(void) {
	static const double lies[] = {NAN, 0, -0.1, INFINITY, -INFINITY, 1e300};

	for (size_t i = 0; i <= sizeof lies / sizeof *lies + 1; i++) {
		struct sim sim = sim_failing(0, TRIAL_CORRECT, 2, 1);
		struct duel_result result;
		struct err err;

		if (i < sizeof lies / sizeof *lies)
			sim.lie = lies[i];
		else if (i == sizeof lies / sizeof *lies)
			sim.lie_count = 0;
		else
			sim.fail[0] = (enum trial_status)99;
		ok(duel_of(&sim, &duel_defaults, NULL, &result, &err) == 0 && result.verdict == PAIRED_SLOWER &&
		       result.failed[0] == TRIAL_RUNTIME && result.paired.count == 1 && isfinite(result.paired.ratio),
		   "a runner that %s is a run-time failure",
		   i < sizeof lies / sizeof *lies ? "reports an impossible time"
		   : sim.lie_count                ? "reports an unknown status"
		                                  : "reports no samples");
		duel_result_clear(&result);
	}
}

static void test_interruption(void) {
	int stopped = 0;

	for (int at = 1; at <= 42; at++) {
		struct sim sim = sim_new(&noises[0], 9);
		struct duel_result result;
		struct err err;

		sim.trials = 0;
		sim.interrupt_at = at;
		stopped += duel_of(&sim, &duel_defaults, NULL, &result, &err) == -1 && err.code == ERR_INTERRUPTED &&
		           sim.trials == at && result.a == NULL && result.b == NULL;
	}
	ok(stopped == 42, "an interruption ends the duel at once (%d of 42)", stopped);
}

struct watch {
	int trials, stop_at, block, in_block[2], first[2], uneven;
};

static int watch_trial(void *ctx, const char *phase, int block, const json_t *config, const struct trial_result *result,
                       struct err *err) {
	struct watch *watch = ctx;
	int side = config == configs[1];

	if (block != watch->block) {
		watch->uneven += watch->in_block[0] != 1 || watch->in_block[1] != 1 || block != watch->block + 1;
		watch->in_block[0] = watch->in_block[1] = 0;
		watch->block = block;
	}
	watch->first[side] += watch->in_block[0] + watch->in_block[1] == 0;
	watch->in_block[side]++;
	watch->uneven += strcmp(phase, "compare") != 0 || result->sample_count != 1;
	return ++watch->trials == watch->stop_at ? err_set(err, ERR_FAILED, NULL, "the disk is full") : 0;
}

static void test_observer(void) {
	struct duel_options options = duel_defaults;
	struct watch watch = {0}, stopper = {.stop_at = 5};
	struct race_observer observer = {.ctx = &watch, .trial = watch_trial};
	struct sim sim = sim_new(&noises[NOISES - 1], 4);
	struct duel_result result;
	struct err err;

	options.phase = "compare";
	options.control = false;
	duel_of(&sim, &options, &observer, &result, &err);
	ok(watch.uneven == 0 && (size_t)watch.trials == 2 * result.paired.count, "each block has each side once");
	ok(watch.first[0] > 25 && watch.first[1] > 25, "either side begins often (%d and %d)", watch.first[0],
	   watch.first[1]);
	duel_result_clear(&result);
	observer.ctx = &stopper;
	ok(duel_of(&sim, &options, &observer, &result, &err) == -1 && err.code == ERR_FAILED && stopper.trials == 5,
	   "the observer can stop it, with its error");
}

static void test_requests(void) {
	struct sim sim = sim_new(&noises[0], 4);
	struct runner runner = {.ctx = &sim, .run = sim_run};
	struct trial_request request = {.kernel = "simulated", .min_sample_s = 0.25, .timeout_s = 9};
	struct duel_result result;
	struct err err;

	duel_of(&sim, &duel_defaults, NULL, &result, &err);
	ok(sim.last.samples == 1 && sim.last.limit_s == 0 && sim.last.min_sample_s >= 1e-3,
	   "a trial is one sample of 1 ms");
	ok(sim.last.warmup == 0, "a long run is not warmed up");
	duel_result_clear(&result);
	sim.means[0] = sim.means[1] = 1e-4;
	duel_run(&runner, &request, configs[0], configs[1], &duel_defaults, NULL, &result, &err);
	ok(sim.last.warmup > 0, "a short run is");
	ok(sim.last.min_sample_s == 0.25 && sim.last.timeout_s == 9, "longer samples and a time-out can be requested");
	duel_result_clear(&result);
}

static void test_options(void) {
	const struct duel_options good = duel_defaults;
	struct duel_options bad[] = {good, good, good, good, good};
	struct sim sim = sim_new(&noises[0], 4);
	struct duel_result result;
	struct err err;
	int refused = 0;

	bad[0].pairs_min = 0;
	bad[1].pairs_max = 20;
	bad[2].level = NAN;
	bad[3].margin = -1;
	bad[4].pairs_max = 1 << 30;
	for (int i = 0; i < 5; i++)
		refused += duel_of(&sim, &bad[i], NULL, &result, &err) == -1 && err.code == ERR_USAGE;
	ok(refused == 5, "impossible options are refused (%d of 5)", refused);
}

static double late(void *ctx) {
	(void)ctx;
	return 1;
}

/* Runs a duel of `a` and the second configuration without time for a trial, so that the log alone decides. */
static struct duel_result recalled(struct sim *sim, const json_t *a, struct duel_log *log) {
	struct duel_options options = duel_defaults;
	struct trial_request request = {.kernel = "simulated"};
	struct runner runner = {.ctx = sim, .run = sim_run};
	struct duel_result result;
	struct err err = {0};

	options.log = log;
	options.clock = (struct race_clock){.now = late, .end = 0.5};
	duel_run(&runner, &request, a, configs[1], &options, NULL, &result, &err);
	return result;
}

static void test_log(bool ended) {
	struct sim sim = ended ? sim_failing(2, TRIAL_CENSORED, 1, 1) : sim_new(&noises[0], 5);
	struct duel_options options = duel_defaults;
	struct duel_result result;
	struct duel_log log = {0};
	struct err err;
	json_t *third = json_pack("{s:i}", "i", 2), *stranger = json_pack("{s:i}", "i", 3);
	const json_t *others[] = {third};

	sim.means[1] = 0.13;
	options.pairs_first = 5;
	options.others = others;
	options.other_count = 1;
	options.others_cut = 2;
	options.log = &log;
	bool measured = duel_of(&sim, &options, NULL, &result, &err) == 0;
	ok(measured && log.blocks > 4, "a duel logs its %d blocks", log.blocks);
	size_t pairs = result.paired.count, met = result.others[0].paired.count;
	int trials = sim.trials;
	duel_result_clear(&result);

	result = recalled(&sim, third, &log);
	ok(sim.trials == trials &&
	       result.paired.count == (ended         ? 0
	                               : pairs < met ? pairs
	                                             : met) &&
	       result.verdict == (ended ? PAIRED_TIE : PAIRED_FASTER),
	   ended ? "what was ended in the blocks of an earlier duel proves nothing with them"
	         : "what met b in the blocks of an earlier duel is proven by its %zu pairs",
	   result.paired.count);
	duel_result_clear(&result);
	result = recalled(&sim, stranger, &log);
	ok(result.paired.count == 0, "what was in none of them begins without any");
	duel_result_clear(&result);
	duel_log_clear(&log);
	json_decref(third);
	json_decref(stranger);
}

int main(void) {
	duel_configs_make();
	test_log(false);
	test_log(true);
	test_failures();
	test_bound();
	test_failures_mixed();
	test_liars();
	test_interruption();
	test_observer();
	test_requests();
	test_options();
	duel_configs_free();
	return tap_done();
}
