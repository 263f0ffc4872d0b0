/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a session will probably go on, its first useful answer, and its progress. */
#include <math.h>

#include "base/json/js.h"
#include "tuner/tune/bench_impl.h"

/* A first answer may be wanted after this share of the budget, if it is useful. */
static const double FIRST_SHARE = 0.1;
static const uint64_t EVALUATIONS_TELLING = 3;

static double configurations(const struct tune *tune) {
	double valid = (double)space_valid(tune->task->space), most = (double)tune->money.budget.evaluations;
	return most > 0 ? fmin(most, valid) : valid;
}

/* The seconds of a block of the race: one trial of each that is within the margin of the best so far, and of as many in
 * proportion among those that will be measured. A race of one takes no time. */
static double block_seconds(const struct tune *tune, double evaluations) {
	double count = 0, seconds = 0, all = (double)tune->tally.evaluations;
	for (size_t i = 0; i < tune->memory.worked_count; i++) {
		if (tune->memory.worked[i].least > TUNE_FINALIST_MARGIN * tune->memory.best)
			continue;
		count++;
		seconds += tune_final_seconds(tune, tune->memory.worked[i].least);
	}
	/* Two more that are not, because the first few say little. */
	double entries = fmax(count, count / (all + 2) * evaluations);
	if (entries > FINALISTS_MAX) /* only the best of them race */
		return FINALISTS_MAX * tune_final_seconds(tune, tune->memory.best);
	return entries > 1 ? seconds / count * entries : 0;
}

/* A search usually finds something that is clear at the first look, but the first evaluations do not show it yet. */
static double pairs_guess(const struct tune *tune) {
	return tune->tally.evaluations < EVALUATIONS_TELLING ? tune_pairs_first(tune) : tune_pairs_expected(tune);
}

/* The budget keeps more for the finals than they usually take. The race gets a share of `room` at most. */
static double finals_guess(const struct tune *tune, double evaluations, double room) {
	double base = tune_base_seconds(tune);
	double best = isnan(tune->memory.best) ? 0 : tune_final_seconds(tune, tune->memory.best);
	double race = fmin(RACE_BLOCKS_USUAL * block_seconds(tune, evaluations), RACE_SHARE * room);
	double pairs = pairs_guess(tune), whole = pairs * (base + 2 * best);
	return race + tune_rent_seconds(tune) +
	       (whole > room - race ? pairs * (base + best) : whole); /* there may be no time for the control */
}

static double search_left(const struct tune *tune, double until) {
	double each = tune_evaluation_seconds(tune), rest = fmax(0, configurations(tune) - (double)tune->tally.evaluations);
	double search = rest * each, room = INFINITY;
	if (isfinite(until)) {
		search = fmin(search, fmax(0, until - tune_finals_kept(tune)));
		room = until - search;
	}
	double more = each > 0 ? search / each : rest;
	return search + finals_guess(tune, (double)tune->tally.evaluations + more, room);
}

static double finals_left(const struct tune *tune) {
	return fmax(0, tune->money.outlook.expected - (tune_elapsed(tune) - tune->money.outlook.begun));
}

/* Pairs go on until the result is clear, and the one that is under way is always finished. */
static double duel_left(const struct tune *tune) {
	if (tune->money.outlook.duel_trials == 0)
		return finals_left(tune);
	int pair = tune->money.outlook.pair_trials, open = (pair - tune->money.outlook.duel_trials % pair) % pair;
	double rest = fmax(tune_pairs_expected(tune) * pair - tune->money.outlook.duel_trials, open);
	return rest * (tune_elapsed(tune) - tune->money.outlook.duel_begun) / tune->money.outlook.duel_trials;
}

/* Estimated seconds until the session ends; NAN: not known. */
static double tune_remaining(const struct tune *tune, enum tune_phase phase) {
	double budget = tune_budget_time(tune), left = INFINITY;
	double until = budget > 0 ? fmax(0, budget - tune_elapsed(tune)) : INFINITY;
	if (phase == TUNE_SEARCH && !tune->bench.fleet && tune->tally.evaluations > 0)
		left = search_left(tune, until);
	else if (phase == TUNE_RACE && !tune->bench.fleet)
		left = finals_left(tune);
	else if (phase == TUNE_DUEL && !tune->bench.fleet)
		left = duel_left(tune);
	/* what the finals leave goes back to the search */
	if (phase > TUNE_SEARCH && tune_promised(tune) && tune->stopped && strcmp(tune->stopped, "budget") == 0 &&
	    left + tune_evaluation_seconds(tune) < until)
		left = until;
	left = fmin(left, until);
	return isfinite(left) ? left : NAN;
}

void tune_finals_clock(struct tune *tune) {
	tune->money.outlook.begun = tune_elapsed(tune);
	tune->money.outlook.expected = finals_guess(tune, (double)tune->memory.worked_count, tune_left(tune));
}

/* The share of the budget that is used up. */
static double share_used(const struct tune *tune) {
	double time = tune_budget_time(tune), limit = (double)tune->money.budget.evaluations;
	return time > 0 ? tune_elapsed(tune) / time : limit > 0 ? (double)tune->tally.evaluations / limit : 0;
}

/* Reports the first useful configuration. */
static void tune_first_report(struct tune *tune) {
	const struct tune_observer *observer = tune->observer;
	double gain = tune->memory.baseline.value / tune->memory.best;
	if (tune->money.reported || !observer || !observer->found || tune_is_recalling(tune) || !tune_is_useful(tune) ||
	    share_used(tune) < FIRST_SHARE)
		return;
	js_auto json_t *config = space_config_json(tune->task->space, tune->memory.best_index);
	observer->found(observer->ctx, config, tune->task->baseline, gain);
	tune->money.reported = true;
}

const char *tune_phase_word(enum tune_phase phase) {
	static const char *const words[] = {"baseline", "search", "race", "duel", "counters"};
	return words[phase];
}

static uint64_t failure_total(const struct tune *tune) {
	uint64_t total = 0;
	for (int i = 0; i < TRIAL_STATUS_COUNT; i++)
		if (i != TRIAL_CORRECT && i != TRIAL_CENSORED)
			total += tune->tally.failures[i];
	return total;
}

static double value_of(const struct trial_result *result) {
	return !result                            ? NAN
	       : result->status == TRIAL_CORRECT  ? result->value
	       : result->status == TRIAL_CENSORED ? result->least
	                                          : NAN;
}

void tune_report(struct tune *tune, enum tune_phase phase) {
	tune_report_trial(tune, phase, NULL, NULL);
}

void tune_report_trial(struct tune *tune, enum tune_phase phase, const json_t *config,
                       const struct trial_result *result) {
	const struct tune_task *task = tune->task;
	js_auto json_t *best =
		tune->memory.best_index == UINT64_MAX ? NULL : space_config_json(task->space, tune->memory.best_index);
	uint64_t limit = tune->money.budget.evaluations;
	uint64_t valid = space_valid(task->space);
	const struct tune_progress progress = {
		.phase = phase,
		.kernel = task->kernel,
		.evaluations = tune->tally.evaluations,
		.limit = limit && limit < valid ? limit : valid,
		.failures = failure_total(tune),
		.best = tune_shown(tune, tune->memory.best),
		.baseline = tune_shown(tune, tune->memory.baseline.value),
		.unit = task->goal.metric ? trial_metric_unit(task->goal.metric) : trial_objective_unit(task->goal.objective),
		.gain = tune->memory.baseline.value / tune->memory.best,
		.elapsed = tune_elapsed(tune),
		.budget = tune_budget_time(tune) + tune->counting.kept,
		.left = tune_remaining(tune, phase),
		.building = task->builder ? builder_figures(task->builder).running : 0,
		.note = tune->search ? search_phase(tune->search) : NULL,
		.best_config = best,
		.config = config,
		.status = result ? result->status : TRIAL_CORRECT,
		.value = tune_shown(tune, value_of(result)),
	};
	if (tune->bench.busy)
		busy_look(tune->bench.busy);
	if (tune->observer && tune->observer->progress)
		tune->observer->progress(tune->observer->ctx, &progress);
	if (phase != TUNE_BASELINE)
		tune_first_report(tune);
}
