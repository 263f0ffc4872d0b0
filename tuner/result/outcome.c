/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the parts of a result, and says what they imply: was everything tried, did anything meet the baseline? */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "base/json/member.h"
#include "base/mem.h"
#include "tuner/result/result.h"

struct setup setup_read(const json_t *json) {
	static const struct member members[] = {
		FIELD(struct setup, config),          FIELD(struct setup, unit),   FIELD(struct setup, status),
		FIELD(struct setup, message),         FIELD(struct setup, median), FIELD_AT(struct setup, low, "ci.0"),
		FIELD_AT(struct setup, high, "ci.1"),
	};
	struct setup setup = {
		.json = json_is_object(json) ? json : NULL, .unit = "s", .median = NAN, .low = NAN, .high = NAN};
	members_take(members, json, &setup);
	return setup;
}

struct load load_read(const json_t *json) {
	static const struct member members[] = {
		FIELD(struct load, busy),       FIELD(struct load, load),   FIELD(struct load, steal),
		FIELD(struct load, processors), FIELD(struct load, blocks), FIELD(struct load, disturbed),
	};
	struct load load = {.load = NAN};
	members_take(members, json, &load);
	return load;
}

static struct param_effect effect_read(const json_t *json) {
	static const struct member members[] = {
		FIELD(struct param_effect, param), FIELD(struct param_effect, best),  FIELD(struct param_effect, worst),
		FIELD(struct param_effect, seen),  FIELD(struct param_effect, known),
	};
	struct param_effect effect = {.param = "?", .speedup = speedup_read(json)};
	members_take(members, json, &effect);
	return effect;
}

struct param_effect *effects_read(const json_t *json, size_t *count) {
	*count = json_array_size(json);
	struct param_effect *effects = *count ? mem_alloc(*count, sizeof *effects) : NULL;
	for (size_t i = 0; i < *count; i++)
		effects[i] = effect_read(json_array_get(json, i));
	return effects;
}

struct counts counts_read(const json_t *json, const char *list) {
	static const struct member members[] = {
		FIELD(struct counted, name),   FIELD(struct counted, group), FIELD(struct counted, status),
		FIELD(struct counted, source), FIELD(struct counted, unit),  FIELD(struct counted, formula),
		FIELD(struct counted, reason), FIELD(struct counted, value), FIELD(struct counted, imbalance),
	};
	const json_t *rows = json_object_get(json, list);
	struct counts counts = {mem_alloc(json_array_size(rows) + 1, sizeof *counts.rows), json_array_size(rows)};
	for (size_t i = 0; i < counts.count; i++) {
		counts.rows[i] = (struct counted){"?", "", "", "-", "", "", "", NAN, NAN};
		members_take(members, json_array_get(rows, i), &counts.rows[i]);
	}
	return counts;
}

struct result result_read(const json_t *json) {
	static const struct member members[] = {
		FIELD(struct result, kernel),
		FIELD(struct result, objective),
		FIELD(struct result, stopped),
		FIELD(struct result, narrower),
		FIELD(struct result, problem),
		FIELD(struct result, program),
		FIELD(struct result, pairs),
		FIELD(struct result, evaluations),
		FIELD_AT(struct result, valid, "space.valid"),
		FIELD_AT(struct result, censored, "failures.censored"),
		FIELD_AT(struct result, timeouts, "failures.timeout"),
		FIELD(struct result, incomparable),
		FIELD(struct result, elapsed_s),
		FIELD(struct result, closest),
	};
	const json_t *best = json_object_get(json, "best");
	struct result result = {.json = json, .kernel = "?", .objective = "time", .elapsed_s = NAN};
	members_take(members, json, &result);
	result.baseline = setup_read(json_object_get(json, "baseline"));
	result.best = setup_read(best ? best : json_object_get(json, "winner"));
	result.load = load_read(json_object_get(json, "load"));
	result.verdict = verdict_of(json);
	result.speedup = speedup_of(json);
	result.faster = verdict_is_faster(json);
	result.decided = verdict_is_decided(json);
	result.compared = json_is_object(json_object_get(json, "speedup"));
	result.keeps = json_equal(result.best.config, result.baseline.config);
	return result;
}

double result_speedup_most(const json_t *results) {
	double most = 1;
	for (size_t i = 0; i < json_array_size(results); i++)
		most = fmax(most, speedup_of(json_array_get(results, i)).ratio);
	return most;
}

bool result_no_bounds(const struct result *result) {
	return json_is_array(js_at(result->json, "speedup.ci")) && speedup_is_vague(result->speedup);
}

bool result_is_maximized(const struct result *result) {
	return strncmp(result->objective, "maximize ", 9) == 0;
}

bool result_is_rejected(const struct result *result) {
	return result->baseline.status && strcmp(result->baseline.status, "correctness") == 0;
}

bool result_medians_differ(const struct result *result) {
	static const double VISIBLE = 0.05;
	double from = result->baseline.median, to = result->best.median;
	double medians = result_is_maximized(result) ? to / from : from / to;
	return fabs(log(medians / result->speedup.ratio)) > VISIBLE;
}

bool result_untried(const struct result *result) {
	return result->keeps && result->evaluations == 1;
}

bool result_single(const struct result *result) {
	return result->keeps && result->valid == 1;
}

bool result_tried_all(const struct result *result) {
	return result->evaluations >= result->valid;
}

bool result_alone(const struct result *result) {
	return result->keeps && result->verdict == VERDICT_TIE && result->pairs == 0 &&
	       json_object_get(result->json, "pairs");
}

bool result_unmet(const struct result *result) {
	return result->keeps && !result->decided && !result->compared && result->timeouts + result->censored > 0 &&
	       result->load.busy;
}
