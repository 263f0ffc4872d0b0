/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/js.h"
#include "src/base/mem.h"
#include "tuner/tune_state.h"

/* A trial is cut short when it can't get within this factor of the best: noise while searching is smaller. */
static const double LIMIT_FACTOR = 1.25;
/* What one of energy takes at least, as the worker has it. */
static const double ENERGY_SAMPLE_SECONDS = 0.2;
/* What the finals may take of the time, at most, when their cost is reckoned up beforehand. */
static const double FINALS_SHARE_MAX = 0.6;
/* Even the shortest time is worth a look at a few: the duel that follows takes longer. */
static const uint64_t EVALUATIONS_MIN = 8, EVALUATIONS_MIN_OF_PROGRAM = 4;
/* Seconds that nobody asked for become at least this many runs of a program. */
static const double RUNS_EXPECTED = 100;
/* What runs longer is not run a second time before the search begins. */
static const double WARMUP_UNDER_SECONDS = 1;
static const int AGAIN_MAX = 2;
static const int RACE_BLOCKS_EXPECTED = 6, DUEL_PAIRS_EXPECTED = 21;

static void remember(struct tune *tune, uint64_t index, double value, const struct trial_result *result) {
	tune->worked = mem_grow(tune->worked, tune->worked_count + 1, sizeof *tune->worked);
	tune->worked[tune->worked_count++] = (struct measured){.index = index,
	                                                       .value = value,
	                                                       .promise = result->least > 0 ? result->least : value,
	                                                       .wall = tune_wall(result),
	                                                       .times = 1};
	if (isfinite(value) && !(tune->best <= value)) {
		tune->best = value;
		tune->best_index = index;
	}
}

static void tell(struct tune *tune, uint64_t index, const struct trial_result *result) {
	switch (result->status) {
	case TRIAL_CORRECT:
		remember(tune, index, result->value, result);
		search_tell_value(tune->search, index, STRATEGY_VALUE, result->value);
		break;
	case TRIAL_CENSORED:
		if (result->least > 0)
			remember(tune, index, INFINITY, result);
		search_tell_value(tune->search, index, STRATEGY_CENSORED, result->value);
		break;
	default:
		search_tell_value(tune->search, index, STRATEGY_FAILURE, 0);
	}
}

/* An interrupted run's outcome, taken over instead of measuring again. */
static bool recall(struct tune *tune, const json_t *config, struct trial_result *result) {
	char *text = js_canonical(config);
	const json_t *earlier = json_object_get(tune->earlier, text);
	free(text);
	if (!earlier || !trial_status_find(js_string_or(earlier, "status", ""), &result->status))
		return false;
	result->value = js_real_or(earlier, "value", NAN);
	result->elapsed_s = js_real_or(earlier, "elapsed", 0);
	return result->status != TRIAL_CORRECT || result->value > 0;
}

/* What the machine disturbed gets another chance: that only ever makes it slower. What looks like the new best is
 * measured once more before it is believed: the smallest of many noisy numbers is too small. */
static int measure_again(struct tune *tune, const char *phase, const struct trial_request *request,
                         struct trial_result *result, struct err *err) {
	for (int again = 0; result->disturbed && again < AGAIN_MAX && !tune_interrupted(tune); again++)
		if (tune_attempt(tune, phase, request, MERGE_BEST, result, err))
			return -1;
	if (result->status == TRIAL_CORRECT && result->value < tune->best && !tune_interrupted(tune))
		return tune_attempt(tune, phase, request, MERGE_MEAN, result, err);
	return 0;
}

static int measure(struct tune *tune, const char *phase, const json_t *config, double limit,
                   struct trial_result *result, struct err *err) {
	struct trial_request request = tune_request(tune, config);
	memset(result, 0, sizeof *result);
	result->value = NAN;
	request.limit_s = tune->task->objective ? 0 : limit;
	if (tune->task->counters.every) {
		request.counters = tune->task->counters.asked;
		request.slow = tune->task->counters.slow;
	}
	if (recall(tune, config, result))
		return 0;
	if (tune_attempt(tune, phase, &request, MERGE_FIRST, result, err))
		return -1;
	return measure_again(tune, phase, &request, result, err);
}

static double finals_seconds(const struct tune *tune) {
	double base = tune->baseline.status == TRIAL_CORRECT ? tune_seconds(tune, tune->baseline.value) : 0;
	double best = isnan(tune->best) ? 0 : tune_seconds(tune, tune->best);
	double race = RACE_BLOCKS_EXPECTED * FINALISTS_MAX * 1.05 * best;
	double duel = DUEL_PAIRS_EXPECTED * (base + 2 * best);
	double share = FINALS_SHARE_MAX * tune->budget.seconds;
	return race + duel < share ? race + duel : share;
}

static bool spent(const struct tune *tune) {
	const struct tune_budget *budget = &tune->budget;
	if (budget->evaluations && tune->evaluations >= budget->evaluations)
		return true;
	if (tune->evaluations < (tune->task->whole_programs ? EVALUATIONS_MIN_OF_PROGRAM : EVALUATIONS_MIN))
		return false;
	return budget->seconds > 0 && tune_elapsed(tune) + finals_seconds(tune) >= budget->seconds;
}

/* Evaluations that the budget will allow, for strategies that plan ahead. */
static uint64_t budget_evaluations(const struct tune *tune) {
	const struct tune_budget *budget = &tune->budget;
	if (budget->evaluations)
		return budget->evaluations;
	if (budget->seconds > 0 && tune->baseline.elapsed_s > 0) {
		double count = (budget->seconds - finals_seconds(tune)) / tune->baseline.elapsed_s;
		return count < 1 ? 1 : (uint64_t)count;
	}
	return 0;
}

static int search_step(struct tune *tune, uint64_t index, struct err *err) {
	json_t *config = space_config_json(tune->task->space, index);
	struct trial_result result;
	double limit = isnan(tune->best) ? 0 : LIMIT_FACTOR * tune->best;
	int failed = measure(tune, "search", config, limit, &result, err);
	json_decref(config);
	if (failed) {
		trial_result_clear(&result);
		return -1;
	}
	tune->evaluations++;
	tune->failures[result.status]++;
	tell(tune, index, &result);
	trial_result_clear(&result);
	tune_report(tune, TUNE_SEARCH);
	return 0;
}

/* What a run takes, and what is done before and after it; a build is none of it. */
static void program_clock(struct tune *tune) {
	const struct trial_result *result = &tune->baseline;
	double wall = tune_wall(result), runs = (double)json_array_size(json_object_get(result->reply, "samples"));
	double all = js_real_or(result->reply, "elapsed_s", NAN) / runs;
	tune->run_seconds = wall > 0 ? wall : result->elapsed_s;
	tune->extra_seconds = isfinite(all) ? fmax(0, all - tune->run_seconds) : 0;
}

/* A program's first run warms up what there is to warm up, and tells how often a run can be afforded. */
static int look_at_program(struct tune *tune, struct err *err) {
	struct trial_result *baseline = &tune->baseline;
	if (measure(tune, "baseline", tune->task->baseline, 0, baseline, err))
		return -1;
	program_clock(tune);
	double expected = RUNS_EXPECTED * (tune->run_seconds + tune->extra_seconds);
	if (tune->budget.may_grow && tune->budget.seconds < expected)
		tune->budget.seconds = expected;
	if (baseline->status != TRIAL_CORRECT || tune->run_seconds > WARMUP_UNDER_SECONDS)
		return 0;
	trial_result_clear(baseline);
	if (measure(tune, "baseline", tune->task->baseline, 0, baseline, err))
		return -1;
	program_clock(tune);
	return 0;
}

/* Before the strategy begins: the baseline's time tells how many evaluations the budget will allow. */
static int measure_baseline(struct tune *tune, struct err *err) {
	const struct tune_task *task = tune->task;
	tune_report(tune, TUNE_BASELINE);
	if (task->whole_programs ? look_at_program(tune, err)
	                         : measure(tune, "baseline", task->baseline, 0, &tune->baseline, err))
		return -1;
	if (task->objective)
		tune->run_seconds = fmax(tune_wall(&tune->baseline), ENERGY_SAMPLE_SECONDS);
	tune->evaluations++;
	tune->failures[tune->baseline.status]++;
	tune->search = search_new(
		task->strategy,
		&(struct strategy_task){
			.space = task->space, .seed = task->seed, .start = task->start, .budget = budget_evaluations(tune)},
		err);
	if (!tune->search)
		return -1;
	if (task->start != UINT64_MAX)
		tell(tune, task->start, &tune->baseline);
	else if (tune->baseline.status == TRIAL_CORRECT)
		tune->best = tune->baseline.value;
	return 0;
}

int tune_search_phase(struct tune *tune, struct err *err) {
	if (measure_baseline(tune, err))
		return -1;
	while (!spent(tune)) {
		uint64_t index;
		if (tune_interrupted(tune))
			return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
		if (search_ask(tune->search, &index, 1) == 0)
			break;
		if (tune_probe_best(tune, err) || search_step(tune, index, err))
			return -1;
	}
	return 0;
}
