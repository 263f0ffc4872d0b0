/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The result of a session as a document. */
#include <math.h>

#include "base/json/js.h"
#include "base/stats.h"
#include "tuner/model/pareto.h"
#include "tuner/race/look.h"
#include "tuner/race/unsafe.h"
#include "tuner/result/result.h"
#include "tuner/tune/bench_impl.h"

static const json_t *counted_of(const struct tune *tune, const json_t *config) {
	mem_auto char *key = config ? js_canonical(config) : NULL;
	return key ? json_object_get(tune->counting.counted, key) : NULL;
}

/* Adds the counters of the configuration in setup["config"]; setup may be NULL. */
static void setup_add(const struct tune *tune, json_t *setup) {
	static const char *const keys[] = {"counters", "metrics", "simulation", "regions", "regions_notes"};
	const json_t *row = counted_of(tune, json_object_get(setup, "config"));
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		json_t *member = json_object_get(row, keys[i]);
		if (member)
			json_object_set(setup, keys[i], member);
	}
}

/* The overhead of counting: the geometric mean over all configurations, less 1. */
static double overhead_of(const struct tune *tune) {
	double sum = 0;
	int count = 0;
	js_members (key, row, tune->counting.counted) {
		double overhead = js_real_or(json_object_get(row, "counting"), "overhead", NAN);
		if (overhead > -1) {
			sum += log1p(overhead);
			count++;
		}
	}
	return count ? expm1(sum / count) : NAN;
}

static double start_stop_of(const struct tune *tune) {
	double most = NAN;
	js_members (key, row, tune->counting.counted)
		most = fmax(most, js_real_or(json_object_get(row, "counting"), "start_stop_s", NAN));
	return most;
}

static json_t *counting_json(const struct tune *tune) {
	json_t *asked = json_array();
	for (const char *const *word = tune->task->counters.asked; *word; word++)
		json_array_append_new(asked, json_string(*word));
	return json_pack("{s:o,s:b,s:b,s:I,s:f,s:o,s:o,s:O}", "asked", asked, "default", tune->task->counters.optional,
	                 "every", tune->task->counters.every, "configurations",
	                 (json_int_t)json_object_size(tune->counting.counted), "seconds", tune->counting.seconds,
	                 "overhead", js_number(overhead_of(tune)), "start_stop_s", js_number(start_stop_of(tune)),
	                 "failures", tune->counting.uncounted);
}

/* Adds the counters and the cost of counting to the result. */
static void tune_counted_add(const struct tune *tune, json_t *result) {
	if (!counting_asked(tune))
		return;
	setup_add(tune, json_object_get(result, "baseline"));
	setup_add(tune, json_object_get(result, "best"));
	js_each (finalist, json_object_get(result, "finalists"))
		setup_add(tune, finalist);
	json_object_set_new(result, "counting", counting_json(tune));
}

/* Points of the front differ by more than this, or than the noise floor. */
static const double NOISE_LEAST = 0.01;

static double median_member(const json_t *entry, const char *key) {
	const json_t *array = json_object_get(entry, key);
	size_t count = json_array_size(array);
	double *values = mem_alloc(count, sizeof *values), median;
	for (size_t i = 0; i < count; i++)
		values[i] = json_number_value(json_array_get(array, i));
	median = stats_median(values, count);
	free(values);
	return median;
}

static bool is_unsafe(const struct tune *tune, const json_t *config) {
	struct err err = {0};
	bool unsafe = false;
	return unsafe_holds(tune->task->unsafe, tune->task->problem, config, &unsafe, &err) || unsafe;
}

static json_t *row_json(const struct tune *tune, const json_t *entry, const double values[2]) {
	const struct tune_task *task = tune->task;
	return json_pack("{s:O,s:f,s:f,s:I}", "config", json_object_get(entry, "config"),
	                 trial_objective_word(task->goal.objective), values[0], trial_objective_word(task->goal.second),
	                 values[1], "trials", (json_int_t)json_array_size(json_object_get(entry, "first")));
}

/* The front in the order of the first objective: [{"config", one member named like each objective, "trials"}]. New
 * reference. */
static json_t *tune_pareto(const struct tune *tune) {
	size_t room = json_object_size(tune->finals.both), count = 0, *front = mem_alloc(room + 1, sizeof *front);
	double(*values)[2] = mem_alloc(room + 1, sizeof *values);
	const json_t **entries = mem_alloc(room + 1, sizeof *entries);
	double floor = tune->finals.dueled ? duel_noise_floor(&tune->finals.duel) : NAN;
	json_t *array = json_array();
	js_members (key, entry, tune->finals.both) {
		if (is_unsafe(tune, json_object_get(entry, "config")))
			continue;
		values[count][0] = median_member(entry, "first");
		values[count][1] = median_member(entry, "second");
		entries[count++] = entry;
	}
	size_t kept = (size_t)pareto_front((const double(*)[2])values, count, front);
	kept = (size_t)pareto_thin((const double(*)[2])values, front, kept, fmax(NOISE_LEAST, floor));
	for (size_t i = 0; i < kept; i++)
		json_array_append_new(array, row_json(tune, entries[front[i]], values[front[i]]));
	free(front);
	free(values);
	free(entries);
	return array;
}
/* 1/x swaps the ends of an interval. */
static json_t *shown_interval(const struct tune *tune, const double ci[2]) {
	double low = tune_shown(tune, ci[0]), high = tune_shown(tune, ci[1]);
	const double shown[2] = {tune->task->goal.maximize ? high : low, tune->task->goal.maximize ? low : high};
	return json_pack("[o,o]", js_number(shown[0]), js_number(shown[1]));
}

static json_t *setup_json(const struct tune *tune, const json_t *config, double median, const double ci[2]) {
	const char *unit = tune->task->goal.metric ? trial_metric_unit(tune->task->goal.metric)
	                                           : trial_objective_unit(tune->task->goal.objective);
	json_t *setup = json_pack("{s:O,s:o,s:o,s:s}", "config", config, "median", js_number(tune_shown(tune, median)),
	                          "ci", shown_interval(tune, ci), "unit", unit);
	mem_auto char *key = js_canonical(config);
	const struct trial_result *base = &tune->memory.baseline;
	json_t *gpu = json_object_get(tune->finals.gpus, key);
	if (!gpu && base->status == TRIAL_CORRECT && json_equal(config, tune->task->baseline)) /* it met nothing */
		gpu = json_object_get(base->reply, "gpu");
	if (gpu)
		json_object_set(setup, "gpu", gpu);
	return setup;
}

/* The best so far. The one with the least single value may have lost its lead when it was measured again. */
static uint64_t best_of_search(const struct tune *tune) {
	if (tune->memory.best_index != UINT64_MAX)
		return tune->memory.best_index;
	uint64_t index = tune->search ? history_best(search_history(tune->search)) : UINT64_MAX;
	js_auto json_t *config = index != UINT64_MAX ? space_config_json(tune->task->space, index) : NULL;
	bool fallen = config && tune_has_fallen(tune, config);
	return fallen ? UINT64_MAX : index;
}

/* The search may have another best. */
static double value_of(const struct tune *tune, const json_t *config) {
	uint64_t index = UINT64_MAX;
	bool known = space_config_read(tune->task->space, config, NULL, &index, NULL) == 0;
	for (size_t i = 0; known && i < tune->memory.worked_count; i++)
		if (tune->memory.worked[i].index == index && isfinite(tune->memory.worked[i].value))
			return tune->memory.worked[i].value;
	return tune->memory.best;
}

/* The result of the search alone, if there was no complete duel. */
static void undecided(const struct tune *tune, json_t *result) {
	const double none[2] = {NAN, NAN};
	double ci[2];
	const struct trial_result *base = &tune->memory.baseline;
	stats_median_ci(base->samples, base->sample_count, 0.95, ci);
	json_object_set_new(result, "baseline", setup_json(tune, tune->task->baseline, base->value, ci));
	if (tune->finals.best_config) {
		bool keeps = tune_has_reference(tune) && json_equal(tune->finals.best_config, tune->task->baseline);
		json_object_set_new(result, "best",
		                    setup_json(tune, tune->finals.best_config,
		                               keeps ? base->value : value_of(tune, tune->finals.best_config), none));
	} else if (best_of_search(tune) != UINT64_MAX) {
		js_auto json_t *config = space_config_json(tune->task->space, best_of_search(tune));
		json_object_set_new(result, "best", setup_json(tune, config, tune->memory.best, none));
	}
	json_object_set_new(result, "speedup", json_null());
	verdict_set(result, tune_has_reference(tune) ? VERDICT_UNDECIDED : VERDICT_NO_BASELINE);
	if (!tune_has_reference(tune)) {
		json_t *baseline = json_object_get(result, "baseline");
		json_object_set_new(baseline, "status", json_string(trial_status_word(base->status)));
		json_object_set_new(baseline, "message", json_string(base->message));
		if (json_array_size(json_object_get(base->reply, "said")))
			json_object_set(baseline, "output", json_object_get(base->reply, "said"));
	}
}

/* Half of the space, or each value once, or as much as the search thought worthwhile. */
static bool is_enough(const struct tune *tune) {
	uint64_t valid = space_valid(tune->task->space);
	bool ended = tune->stopped && (strcmp(tune->stopped, "space") == 0 || strcmp(tune->stopped, "gain") == 0);
	return ended || 2 * tune->tally.evaluations >= valid || !tune->search ||
	       history_covers(search_history(tune->search), tune->task->space);
}

/* Nothing is a tie with what was not tried. The speedup belongs to the best: a baseline that stays has that of 1, or
 * none while it is open whether another one is faster. */
static void verdict_add(const struct tune *tune, json_t *result, enum verdict verdict, struct speedup speedup) {
	bool few = verdict == VERDICT_TIE && !is_enough(tune), keeps = result_read(result).keeps;
	bool open = few || verdict == VERDICT_UNDECIDED;
	if (keeps)
		speedup = (struct speedup){1, 1, 1};
	json_object_set_new(result, "speedup", keeps && open ? json_null() : speedup_json(speedup));
	verdict_set(result, few ? VERDICT_UNDECIDED : verdict);
	if (few)
		json_object_set_new(result, "few", json_true());
}

/* The baseline stays without a duel, and its run in the search is all that is known of its time. */
static void alone(const struct tune *tune, json_t *result) {
	const struct trial_result *base = &tune->memory.baseline;
	double ci[2];
	stats_median_ci(base->samples, base->sample_count, 0.95, ci);
	json_object_set_new(result, "baseline", setup_json(tune, tune->task->baseline, base->value, ci));
	json_object_set_new(result, "best", setup_json(tune, tune->task->baseline, base->value, ci));
	verdict_add(tune, result, VERDICT_TIE, (struct speedup){1, 1, 1});
	json_object_set_new(result, "pairs", json_integer(0));
	if (tune->finals.rival_ratio > 0 && isfinite(tune->finals.rival_ratio))
		json_object_set_new(result, "closest", json_real(tune->finals.rival_ratio));
}

/* A winner of the search that lost its duel is a tie, because the baseline stays, and so is one that cannot be much
 * faster. Against a baseline that stopped working nothing is proven. */
static enum verdict duel_verdict(const struct duel_result *duel, bool keeps) {
	static const double GAIN_OF_TIE = 1.15; /* which the pairs may leave open */
	bool gains = duel->paired.ci[0] < 1 - duel_defaults.margin, much = GAIN_OF_TIE * duel->paired.ci[0] < 1;
	if (duel->lost[1] || (duel->verdict == PAIRED_TIE && ((!duel->decided && (gains || !keeps)) || (keeps && much))))
		return VERDICT_UNDECIDED;
	return duel->verdict == PAIRED_SLOWER ? VERDICT_TIE : verdict_named(paired_said(duel->verdict, &duel->paired));
}

/* What may harm results, or only looks fast beside others, has to pay itself, whatever the rest of the changes brings.
 */
static bool is_risky(const struct tune *tune) {
	if (tune->finals.trust.unverified)
		return true;
	js_each (price, tune->finals.worth) {
		const char *danger = js_string_or(price, "danger", NULL);
		bool harms = danger && strncmp(danger, "unsafe", 6) == 0;
		if (!js_bool_or(price, "proven", true) && (harms || (danger && race_watch_is_busy(&tune->finals.watch))))
			return true;
	}
	return false;
}

/* Names the remedy of an undecided comparison: so many more pairs of this noise, or a quieter machine where these are
 * more than anybody has time for. */
static void decide_add(const struct tune *tune, json_t *result) {
	const struct duel_result *duel = &tune->finals.duel;
	const struct look_rule rule = {.pairs_max = duel_defaults.pairs_max,
	                               .pairs_min = duel_defaults.pairs_min,
	                               .first = RACE_PAIRS_SHORT,
	                               .margin = duel_defaults.margin,
	                               .level = duel_defaults.level};
	double more = look_missing(&rule, duel->a, duel->b, duel->paired.count, sqrt(2) * tune_noise(tune));
	bool few = more <= RACE_PAIRS_PATIENCE * duel_defaults.pairs_max;
	if (verdict_of(result) != VERDICT_UNDECIDED || duel->lost[1] || duel->paired.count < 2)
		return;
	more = few ? ceil(more) : RACE_PAIRS_PATIENCE * duel_defaults.pairs_max;
	json_object_set_new(result, "decide",
	                    json_pack("{s:s,s:I,s:o}", "by", few ? "pairs" : "quiet", "pairs", (json_int_t)more, "seconds",
	                              js_number(more * tune_pair_seconds(tune))));
}

/* Reports the duel. The ratio is baseline over recommendation: above 1 is a gain. */
static void decided(const struct tune *tune, json_t *result) {
	const struct duel_result *duel = &tune->finals.duel;
	const struct paired *paired = &duel->paired;
	bool keeps = json_equal(tune->finals.best_config, tune->task->baseline);
	struct speedup speedup = speedup_inverse(paired->ratio, paired->ci);
	int best = keeps ? 1 : 0;
	if (duel->bounded)
		speedup.high = INFINITY;
	if (keeps && !tune->finals.reversed) /* what the duel says of the one that the baseline stays for */
		json_object_set_new(result, "rival", speedup_json(speedup));
	json_object_set_new(result, "baseline", setup_json(tune, tune->task->baseline, duel->median[1], duel->ci[1]));
	json_object_set_new(result, "best", setup_json(tune, tune->finals.best_config, duel->median[best], duel->ci[best]));
	enum verdict verdict = duel_verdict(duel, keeps);
	verdict_add(tune, result, verdict == VERDICT_FASTER && is_risky(tune) ? VERDICT_UNDECIDED : verdict, speedup);
	if (tune->finals.reversed)
		json_object_set_new(result, "slower", json_true());
	json_object_set_new(result, "pairs", json_integer((json_int_t)paired->count));
	json_object_set_new(result, "noise_floor", js_number(duel_noise_floor(duel)));
	decide_add(tune, result);
}

/* Pairs whose baseline was ended tell nothing but that it is slower. */
static bool is_met(const struct tune *tune) {
	const struct duel_result *duel = &tune->finals.duel;
	return tune->finals.dueled && tune->finals.best_config && duel->paired.count > 1 &&
	       (duel->bounded == 0 || duel->verdict == PAIRED_FASTER);
}

static json_t *finalists_shown(const struct tune *tune) {
	json_t *shown = json_deep_copy(tune->finals.finalists);
	js_each (finalist, shown)
		json_object_set_new(finalist, "median", js_number(tune_shown(tune, js_real_or(finalist, "median", NAN))));
	return shown;
}

/* In how many runs the result of what is recommended was checked; nothing if nobody can tell. */
static void checked_add(const struct tune *tune, json_t *result) {
	const json_t *config = json_object_get(json_object_get(result, "best"), "config");
	uint64_t runs = config ? tune_checked_runs(tune, config) : 0;
	if (tune->finals.trust.unverified)
		json_object_set_new(result, "unverified", json_true());
	if (runs || tune->task->checked || tune->finals.trust.unverified)
		json_object_set_new(result, "checked",
		                    json_pack("{s:s,s:I}", "how",
		                              runs == 0             ? "nothing"
		                              : tune->task->checked ? tune->task->checked
		                                                    : "verify",
		                              "runs", (json_int_t)runs));
}

/* Nothing is said of what makes the baseline fast. */
static void worth_add(const struct tune *tune, json_t *result) {
	const struct result read = result_read(result);
	if (!tune->finals.worth || read.keeps || !read.compared)
		return;
	json_object_set(result, "worth", tune->finals.worth);
	json_object_set(result, "not_needed", tune->finals.not_needed);
}

/* Adds the fastest of those that seemed to be faster than the best, and do other work. */
static void left_out_add(const struct tune *tune, json_t *result) {
	const double none[2] = {NAN, NAN};
	double least = isnan(tune->memory.best) ? INFINITY : tune->memory.best;
	for (size_t i = 0; !tune->finals.any_work && i < tune->memory.worked_count; i++) {
		if (!(tune->memory.worked[i].value < least))
			continue;
		js_auto json_t *config = space_config_json(tune->task->space, tune->memory.worked[i].index);
		if (!tune_is_other(tune, config) || json_equal(config, tune->finals.best_config))
			continue;
		least = tune->memory.worked[i].value;
		json_object_set_new(result, "other_work", setup_json(tune, config, least, none));
	}
}

/* new reference; NULL: nothing is built */
static json_t *tune_building_json(const struct tune *tune) {
	if (!tune->task->builder)
		return NULL;
	const struct build_figures figures = builder_figures(tune->task->builder);
	return json_pack("{s:i,s:s,s:i,s:I,s:I,s:I,s:o,s:f,s:o}", "jobs", (int)figures.jobs, "when",
	                 figures.jobs == 1 ? "one by one"
	                 : figures.beside  ? "beside measurements"
	                                   : "between measurements",
	                 "ahead", (int)tune->bench.ahead.depth, "reused", (json_int_t)figures.found, "stopped",
	                 (json_int_t)figures.stopped, "given_up", (json_int_t)figures.given_up, "patience_s",
	                 js_number(figures.patience_s), "seconds", figures.spent_s, "unfit_s",
	                 js_number(tune->bench.ahead.unfit_s > 0 ? tune->bench.ahead.unfit_s : NAN));
}

static const char *const words[SPENT_COUNT] = {
	[SPENT_IDLE] = "idle",     [SPENT_BUILD] = "build",       [SPENT_MEASURE] = "measure",
	[SPENT_VERIFY] = "verify", [SPENT_PROBE] = "probe",       [SPENT_RACE] = "race",
	[SPENT_DUEL] = "duel",     [SPENT_COUNTERS] = "counters", [SPENT_SEARCH] = "search",
};

/* new reference */
/* The time of an interrupted run is only known as a whole. */
static json_t *tune_seconds_json(const struct tune *tune) {
	json_t *seconds = json_object();
	double rest = tune_elapsed(tune) - tune->money.spent_before;
	for (int i = 1; i < SPENT_COUNT; i++) {
		json_object_set_new(seconds, words[i], json_real(tune->money.spent[i]));
		rest -= tune->money.spent[i];
	}
	json_object_set_new(seconds, words[SPENT_IDLE], json_real(fmax(rest, 0)));
	if (tune->money.spent_before > 0)
		json_object_set_new(seconds, "earlier", json_real(tune->money.spent_before));
	return seconds;
}

static const json_t *measured_of(const struct tune *tune, const char *param) {
	js_each (effect, tune->finals.effects)
		if (strcmp(js_string_or(effect, "param", ""), param) == 0)
			return effect;
	return NULL;
}

/* The effects that pairs have measured, in the same form; `estimate` is the ratio of an effect that is known from the
 * search only. */
static json_t *tune_effects_measured(const struct tune *tune) {
	json_t *effects = tune_effects(tune);
	js_each (effect, effects) {
		const json_t *measured = measured_of(tune, js_string_or(effect, "param", ""));
		bool clear = json_number_value(json_array_get(json_object_get(effect, "ci"), 0)) > 1;
		if (measured) {
			json_object_update(effect, (json_t *)measured);
			continue;
		}
		if (js_bool_or(effect, "known", false) && clear)
			json_object_set(effect, "estimate", json_object_get(effect, "ratio"));
		json_object_set_new(effect, "known", json_false());
		json_object_del(effect, "ratio");
		json_object_del(effect, "ci");
		json_object_del(effect, "best");
		json_object_del(effect, "worst");
	}
	return effects;
}

/* [{"name", "configurations"}] */
static json_t *sources_json(const struct tune_sources *sources) {
	json_t *array = json_array();
	for (size_t i = 0; sources && i < sources->count; i++)
		json_array_append_new(array, json_pack("{s:s,s:I}", "name", sources->list[i].name, "configurations",
		                                       (json_int_t)sources->list[i].count));
	return array;
}

json_t *tune_result(const struct tune *tune) {
	const struct tune_task *task = tune->task;
	mem_auto char *objective = tune_objective(task);
	json_t *result = json_pack("{s:s,s:O,s:s,s:s,s:I,s:{s:f,s:I},s:I,s:f,s:o}", "kernel", task->kernel, "problem",
	                           task->problem, "objective", objective, "strategy", task->strategy->name, "seed",
	                           (json_int_t)task->seed, "space", "cartesian", space_cartesian(task->space), "valid",
	                           (json_int_t)space_valid(task->space), "evaluations", (json_int_t)tune->tally.evaluations,
	                           "elapsed_s", tune_elapsed(tune), "failures", trial_failures_json(tune->tally.failures));
	json_object_set_new(result, "device", json_string(task->device ? task->device : "cpu"));
	if (task->device_name)
		json_object_set_new(result, "device_name", json_string(task->device_name));
	json_object_set_new(result, "seconds", tune_seconds_json(tune));
	if (task->builder) {
		json_object_set_new(result, "builds", json_integer((json_int_t)builder_figures(task->builder).made));
		json_object_set_new(result, "building", tune_building_json(tune));
	}
	if (is_met(tune))
		decided(tune, result);
	else if (tune->finals.no_rival)
		alone(tune, result);
	else
		undecided(tune, result);
	if (!is_met(tune) && tune->finals.duel.bounded > 0 && tune->finals.duel.paired.count > 0)
		json_object_set_new(result, "cut_pairs", json_integer((json_int_t)tune->finals.duel.paired.count));
	checked_add(tune, result);
	json_object_set_new(result, "proven", json_boolean(verdict_is_decided(result)));
	if (tune->bench.fleet) {
		json_object_set_new(result, "nodes", fleet_json(tune->bench.fleet));
		json_object_set_new(result, "node_seconds", json_real(fleet_held(tune->bench.fleet).seconds));
		json_object_set_new(result, "node_seconds_busy", json_real(fleet_seconds(tune->bench.fleet)));
	}
	if (tune->finals.gain.unconfirmed)
		json_object_set(result, "unconfirmed", tune->finals.gain.nodes);
	worth_add(tune, result);
	left_out_add(tune, result);
	if (tune->finals.finalists)
		json_object_set_new(result, "finalists", finalists_shown(tune));
	tune_counted_add(tune, result);
	if (tune->bench.busy)
		json_object_set_new(result, "load", race_watch_json(&tune->finals.watch));
	if (json_array_size(tune->tally.failed))
		json_object_set(result, "failed", tune->tally.failed);
	if (tune->tally.incomparable)
		json_object_set_new(result, "incomparable", json_integer((json_int_t)tune->tally.incomparable));
	json_object_set_new(result, "sources", sources_json(tune->memory.sources));
	json_object_set_new(result, "stopped",
	                    tune->stopped && !tune_interrupted(tune) ? json_string(tune->stopped) : json_null());
	json_object_set_new(result, "effects", tune_effects_measured(tune));
	if (task->goal.pareto) {
		json_object_set_new(
			result, "objectives",
			json_pack("[s,s]", trial_objective_word(task->goal.objective), trial_objective_word(task->goal.second)));
		json_object_set_new(result, "pareto", tune_pareto(tune));
	}
	json_object_set_new(result, "command", json_string(task->command));
	json_object_set_new(result, "search", json_integer((json_int_t)tune->memory.id));
	return result;
}
