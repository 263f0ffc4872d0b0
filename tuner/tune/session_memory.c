/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The results of a session so far: what worked and how fast, what failed, and how many runs were checked
 * (doc/measurement.md, rule 11). */
#include <math.h>

#include "base/json/js.h"
#include "base/stats.h"
#include "tuner/model/effects/effects.h"
#include "tuner/race/deviation.h"
#include "tuner/tune/bench_impl.h"

/* The deviation of the value once `one` is merged into `sum`. */
static double deviation_merged(double before, const struct trial_result *sum, const struct trial_result *one,
                               enum merge merge) {
	double fresh = one->status == TRIAL_CORRECT ? deviation_of_median(one->samples, one->sample_count) : 0;
	if (merge == MERGE_FIRST || sum->status != TRIAL_CORRECT)
		return fresh;
	if (one->status != TRIAL_CORRECT)
		return before;
	if (merge == MERGE_MEAN)
		return deviation_of_mean(sum->value, before, one->value, fresh);
	return one->value < sum->value ? fresh : before;
}

/* Merges `one` into sum. Returns false if `one` is a failure after a success, which changes nothing, unless its result
 * was wrong: no disturbance explains that. */
static bool merge_into(struct trial_result *sum, struct trial_result *one, enum merge merge) {
	bool worked_before = merge != MERGE_FIRST && sum->status == TRIAL_CORRECT;
	struct trial_result old = *sum;
	if (worked_before && one->status != TRIAL_CORRECT && one->status != TRIAL_CORRECTNESS)
		return false;
	if (merge != MERGE_FIRST && one->status != TRIAL_CORRECTNESS)
		one->least = fmin(old.least, one->least);
	if (worked_before && one->status == TRIAL_CORRECT)
		one->value = merge == MERGE_MEAN ? sqrt(old.value * one->value) : fmin(old.value, one->value);
	*sum = *one;
	memset(one, 0, sizeof *one);
	if (merge != MERGE_FIRST)
		trial_result_clear(&old);
	return true;
}

bool tune_merge(double *deviation, struct trial_result *sum, struct trial_result *one, enum merge merge) {
	*deviation = deviation_merged(*deviation, sum, one, merge);
	return merge_into(sum, one, merge);
}

/* Asked again and again, because more runs tell more. */
static bool counts(const struct tune *tune, uint64_t index) {
	if (!tune->task->hooks.other_work || tune->finals.any_work)
		return true;
	js_auto json_t *config = space_config_json(tune->task->space, index);
	return !tune_is_other(tune, config);
}

void tune_best_find(struct tune *tune) {
	uint64_t before = tune->memory.best_index;
	tune->memory.best = NAN;
	tune->memory.best_index = UINT64_MAX;
	for (size_t i = 0; i < tune->memory.worked_count; i++) {
		const struct measured *measured = &tune->memory.worked[i];
		if (tune->memory.best <= measured->value || !isfinite(measured->value) || !counts(tune, measured->index))
			continue;
		tune->memory.best = measured->value;
		tune->memory.best_index = measured->index;
	}
	if (tune->memory.best_index != before)
		tune->memory.best_at = tune->tally.evaluations;
}

void tune_best_choose(struct tune *tune, bool finals) {
	if (!tune->task->hooks.other_work || tune->memory.worked_count == 0)
		return;
	tune->finals.any_work = false;
	tune_best_find(tune);
	tune->finals.any_work = finals && !tune_is_useful(tune);
	if (tune->finals.any_work)
		tune_best_find(tune);
}

static void remember(struct tune *tune, uint64_t index, double value, const struct trial_result *result) {
	tune->memory.worked = mem_grow(tune->memory.worked, tune->memory.worked_count + 1, sizeof *tune->memory.worked);
	tune->memory.worked[tune->memory.worked_count++] =
		(struct measured){.index = index,
	                      .value = value,
	                      .least = result->least > 0 ? result->least : value,
	                      .wall = tune_wall(result),
	                      .times = 1};
	if (isfinite(value) && !(tune->memory.best <= value) && counts(tune, index)) {
		tune->memory.best = value;
		tune->memory.best_index = index;
		tune->memory.best_at = tune->tally.evaluations;
	}
}

void tune_remember(struct tune *tune, uint64_t index, const struct trial_result *result) {
	if (result->status == TRIAL_CORRECT)
		remember(tune, index, result->value, result);
	else if (result->status == TRIAL_CENSORED && result->least > 0)
		remember(tune, index, INFINITY, result);
}

/* The values of the counters, NAN for those not counted; NULL: none was counted. The caller frees the array. */
static double *counters_of(const struct tune *tune, const struct trial_result *result) {
	size_t count = json_array_size(tune->counting.names), i;
	const json_t *rows = json_object_get(result->reply, "counters");
	double *values = count && json_array_size(rows) ? mem_alloc(count, sizeof *values) : NULL;
	js_auto json_t *values_by_name = json_object();
	js_each (row, rows) {
		json_t *value = json_object_get(row, "value");
		if (json_is_number(value))
			json_object_set(values_by_name, js_string_or(row, "name", ""), value);
	}
	for (i = 0; values && i < count; i++) {
		const char *name = json_string_value(json_array_get(tune->counting.names, i));
		values[i] = js_real_or(values_by_name, name, NAN);
	}
	return values;
}

/* A program that was ended at its time limit takes at least that long: an observation, unlike a crash. */
static bool tells_least(const struct tune *tune, const struct trial_result *result) {
	return result->status == TRIAL_TIMEOUT && tune->task->whole_programs && !tune->task->goal.metric;
}

/* A build that was given up tells how long it takes at least. */
static bool was_given_up(const struct tune *tune, uint64_t index) {
	if (!tune->task->builder)
		return false;
	js_auto json_t *config = space_config_json(tune->task->space, index);
	return builder_gave_up(tune->task->builder, config);
}

static double of_sample(enum trial_objective objective, double seconds, double joules) {
	static const double powers[TRIAL_OBJECTIVE_COUNT][2] = {
		[TRIAL_OBJECTIVE_TIME] = {1, 0}, [TRIAL_OBJECTIVE_ENERGY] = {0, 1}, [TRIAL_OBJECTIVE_EDP] = {1, 1}};
	return pow(seconds, powers[objective][0]) * pow(joules, powers[objective][1]);
}

/* The median of an objective over a trial's samples; NAN if seconds or joules are missing. */
static double of_trial(const json_t *reply, enum trial_objective objective) {
	const json_t *seconds = json_object_get(reply, "samples"), *joules = json_object_get(reply, "energy_j");
	size_t count = json_array_size(seconds);
	if (count == 0 || json_array_size(joules) != count)
		return NAN;
	double *values = mem_alloc(count, sizeof *values), median = NAN;
	bool good = true;
	for (size_t i = 0; i < count; i++) {
		double second = json_number_value(json_array_get(seconds, i)),
			   joule = json_number_value(json_array_get(joules, i));
		values[i] = of_sample(objective, second, joule);
		good = good && second > 0 && joule > 0 && isfinite(values[i]) && values[i] > 0;
	}
	if (good)
		median = stats_median(values, count);
	free(values);
	return median;
}

void tune_outcome_report(struct tune *tune, uint64_t index, const struct trial_result *result) {
	struct strategy_outcome outcome = {.result = STRATEGY_FAILURE,
	                                   .seconds = tune->bench.current.seconds + tune->bench.current.build_seconds,
	                                   .build = tune->bench.current.build_seconds};
	mem_auto double *counters = counters_of(tune, result);
	tune_remember(tune, index, result);
	if (result->status == TRIAL_CORRECT) {
		outcome.result = STRATEGY_VALUE;
		outcome.value = result->value;
		outcome.second = tune->task->goal.pareto ? of_trial(result->reply, tune->task->goal.second) : 0;
		outcome.deviation = tune->bench.current.deviation; /* of the value, which is a median or the mean of two */
	} else if (result->status == TRIAL_CENSORED) {
		outcome.result = STRATEGY_CENSORED;
		outcome.value = result->value;
	}
	if (tells_least(tune, result)) {
		outcome.result = STRATEGY_CENSORED;
		outcome.value = tune_request(tune, NULL).timeout_s;
	}
	outcome.given_up = result->status == TRIAL_COMPILE && was_given_up(tune, index);
	outcome.counters = counters;
	search_tell(tune->search, index, &outcome);
}

void tune_pareto_record(struct tune *tune, const json_t *config, const struct trial_result *result) {
	const struct tune_task *task = tune->task;
	if (!task->goal.pareto || result->status != TRIAL_CORRECT)
		return;
	double first = of_trial(result->reply, task->goal.objective), second = of_trial(result->reply, task->goal.second);
	if (isnan(first) || isnan(second))
		return;
	mem_auto char *key = js_canonical(config);
	json_t *entry = json_object_get(tune->finals.both, key);
	if (!entry) {
		entry = json_pack("{s:o,s:[],s:[]}", "config", json_deep_copy(config), "first", "second");
		json_object_set_new(tune->finals.both, key, entry);
	}
	json_array_append_new(json_object_get(entry, "first"), json_real(first));
	json_array_append_new(json_object_get(entry, "second"), json_real(second));
}

void tune_checked_note(struct tune *tune, const json_t *config, const struct trial_result *result) {
	double verify = js_real_or(result->reply, "verify_s", 0);
	tune->finals.trust.unverified |= js_bool_or(result->reply, "unverified", false);
	uint64_t runs = verify > 0 && !tune->finals.trust.unverified;
	if (tune->task->whole_programs && result->status == TRIAL_CORRECT && json_object_get(result->reply, "evidence") &&
	    json_equal(config, tune->task->baseline))
		tune->finals.trust.whole += result->sample_count;
	if (tune->task->whole_programs)
		runs = tune->task->checked && !json_object_get(result->reply, "unchecked") ? result->sample_count : 0;
	if (result->status != TRIAL_CORRECT || runs == 0)
		return;
	if (verify > 0 && !(tune->finals.trust.verify_s > 0 && tune->finals.trust.verify_s <= verify))
		tune->finals.trust.verify_s = verify;
	mem_auto char *key = js_canonical(config);
	json_object_set_new(tune->finals.trust.checked, key,
	                    json_integer((json_int_t)runs + js_int_or(tune->finals.trust.checked, key, 0)));
}

uint64_t tune_checked_runs(const struct tune *tune, const json_t *config) {
	mem_auto char *key = js_canonical(config);
	return (uint64_t)js_int_or(tune->finals.trust.checked, key, 0);
}

bool tune_has_fallen(const struct tune *tune, const json_t *config) {
	mem_auto char *key = js_canonical(config);
	return json_object_get(tune->finals.trust.fallen, key);
}

void tune_forget(struct tune *tune, uint64_t index) {
	for (size_t i = 0; i < tune->memory.worked_count; i++)
		if (tune->memory.worked[i].index == index)
			tune->memory.worked[i].value = tune->memory.worked[i].least = INFINITY;
	if (tune->memory.best_index == index)
		tune_best_find(tune);
}

void tune_fall(struct tune *tune, const json_t *config) {
	uint64_t index = UINT64_MAX;
	mem_auto char *key = js_canonical(config);
	json_object_set_new(tune->finals.trust.fallen, key, json_true());
	if (space_config_read(tune->task->space, config, NULL, &index, NULL))
		return;
	if (tune->memory.cut_index == index)
		tune->memory.cut_index = UINT64_MAX;
	tune_forget(tune, index);
}

static json_t *failed_find(const struct tune *tune, const json_t *config, const char *status) {
	js_each (failed, tune->tally.failed)
		if (json_object_get(failed, "phase") && strcmp(js_string_or(failed, "status", ""), status) == 0 &&
		    json_equal(json_object_get(failed, "config"), config))
			return failed;
	return NULL;
}

/* Counts once what a configuration does wrong again and again. A wrong result is never a disturbance, so that one is
 * enough; crashes and hangs are judged by the race and the duel. */
void tune_failure_note(struct tune *tune, const char *phase, const json_t *config, const struct trial_result *result) {
	const char *status = trial_status_word(result->status);
	if (result->status == TRIAL_CORRECT || result->status == TRIAL_CENSORED)
		return;
	json_t *known = failed_find(tune, config, status);
	if (!known) {
		tune->tally.failures[result->status]++;
		known = json_pack("{s:s,s:O,s:s,s:s}", "status", status, "config", config, "message", result->message, "phase",
		                  phase);
		json_array_append_new(tune->tally.failed, known);
	}
	json_object_set_new(known, "times", json_integer(1 + js_int_or(known, "times", 0)));
	if (result->status == TRIAL_CORRECTNESS && !json_equal(config, tune->task->baseline))
		tune_fall(tune, config);
}

/* A configuration that an interrupted run of this search found wrong stays wrong. */
static int earlier_see(void *ctx, const struct store_trial *trial) {
	static const char *const phases[] = {"probe", "race", "duel", "ablation", "check"};
	struct tune *tune = ctx;
	struct trial_result result = {.status = TRIAL_CORRECTNESS};
	bool later = false;
	for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
		later = later || strcmp(trial->phase, phases[i]) == 0;
	js_auto json_t *config = later && strcmp(trial->status, trial_status_word(result.status)) == 0
	                             ? js_parse(trial->config, strlen(trial->config), "the store", NULL)
	                             : NULL;
	snprintf(result.message, sizeof result.message, "%s", trial->message ? trial->message : "");
	if (config)
		tune_failure_note(tune, trial->phase, config, &result);
	return 0;
}

int tune_earlier_failures(struct tune *tune, struct err *err) {
	return tune->task->resume ? store_trials_each(tune->task->store, tune->memory.id, NULL, earlier_see, tune, err) : 0;
}

/* The effect of each parameter in the search. */
struct rows {
	const struct space *space;
	size_t count;
	uint64_t *index; /* ascending up to `sorted` */
	size_t sorted;
	int *level;
	double *cost;
	bool *over;
};

static struct rows rows_new(const struct tune *tune) {
	struct rows rows = {.space = tune->task->space};
	size_t room = 1 + tune->memory.worked_count;
	if (tune->search)
		room += history_count(search_history(tune->search));
	rows.index = mem_alloc(room, sizeof *rows.index);
	rows.level = mem_alloc(room * (1 + space_params(rows.space)), sizeof *rows.level);
	rows.cost = mem_alloc(room, sizeof *rows.cost);
	rows.over = mem_alloc(room, sizeof *rows.over);
	return rows;
}

static void rows_free(struct rows *rows) {
	free(rows->index);
	free(rows->level);
	free(rows->cost);
	free(rows->over);
}

static void row_add(struct rows *rows, uint64_t index, double cost, bool over) {
	size_t params = space_params(rows->space);
	int config[SPACE_PARAMS_MAX];
	if (!(cost > 0) || !isfinite(cost))
		return;
	space_config(rows->space, index, config);
	for (size_t p = 0; p < params; p++)
		rows->level[rows->count * params + p] = config[p] == SPACE_ABSENT ? EFFECTS_ABSENT : config[p];
	rows->index[rows->count] = index;
	rows->over[rows->count] = over;
	rows->cost[rows->count++] = cost;
}

static int by_number(const void *a, const void *b) {
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static int by_index(const void *a, const void *b) {
	return by_number(&((const struct measured *)a)->index, &((const struct measured *)b)->index);
}

/* Adds a configuration that was cut short before its first sample: only its limit is known. */
static void outcome_add(void *ctx, uint64_t index, const struct strategy_outcome *outcome) {
	struct rows *rows = ctx;
	if (outcome->result == STRATEGY_CENSORED &&
	    !bsearch(&index, rows->index, rows->sorted, sizeof *rows->index, by_number))
		row_add(rows, index, outcome->value, true);
}

/* Trials that were cut short count with their smallest sample. Without them all slow configurations would be missing,
 * and with them the effect of whatever made them slow. */
static void rows_fill(struct rows *rows, const struct tune *tune) {
	struct measured *sorted = mem_alloc(tune->memory.worked_count + 1, sizeof *sorted);
	for (size_t i = 0; i < tune->memory.worked_count; i++)
		sorted[i] = tune->memory.worked[i];
	qsort(sorted, tune->memory.worked_count, sizeof *sorted, by_index);
	for (size_t i = 0; i < tune->memory.worked_count; i++)
		row_add(rows, sorted[i].index, isfinite(sorted[i].value) ? sorted[i].value : sorted[i].least, false);
	free(sorted);
	rows->sorted = rows->count;
	if (tune->search)
		history_each(search_history(tune->search), outcome_add, rows);
}

static json_t *level_json(const struct space *space, size_t param, int level) {
	return value_json(space_param_value(space, param, (size_t)level));
}

static json_t *measured_effect_json(const struct space *space, size_t param, const struct effect *effect) {
	json_t *object = json_pack("{s:s,s:b,s:I}", "param", space_param_name(space, param), "known", effect->known, "seen",
	                           (json_int_t)effect->seen);
	if (effect->known) {
		json_object_set_new(object, "ratio", js_number(effect->ratio));
		json_object_set_new(object, "ci", js_reals(effect->ci, 2));
		json_object_set_new(object, "best", level_json(space, param, effect->best));
		json_object_set_new(object, "worst", level_json(space, param, effect->worst));
	}
	return object;
}

/* Today's setting may lie outside of the space. */
static void today_find(const struct tune *tune, int *today) {
	const struct space *space = tune->task->space;
	for (size_t p = 0; p < space_params(space); p++) {
		const json_t *value = json_object_get(tune->task->baseline, space_param_name(space, p));
		today[p] = EFFECTS_ABSENT;
		for (size_t level = 0; value && level < space_param_values(space, p); level++) {
			js_auto json_t *one = level_json(space, p, (int)level);
			if (json_equal(one, value))
				today[p] = (int)level;
		}
	}
}

json_t *tune_effects(const struct tune *tune) {
	const struct space *space = tune->task->space;
	size_t params = space_params(space), levels[SPACE_PARAMS_MAX];
	struct effect effects[SPACE_PARAMS_MAX];
	int today[SPACE_PARAMS_MAX];
	struct rows rows = rows_new(tune);
	json_t *array = json_array();
	for (size_t p = 0; p < params; p++)
		levels[p] = space_param_values(space, p);
	rows_fill(&rows, tune);
	today_find(tune, today);
	const struct effects_table data = {.rows = rows.count,
	                                   .params = params,
	                                   .levels = levels,
	                                   .level = rows.level,
	                                   .cost = rows.cost,
	                                   .over = rows.over,
	                                   .today = today};
	effects_fit(&data, effects); /* with too little data no effect is known */
	for (size_t p = 0; p < params; p++)
		json_array_append_new(array, measured_effect_json(space, p, &effects[p]));
	rows_free(&rows);
	return array;
}
