/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the parts of a result, and says what they imply: was everything tried, did anything meet the baseline? */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/value.h"
#include "tuner/result/result.h"

static struct setup setup_read(const json_t *json) {
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
	result.compared =
		json_is_object(json_object_get(json, "speedup")) || json_is_object(json_object_get(json, "rival"));
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
	return result->compared && speedup_is_vague(result->speedup);
}

/* Are larger values of the metric better? */
static bool result_is_maximized(const struct result *result) {
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

static double end_of(const json_t *json, size_t end) {
	const json_t *one = json_array_get(json_object_get(json, "ci"), end);
	return json_is_number(one) ? json_number_value(one) : end == 1 && json_is_null(one) ? (double)INFINITY : NAN;
}

struct speedup speedup_read(const json_t *json) {
	return (struct speedup){js_real_or(json, "ratio", NAN), end_of(json, 0), end_of(json, 1)};
}

struct speedup speedup_of(const json_t *result) {
	const json_t *rival = json_object_get(result, "rival");
	return speedup_read(rival ? rival : json_object_get(result, "speedup"));
}

struct speedup speedup_inverse(double ratio, const double ci[2]) {
	return (struct speedup){1 / ratio, 1 / ci[1], 1 / ci[0]};
}

json_t *speedup_json(struct speedup speedup) {
	return json_pack("{s:o,s:[o,o]}", "ratio", js_number(speedup.ratio), "ci", js_number(speedup.low),
	                 js_number(speedup.high));
}

bool speedup_has_interval(struct speedup speedup) {
	return speedup.low > 0 && speedup.high > 0 && isfinite(speedup.high);
}

bool speedup_is_vague(struct speedup speedup) {
	static const double WIDEST = 100;
	return speedup.low < 1 / WIDEST || (speedup.high > WIDEST && isfinite(speedup.high));
}

bool speedup_is_unbounded(struct speedup speedup) {
	static const double USELESS = 20;
	return speedup.high > USELESS * speedup.ratio;
}

bool speedup_is_least(struct speedup speedup) {
	return speedup.low > 0 && isinf(speedup.high);
}

/* Rounded down, so that it stays true. */
static double least_of(struct speedup speedup) {
	double step = speedup.low < 10 ? 100 : speedup.low < 100 ? 10 : 1;
	return floor(step * speedup.low + 1e-9) / step;
}

static struct shown interval_text(struct speedup speedup, const char *const forms[3]) {
	struct shown shown = {"-"};
	if (isnan(speedup.ratio))
		return shown;
	if (speedup_is_least(speedup))
		snprintf(shown.text, sizeof shown.text, forms[2], least_of(speedup));
	else
		snprintf(shown.text, sizeof shown.text, forms[speedup_has_interval(speedup)], speedup.ratio, speedup.low,
		         speedup.high);
	return shown;
}

struct shown speedup_text(struct speedup speedup) {
	static const char *const forms[] = {"%.2fx", "%.2fx [%.2f, %.2f]", "at least %.2fx"};
	return interval_text(speedup, forms);
}

struct shown speedup_digits_text(struct speedup speedup) {
	static const char *const forms[] = {"%.3gx", "%.3gx [%.3g, %.3g]", "at least %.3gx"};
	return interval_text(speedup, forms);
}

static const char *const words[VERDICT_COUNT] = {
#define VERDICT_WORD(name, word) word,
	VERDICTS(VERDICT_WORD)
#undef VERDICT_WORD
};

const char *verdict_word(enum verdict verdict) {
	return words[verdict];
}

bool verdict_find(const char *word, enum verdict *verdict) {
	for (int i = 0; i < VERDICT_COUNT; i++) {
		if (strcmp(word, words[i]) == 0) {
			*verdict = i;
			return true;
		}
	}
	return false;
}

enum verdict verdict_named(const char *word) {
	enum verdict verdict = VERDICT_UNDECIDED;
	verdict_find(word, &verdict);
	return verdict;
}

const char *verdict_said(const json_t *result, const char *fallback) {
	return js_string_or(result, VERDICT_MEMBER, fallback);
}

enum verdict verdict_of(const json_t *result) {
	return verdict_named(verdict_said(result, ""));
}

void verdict_set(json_t *result, enum verdict verdict) {
	json_object_set_new(result, VERDICT_MEMBER, json_string(words[verdict]));
}

void verdict_copy(json_t *to, const json_t *from) {
	json_t *verdict = json_object_get(from, VERDICT_MEMBER);
	json_object_set_new(to, VERDICT_MEMBER, verdict ? json_incref(verdict) : json_null());
}

bool verdict_is_faster(const json_t *result) {
	enum verdict verdict = verdict_of(result);
	return verdict == VERDICT_FASTER || verdict == VERDICT_NOT_SAME;
}

bool verdict_is_decided(const json_t *result) {
	return verdict_of(result) != VERDICT_UNDECIDED;
}

static char *nothing_text(const char *why) {
	char *text = mem_printf("nothing%s%s", *why ? ": " : "", why);
	text_clean(text, false);
	return text;
}

char *verdict_checked(const json_t *result) {
	const json_t *checked = json_object_get(result, "checked");
	const char *how = js_string_or(checked, "how", NULL), *by = js_string_or(checked, "by", "its own test");
	const char *except = js_string_or(checked, "except", NULL);
	long long runs = (long long)js_int_or(checked, "runs", 0);
	bool verified = how && strcmp(how, "verify") == 0;
	if (!how)
		return NULL;
	if (!verified && strcmp(how, "output same") != 0 && strcmp(how, "files same") != 0)
		return nothing_text(js_string_or(checked, "why", ""));
	mem_auto char *text = verified ? mem_printf("verified by %s", by)
	                               : mem_printf("%s%s%s", how, except ? " but for " : "", except ? except : "");
	const char *files = js_string_or(checked, "files", NULL);
	const char *link = !files ? "" : strcmp(how, "files same") == 0 ? ": " : "; files same: ";
	char *all = runs > 0 ? mem_printf("%s in %lld of %lld runs%s%s", text, runs, runs, link, files ? files : "")
	                     : mem_strdup(text);
	text_clean(all, false);
	return all;
}

/* The worth of each change of a recommendation, and how a gain is told where its interval is wide. */
/* A ratio whose interval is wider than this factor is told by its lower end, which is safe. */
static const double WIDE = 1.5;

bool speedup_is_wide(struct speedup speedup) {
	return speedup_is_least(speedup) || (speedup_has_interval(speedup) && !(speedup.high <= WIDE * speedup.low));
}

double speedup_told(struct speedup speedup) {
	return speedup_is_wide(speedup) ? least_of(speedup) : speedup.ratio;
}

char *speedup_gain_text(struct speedup speedup, const char *word) {
	const char *space = *word ? " " : "";
	if (speedup_is_wide(speedup))
		return mem_printf("at least %.*fx%s%s",
		                  speedup.low < 10    ? 2
		                  : speedup.low < 100 ? 1
		                                      : 0,
		                  least_of(speedup), space, word);
	return mem_printf("%.2fx%s%s [%.2f, %.2f]", speedup.ratio, space, word, speedup.low, speedup.high);
}

char *result_setting_text(const json_t *price) {
	const char *set = js_string_or(price, "set", NULL);
	struct value value;
	if (set)
		return mem_strdup(set);
	if (!value_from_json(json_object_get(price, "value"), &value))
		return mem_printf("%s (left out)", js_string_or(price, "param", "?"));
	mem_auto char *text = value_string(value);
	return mem_printf("%s=%s", js_string_or(price, "param", "?"), text);
}

char *result_worth_text(const json_t *price) {
	struct speedup ratio = speedup_read(price);
	const char *danger = js_string_or(price, "danger", NULL);
	mem_auto char *setting = result_setting_text(price);
	bool vague = speedup_is_unbounded(ratio) || speedup_is_vague(ratio);
	bool open = !js_bool_or(price, "proven", true) && ratio.ratio > 0;
	mem_auto char *gain = js_bool_or(price, "fails", false) ? mem_strdup("without it nothing works")
	                      : isnan(ratio.ratio)              ? mem_strdup("not measured alone")
	                      : ratio.low > 1 && !open          ? speedup_gain_text(ratio, "")
	                      : vague                           ? mem_strdup("too noisy to tell")
	                                                        : mem_strdup(speedup_text(ratio).text);
	char *text =
		mem_printf("%s  %s%s%s%s", setting, gain, open ? ", not proven" : "", danger ? "; " : "", danger ? danger : "");
	text_clean(text, true);
	return text;
}

/* The variable of a parameter where it has one. */
static const char *shown_name(const json_t *result, const char *param) {
	const json_t *program = json_object_get(result, "program");
	return js_string_or(json_object_get(program ? program : result, "variables"), param, param);
}

char *result_not_needed_text(const json_t *result) {
	js_auto json_t *seen = json_object();
	char *text = mem_strdup("");
	js_each (name, json_object_get(result, "not_needed")) {
		const char *shown = shown_name(result, json_is_string(name) ? json_string_value(name) : "?");
		if (!json_object_get(seen, shown))
			mem_append(&text, "%s%s", *text ? ", " : "", shown);
		json_object_set_new(seen, shown, json_true());
	}
	text_clean(text, true);
	return text;
}
