/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search of a session on one machine: proposes, measures and reports one trial after the other until the budget is
 * used up (doc/measurement.md, rule 3). */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/base/mem.h"
#include "tuner/tune/state.h"

/* A trial is cut short once it cannot get within this factor of the best, because the noise of the search is smaller
 * than that. */
static const double LIMIT_FACTOR = 1.25;
/* The minimum length of an energy sample, as in the worker. */
static const double ENERGY_SAMPLE_SECONDS = 0.2;
/* A default time budget grows to at least this many runs of a program. */
static const double RUNS_EXPECTED = 100;
/* Failures of a program, its baseline included, before the search gives up. */
static const uint64_t BROKEN_AFTER = 2;
/* With fewer evaluations the expected gain is too uncertain to stop on. */
static const uint64_t EVALUATIONS_BEFORE_STOP = 10;
/* Longer programs are not run a second time to warm up before the search begins. */
static const double WARMUP_UNDER_SECONDS = 1;
/* Noise of a sample that needs no second look. */
static const double QUIET = 0.005;

bool tune_may_repeat(const struct tune *tune, const struct trial_result *result) {
	return !tune_interrupted(tune) && tune_left(tune) > tune_proof_seconds(tune) + result->elapsed_s;
}

/* Where the noise is small, the smallest of many values is hardly biased; a long run is better spent on another
 * configuration, because the duel measures the winner anyway. */
static bool needs_confirmation(const struct tune *tune) {
	if (tune->task->whole_programs && tune->bench.times.run > WARMUP_UNDER_SECONDS)
		return false;
	return !(tune_noise(tune) < QUIET);
}

/* A disturbed trial is repeated and its best median counts, because disturbances only ever make it slower. An apparent
 * new best is confirmed by another measurement, because the smallest of many noisy numbers is biased downwards. */
static int measure_again(struct tune *tune, const char *phase, const struct trial_request *request,
                         struct trial_result *result, struct err *err) {
	int most = result->status == TRIAL_TIMEOUT ? 1 : TUNE_AGAIN_MAX;
	struct trial_request longer = *request;
	longer.timeout_s *= result->status == TRIAL_TIMEOUT ? 2 : 1;
	for (int again = 0; result->disturbed && again < most && tune_may_repeat(tune, result); again++)
		if (tune_attempt(tune, phase, &longer, MERGE_BEST, result, err))
			return -1;
	if (result->status == TRIAL_CORRECT && result->value < tune->memory.best && needs_confirmation(tune) &&
	    tune_may_repeat(tune, result))
		return tune_attempt(tune, phase, request, MERGE_MEAN, result, err);
	return 0;
}

struct trial_request tune_search_request(const struct tune *tune, const json_t *config, double limit) {
	struct trial_request request = tune_request(tune, config);
	request.limit_s = tune_is_metered(tune) || tune->task->limits.complete ? 0 : limit;
	if (tune->task->counters.every) {
		request.counters = tune->task->counters.asked;
		request.slow = tune->task->counters.slow;
	}
	return request;
}

static int measure(struct tune *tune, const char *phase, const json_t *config, double limit,
                   struct trial_result *result, struct err *err) {
	struct trial_request request = tune_search_request(tune, config, limit);
	memset(result, 0, sizeof *result);
	result->value = result->least = NAN;
	tune->bench.current.deviation = tune->bench.current.seconds = tune->bench.current.build_seconds = 0;
	if (tune_attempt(tune, phase, &request, MERGE_FIRST, result, err))
		return -1;
	if (tune->money.cut)
		return 0;
	return measure_again(tune, phase, &request, result, err);
}

/* Is the expected gain below the requested minimum? */
static bool hopeless(const struct tune *tune) {
	if (!(tune->task->limits.stop_gain > 0) || tune->tally.evaluations < EVALUATIONS_BEFORE_STOP ||
	    tune_is_recalling(tune))
		return false;
	return search_promise(tune->search, tune_evaluations_left(tune)) < tune->task->limits.stop_gain; /* NAN: unknown */
}

/* A metric that the worker refused; NAN: none. Metrics are compared by ratios, so a value of 0 or below cannot be
 * ranked. */
static double refused(const struct tune *tune, const struct trial_result *result) {
	return tune->task->goal.metric && result->status == TRIAL_RUNTIME ? js_real_or(result->reply, "refused", NAN) : NAN;
}

/* Refuses an incomparable baseline, because everything that follows would be incomparable as well. A rate of 0 may
 * still improve, so it is an ordinary failure. */
static int baseline_check(const struct tune *tune, struct err *err) {
	const struct trial_result *baseline = &tune->memory.baseline;
	double value = refused(tune, baseline);
	if (isnan(value) || (tune->task->goal.maximize && value == 0))
		return 0;
	return err_set(err, ERR_USAGE, "print a number that is always above 0, for example the exponential or a distance",
	               "metrics are compared by their ratios and must be positive: %.300s", baseline->message);
}

double tune_search_limit(const struct tune *tune) {
	return isnan(tune->memory.best) ? 0 : LIMIT_FACTOR * tune->memory.best;
}

/* Counts a status, and keeps the first failure of each kind. */
static void tune_status_count(struct tune *tune, const json_t *config, const struct trial_result *result) {
	tune->tally.incomparable += !isnan(refused(tune, result));
	if (tune->tally.failures[result->status]++ || result->status == TRIAL_CORRECT || result->status == TRIAL_CENSORED)
		return;
	json_array_append_new(tune->tally.failed, json_pack("{s:s,s:O,s:s}", "status", trial_status_word(result->status),
	                                                    "config", config, "message", result->message));
}

/* Evaluations are timed from here on, because those of an interrupted run take no time. */
static void tune_searched_from(struct tune *tune) {
	tune->money.searched_from = tune_elapsed(tune);
	tune->money.searched = tune->tally.evaluations;
}

void tune_evaluated(struct tune *tune, uint64_t index, const struct trial_result *result) {
	json_t *config = space_config_json(tune->task->space, index);
	tune->tally.evaluations++;
	if (result->status == TRIAL_CENSORED || result->status == TRIAL_TIMEOUT)
		tune->memory.cut_index = index;
	if (!tune->memory.is_new)
		tune_searched_from(tune);
	tune_status_count(tune, config, result);
	json_decref(config);
	tune_outcome_report(tune, index, result);
	tune_ahead_note(tune);
	tune_report(tune, TUNE_SEARCH);
}

static int search_step(struct tune *tune, uint64_t index, struct err *err) {
	json_t *config = space_config_json(tune->task->space, index);
	struct trial_result result;
	int failed = measure(tune, "search", config, tune_search_limit(tune), &result, err);
	json_decref(config);
	if (!failed && !tune->money.cut)
		tune_evaluated(tune, index, &result);
	trial_result_clear(&result);
	return failed ? -1 : 0;
}

/* Takes the time of a run from the baseline, and the time spent before and after it; the build is not included. */
static void program_clock(struct tune *tune) {
	const struct trial_result *result = &tune->memory.baseline;
	double wall = tune_wall(result), runs = (double)json_array_size(json_object_get(result->reply, "samples"));
	double all = js_real_or(result->reply, "elapsed_s", NAN) / runs;
	tune->bench.times.run = wall > 0 ? wall : result->elapsed_s;
	tune->bench.times.extra = isfinite(all) ? fmax(0, all - tune->bench.times.run) : 0;
}

/* The first run of a program warms up caches and tells how many runs the budget allows. */
bool tune_program_look(struct tune *tune) {
	program_clock(tune);
	double expected = RUNS_EXPECTED * (tune->bench.times.run + tune->bench.times.extra);
	if (tune->money.budget.may_grow && tune->money.budget.seconds < expected)
		tune->money.budget.seconds = expected;
	tune->money.budget.may_grow = false; /* from now on it is a promise */
	return tune->memory.baseline.status == TRIAL_CORRECT && tune->bench.times.run <= WARMUP_UNDER_SECONDS;
}

/* Runs a baseline that failed without a word on stderr once more, because its stdout may tell what is wrong. */
static int look_again(struct tune *tune, struct err *err) {
	struct trial_result *baseline = &tune->memory.baseline;
	if (baseline->status != TRIAL_RUNTIME || json_array_size(json_object_get(baseline->reply, "said")))
		return 0;
	struct trial_request request = tune_search_request(tune, tune->task->baseline, 0);
	request.show = true;
	trial_result_clear(baseline);
	if (tune_attempt(tune, "baseline", &request, MERGE_FIRST, baseline, err))
		return -1;
	if (baseline->status != TRIAL_CORRECT)
		return 0;
	trial_result_clear(baseline); /* it works at times; that run wrote to a pipe, so that it is not comparable */
	return measure(tune, "baseline", tune->task->baseline, 0, baseline, err);
}

static int baseline_measure(struct tune *tune, struct err *err) {
	if (measure(tune, "baseline", tune->task->baseline, 0, &tune->memory.baseline, err))
		return -1;
	return tune->money.cut ? tune_budget_check(tune, true, err) : 0;
}

static int look_at_program(struct tune *tune, struct err *err) {
	struct trial_result *baseline = &tune->memory.baseline;
	if (baseline_measure(tune, err) || look_again(tune, err))
		return -1;
	if (!tune_program_look(tune) || tune_left(tune) < 2 * tune_proof_seconds(tune))
		return 0;
	trial_result_clear(baseline);
	if (baseline_measure(tune, err))
		return -1;
	program_clock(tune);
	return 0;
}

int tune_baseline_done(struct tune *tune, struct err *err) {
	const struct tune_task *task = tune->task;
	if (tune_is_metered(tune))
		tune->bench.times.run = fmax(tune_wall(&tune->memory.baseline), ENERGY_SAMPLE_SECONDS);
	if (baseline_check(tune, err))
		return -1;
	tune->tally.evaluations++;
	tune_status_count(tune, task->baseline, &tune->memory.baseline);
	tune_searched_from(tune);
	tune->memory.probe.at = tune_now(tune);
	tune_counters_name(tune, &tune->memory.baseline);
	if (tune_search_begin(tune, tune_budget_evaluations(tune), err))
		return -1;
	if (task->start != UINT64_MAX)
		tune_outcome_report(tune, task->start, &tune->memory.baseline);
	else if (tune->memory.baseline.status == TRIAL_CORRECT)
		tune->memory.best = tune->memory.baseline.value;
	return 0;
}

/* The baseline is measured before the strategy begins: its time tells how many evaluations the budget allows. */
static int measure_baseline(struct tune *tune, struct err *err) {
	const struct tune_task *task = tune->task;
	tune_report(tune, TUNE_BASELINE);
	if (task->whole_programs ? look_at_program(tune, err) : baseline_measure(tune, err))
		return -1;
	return tune_baseline_done(tune, err) || tune_budget_check(tune, false, err) ? -1 : 0;
}

/* A program that fails as it is run today, and fails with another configuration as well, has a mistake in its command,
 * so that more trials would only repeat it. A number that cannot be compared is a configuration's own. */
static bool is_broken(const struct tune *tune) {
	return tune->task->whole_programs && tune->memory.baseline.status != TRIAL_CORRECT &&
	       tune->tally.evaluations >= BROKEN_AFTER &&
	       tune->tally.failures[TRIAL_CORRECT] + tune->tally.failures[TRIAL_CENSORED] + tune->tally.incomparable == 0;
}

const char *tune_over(const struct tune *tune) {
	if (is_broken(tune))
		return "baseline";
	if (tune_spent(tune))
		return "budget";
	return hopeless(tune) ? "gain" : NULL;
}

static int search_run(struct tune *tune, struct err *err) {
	if (measure_baseline(tune, err))
		return -1;
	tune_counters_keep(tune);
	while (!(tune->stopped = tune_over(tune))) {
		uint64_t index;
		if (tune_interrupted(tune))
			return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
		int rc = tune_ahead_next(tune, &index, err);
		if (rc <= 0)
			return rc;
		if (tune_counters_ahead(tune, err) || tune_probe_best(tune, index, err) || search_step(tune, index, err))
			return -1;
		if (tune->money.cut) {
			tune->stopped = "budget";
			break;
		}
	}
	return 0;
}

int tune_search_phase(struct tune *tune, struct err *err) {
	if (tune->bench.fleet)
		return tune_parallel_search(tune, err);
	int failed = search_run(tune, err);
	tune_ahead_end(tune);
	return failed || tune_budget_used(tune, err) ? -1 : 0;
}
