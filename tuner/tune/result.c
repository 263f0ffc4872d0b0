/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/stats.h"
#include "tuner/result/result.h"
#include "tuner/tune/state.h"

static json_t *interval(const double ci[2]) {
	return json_pack("[o,o]", js_number(ci[0]), js_number(ci[1]));
}

/* 1/x swaps the ends of an interval. */
static json_t *shown_interval(const struct tune *tune, const double ci[2]) {
	double low = tune_shown(tune, ci[0]), high = tune_shown(tune, ci[1]);
	const double shown[2] = {tune->task->maximize ? high : low, tune->task->maximize ? low : high};
	return interval(shown);
}

static json_t *failures_json(const struct tune *tune) {
	json_t *object = json_object();
	for (int i = 0; i < TRIAL_STATUS_COUNT; i++)
		if (i != TRIAL_CORRECT)
			json_object_set_new(object, trial_status_word(i), json_integer((json_int_t)tune->failures[i]));
	return object;
}

static json_t *setup_json(const struct tune *tune, const json_t *config, double median, const double ci[2]) {
	const char *unit =
		tune->task->metric ? trial_metric_unit(tune->task->metric) : trial_objective_unit(tune->task->objective);
	json_t *setup = json_pack("{s:O,s:o,s:o,s:s}", "config", config, "median", js_number(tune_shown(tune, median)),
	                          "ci", shown_interval(tune, ci), "unit", unit);
	char *key = js_canonical(config);
	const struct trial_result *base = &tune->baseline;
	json_t *gpu = json_object_get(tune->gpus, key);
	if (!gpu && base->status == TRIAL_CORRECT && json_equal(config, tune->task->baseline)) /* it met nothing */
		gpu = json_object_get(base->reply, "gpu");
	if (gpu)
		json_object_set(setup, "gpu", gpu);
	free(key);
	return setup;
}

/* The best so far. The one with the least single value may have lost its lead when it was measured again. */
static uint64_t best_of_search(const struct tune *tune) {
	if (tune->best_index != UINT64_MAX)
		return tune->best_index;
	uint64_t index = tune->search ? history_best(search_history(tune->search)) : UINT64_MAX;
	json_t *config = index != UINT64_MAX ? space_config_json(tune->task->space, index) : NULL;
	bool fallen = config && tune_has_fallen(tune, config);
	json_decref(config);
	return fallen ? UINT64_MAX : index;
}

/* The result of the search alone, if there was no complete duel. */
static void undecided(const struct tune *tune, json_t *result) {
	const double none[2] = {NAN, NAN};
	double ci[2];
	const struct trial_result *base = &tune->baseline;
	stats_median_ci(base->samples, base->sample_count, 0.95, ci);
	json_object_set_new(result, "baseline", setup_json(tune, tune->task->baseline, base->value, ci));
	if (tune->best_config) {
		bool keeps = base->status == TRIAL_CORRECT && json_equal(tune->best_config, tune->task->baseline);
		json_object_set_new(result, "best",
		                    setup_json(tune, tune->best_config, keeps ? base->value : tune->best, none));
	} else if (best_of_search(tune) != UINT64_MAX) {
		json_t *config = space_config_json(tune->task->space, best_of_search(tune));
		json_object_set_new(result, "best", setup_json(tune, config, tune->best, none));
		json_decref(config);
	}
	json_object_set_new(result, "speedup", json_null());
	verdict_set(result, base->status == TRIAL_CORRECT ? VERDICT_UNDECIDED : VERDICT_NO_BASELINE);
	if (base->status != TRIAL_CORRECT) {
		json_t *baseline = json_object_get(result, "baseline");
		json_object_set_new(baseline, "status", json_string(trial_status_word(base->status)));
		json_object_set_new(baseline, "message", json_string(base->message));
		if (json_array_size(json_object_get(base->reply, "said")))
			json_object_set(baseline, "output", json_object_get(base->reply, "said"));
	}
}

/* The baseline stays without a duel, and its run in the search is all that is known of its time. */
static void alone(const struct tune *tune, json_t *result) {
	const struct trial_result *base = &tune->baseline;
	double ci[2];
	stats_median_ci(base->samples, base->sample_count, 0.95, ci);
	json_object_set_new(result, "baseline", setup_json(tune, tune->task->baseline, base->value, ci));
	json_object_set_new(result, "best", setup_json(tune, tune->task->baseline, base->value, ci));
	json_object_set_new(result, "speedup", speedup_json((struct speedup){1, 1, 1}));
	verdict_set(result, VERDICT_TIE);
	json_object_set_new(result, "pairs", json_integer(0));
	if (tune->far > 0 && isfinite(tune->far))
		json_object_set_new(result, "closest", json_real(tune->far));
}

/* A winner of the search that lost its duel is a tie, because the baseline stays. Against a baseline that stopped
 * working nothing is proven. */
static enum verdict duel_verdict(const struct duel_result *duel) {
	if (duel->lost[1] || (duel->verdict == PAIRED_TIE && !duel->decided))
		return VERDICT_UNDECIDED;
	return duel->verdict == PAIRED_SLOWER ? VERDICT_TIE : verdict_named(paired_said(duel->verdict, &duel->paired));
}

/* Reports the duel. The ratio is baseline over recommendation: above 1 is a gain. */
static void decided(const struct tune *tune, json_t *result) {
	const struct duel_result *duel = &tune->duel;
	const struct paired *paired = &duel->paired;
	bool keeps = json_equal(tune->best_config, tune->task->baseline);
	struct speedup speedup = speedup_inverse(paired->ratio, paired->ci);
	int best = keeps ? 1 : 0;
	if (tune->reversed) /* the recommendation is the baseline */
		speedup = (struct speedup){1, 1, 1};
	json_object_set_new(result, "baseline", setup_json(tune, tune->task->baseline, duel->median[1], duel->ci[1]));
	json_object_set_new(result, "best", setup_json(tune, tune->best_config, duel->median[best], duel->ci[best]));
	json_object_set_new(result, "speedup", speedup_json(speedup));
	verdict_set(result, duel_verdict(duel));
	if (tune->reversed)
		json_object_set_new(result, "slower", json_true());
	json_object_set_new(result, "pairs", json_integer((json_int_t)paired->count));
	json_object_set_new(result, "noise_floor", js_number(duel_noise_floor(duel)));
}

static json_t *finalists_shown(const struct tune *tune) {
	json_t *shown = json_deep_copy(tune->finalists), *finalist;
	size_t i;
	json_array_foreach(shown, i, finalist)
		json_object_set_new(finalist, "median", js_number(tune_shown(tune, js_real_or(finalist, "median", NAN))));
	return shown;
}

/* A duel of the full length whose interval stays wide is undecided, but more of the same would not prove more. */
static bool is_settled(const struct tune *tune) {
	return tune->dueled && tune->best_config && tune->duel.paired.count > 1 && tune->duel.decided &&
	       !tune->duel.lost[1];
}

/* In how many runs the result of what is recommended was checked; nothing if nobody can tell. */
static void checked_add(const struct tune *tune, json_t *result) {
	const json_t *config = json_object_get(json_object_get(result, "best"), "config");
	uint64_t runs = config ? tune_checked_runs(tune, config) : 0;
	if (runs || tune->task->checked)
		json_object_set_new(result, "checked",
		                    json_pack("{s:s,s:I}", "how",
		                              runs == 0             ? "nothing"
		                              : tune->task->checked ? tune->task->checked
		                                                    : "verify",
		                              "runs", (json_int_t)runs));
}

json_t *tune_result(const struct tune *tune) {
	const struct tune_task *task = tune->task;
	char *objective = tune_objective(task);
	json_t *result = json_pack("{s:s,s:O,s:s,s:s,s:I,s:{s:f,s:I},s:I,s:f,s:o}", "kernel", task->kernel, "problem",
	                           task->problem, "objective", objective, "strategy", task->strategy->name, "seed",
	                           (json_int_t)task->seed, "space", "cartesian", space_cartesian(task->space), "valid",
	                           (json_int_t)space_valid(task->space), "evaluations", (json_int_t)tune->evaluations,
	                           "elapsed_s", tune_elapsed(tune), "failures", failures_json(tune));
	json_object_set_new(result, "device", json_string(task->device ? task->device : "cpu"));
	if (task->device_name)
		json_object_set_new(result, "device_name", json_string(task->device_name));
	json_object_set_new(result, "seconds", tune_seconds_json(tune));
	if (task->builder) {
		json_object_set_new(result, "builds", json_integer((json_int_t)builder_figures(task->builder).made));
		json_object_set_new(result, "building", tune_building_json(tune));
	}
	if (tune->dueled && tune->best_config && tune->duel.paired.count > 1)
		decided(tune, result);
	else if (tune->alone)
		alone(tune, result);
	else
		undecided(tune, result);
	checked_add(tune, result);
	json_object_set_new(result, "proven", json_boolean(result_is_decided(result) || is_settled(tune)));
	if (tune->fleet) {
		json_object_set_new(result, "nodes", fleet_json(tune->fleet));
		json_object_set_new(result, "node_seconds", json_real(fleet_held(tune->fleet).seconds));
		json_object_set_new(result, "node_seconds_busy", json_real(fleet_seconds(tune->fleet)));
	}
	if (tune->gain.unconfirmed)
		json_object_set(result, "unconfirmed", tune->gain.nodes);
	if (tune->finalists)
		json_object_set_new(result, "finalists", finalists_shown(tune));
	tune_counted_add(tune, result);
	if (tune->busy)
		json_object_set_new(result, "load", race_watch_json(&tune->watch));
	if (json_array_size(tune->failed))
		json_object_set(result, "failed", tune->failed);
	if (tune->incomparable)
		json_object_set_new(result, "incomparable", json_integer((json_int_t)tune->incomparable));
	json_object_set_new(result, "sources", tune_sources_json(tune->sources));
	json_object_set_new(result, "stopped", tune->stopped ? json_string(tune->stopped) : json_null());
	json_object_set_new(result, "effects", tune_effects(tune));
	if (task->pareto) {
		json_object_set_new(
			result, "objectives",
			json_pack("[s,s]", trial_objective_word(task->objective), trial_objective_word(task->second)));
		json_object_set_new(result, "pareto", tune_pareto(tune));
	}
	json_object_set_new(result, "runner_up", tune_runner_up(tune)); /* absent if there is none */
	json_object_set_new(result, "command", json_string(task->command));
	json_object_set_new(result, "search", json_integer((json_int_t)tune->id));
	free(objective);
	return result;
}
