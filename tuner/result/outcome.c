/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the parts of a result, and says what they imply: was everything tried, did anything meet the baseline? */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/result/result.h"

struct setup setup_read(const json_t *json) {
	struct setup setup = {SETUP_MEMBERS(MEMBER_FALLBACK)};
	members_take(MEMBERS_OF(struct setup, SETUP_MEMBERS), json, &setup);
	setup.json = json_is_object(json) ? json : NULL;
	return setup;
}

struct load load_read(const json_t *json) {
	struct load load = {LOAD_MEMBERS(MEMBER_FALLBACK)};
	members_take(MEMBERS_OF(struct load, LOAD_MEMBERS), json, &load);
	return load;
}

static struct param_effect effect_read(const json_t *json) {
	struct param_effect effect = {EFFECT_MEMBERS(MEMBER_FALLBACK)};
	members_take(MEMBERS_OF(struct param_effect, EFFECT_MEMBERS), json, &effect);
	effect.speedup = speedup_read(json);
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
	const json_t *rows = json_object_get(json, list);
	struct counts counts = {mem_alloc(json_array_size(rows) + 1, sizeof *counts.rows), json_array_size(rows)};
	for (size_t i = 0; i < counts.count; i++) {
		counts.rows[i] = (struct counted){COUNTED_MEMBERS(MEMBER_FALLBACK)};
		members_take(MEMBERS_OF(struct counted, COUNTED_MEMBERS), json_array_get(rows, i), &counts.rows[i]);
	}
	return counts;
}

struct result result_read(const json_t *json) {
	const json_t *best = json_object_get(json, "best");
	struct result result = {RESULT_MEMBERS(MEMBER_FALLBACK)};
	members_take(MEMBERS_OF(struct result, RESULT_MEMBERS), json, &result);
	result.json = json;
	result.baseline = setup_read(json_object_get(json, "baseline"));
	result.best = setup_read(best ? best : json_object_get(json, "winner"));
	result.verdict = verdict_of(json);
	result.speedup = speedup_of(json);
	result.load = load_read(json_object_get(json, "load"));
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

static struct machine machine_read(const json_t *json) {
	struct machine machine = {MACHINE_MEMBERS(MEMBER_FALLBACK)};
	members_take(MEMBERS_OF(struct machine, MACHINE_MEMBERS), json, &machine);
	machine.json = json;
	return machine;
}

struct profile_entry profile_entry_read(const json_t *json) {
	struct profile_entry entry = {ENTRY_MEMBERS(MEMBER_FALLBACK)};
	members_take(MEMBERS_OF(struct profile_entry, ENTRY_MEMBERS), json, &entry);
	entry.json = json;
	entry.baseline = setup_read(json_object_get(json, "baseline"));
	entry.verdict = verdict_of(json);
	entry.speedup = speedup_of(json);
	entry.keeps = json_equal(entry.config, entry.baseline.config);
	return entry;
}

struct profile profile_read(const json_t *json) {
	const json_t *entries = json_object_get(json, "entries");
	struct profile profile = {PROFILE_MEMBERS(MEMBER_FALLBACK)};
	members_take(MEMBERS_OF(struct profile, PROFILE_MEMBERS), json, &profile);
	profile.json = json;
	profile.machine = machine_read(json_object_get(json, "machine"));
	profile.count = json_array_size(entries);
	profile.entries = mem_alloc(profile.count + 1, sizeof *profile.entries);
	for (size_t i = 0; i < profile.count; i++)
		profile.entries[i] = profile_entry_read(json_array_get(entries, i));
	return profile;
}
