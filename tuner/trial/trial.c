/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/stats.h"
#include "tuner/trial/trial.h"

static const char SILENT[] = "the worker gave no reason";

/* Sets the member to null unless it is a finite number, because the worker may have left it out. */
static void number_member(json_t *row, const char *key) {
	if (!isfinite(js_real_or(row, key, NAN)))
		json_object_set_new(row, key, json_null());
}

static void text_member(json_t *row, const char *key) {
	const char *text = js_string_or(row, key, "");
	json_object_set_new(row, key, *text ? json_string(text) : json_null());
}

/* The first word is the one that goes with a missing value. */
static bool is_status(const char *word, bool *counted) {
	static const char *const words[] = {"unavailable", "counted", "scaled", "simulated"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		*counted = i > 0;
		if (strcmp(word, words[i]) == 0)
			return true;
	}
	return false;
}

static bool has_value(const json_t *row) {
	return json_is_number(json_object_get(row, "value"));
}

/* A missing value always gets a reason. */
static void reason_member(json_t *row) {
	text_member(row, "reason");
	if (!has_value(row) && json_is_null(json_object_get(row, "reason")))
		json_object_set_new(row, "reason", json_string(SILENT));
}

static void counter_mend(json_t *row) {
	bool counted;
	number_member(row, "value");
	if (!is_status(js_string_or(row, "status", ""), &counted) || !counted || !has_value(row)) {
		json_object_set_new(row, "value", json_null());
		json_object_set_new(row, "status", json_string("unavailable"));
	}
	reason_member(row);
	text_member(row, "unit");
	text_member(row, "source");
	text_member(row, "group");
	number_member(row, "imbalance");
	if (!json_is_array(json_object_get(row, "per_thread")))
		json_object_set_new(row, "per_thread", json_array());
}

static void metric_mend(json_t *row) {
	number_member(row, "value");
	reason_member(row);
	text_member(row, "group");
	text_member(row, "unit");
	text_member(row, "formula");
}

static void region_mend(json_t *row) {
	number_member(row, "calls");
	number_member(row, "seconds");
	number_member(row, "threads");
}

/* Copies the rows that have a name, each mended. New reference. */
static json_t *rows_clean(const json_t *rows, void (*mend)(json_t *row)) {
	json_t *clean = json_array();
	js_each (row, rows) {
		if (!*js_string_or(row, "name", ""))
			continue;
		json_t *copy = json_copy(row);
		mend(copy);
		json_array_append_new(clean, copy);
	}
	return clean;
}

static json_t *texts_clean(const json_t *texts) {
	json_t *clean = json_array();
	js_each (text, texts)
		if (json_is_string(text))
			json_array_append(clean, text);
	return clean;
}

/* The cost of counting. Other members that the worker sent are kept. */
static json_t *counting_clean(const json_t *counting, double median) {
	json_t *clean = json_is_object(counting) ? json_copy((json_t *)counting) : json_object();
	json_object_del(clean, "metrics");
	json_object_del(clean, "simulation");
	number_member(clean, "runs");
	number_member(clean, "seconds");
	number_member(clean, "start_stop_s");
	double seconds = js_real_or(clean, "seconds", NAN);
	json_object_set_new(clean, "overhead", js_number(seconds > 0 && median > 0 ? seconds / median - 1 : NAN));
	return clean;
}

/* The median of the runs that were not counted, in seconds: the value of the trial may be a metric or an energy. */
static double seconds_of(const struct trial_result *result) {
	const json_t *samples = json_object_get(result->reply, "samples");
	size_t count = json_array_size(samples);
	mem_auto double *seconds = count ? mem_alloc(count, sizeof *seconds) : NULL;
	for (size_t i = 0; i < count; i++)
		seconds[i] = json_number_value(json_array_get(samples, i));
	return count ? stats_median(seconds, count) : result->value;
}

static const json_t *simulation_of(const json_t *reply) {
	const json_t *beside = json_object_get(reply, "simulation");
	return json_is_object(beside) ? beside : json_object_get(json_object_get(reply, "counting"), "simulation");
}

void trial_counters_add(json_t *to, const struct trial_result *result) {
	const json_t *reply = result->reply, *counting = json_object_get(reply, "counting");
	const json_t *simulation = simulation_of(reply), *regions = json_object_get(reply, "regions");
	if (json_is_array(json_object_get(reply, "counters"))) {
		json_object_set_new(to, "counters", rows_clean(json_object_get(reply, "counters"), counter_mend));
		json_object_set_new(to, "metrics", rows_clean(json_object_get(counting, "metrics"), metric_mend));
		json_object_set_new(to, "counting", counting_clean(counting, seconds_of(result)));
	}
	if (json_is_object(simulation))
		json_object_set(to, "simulation", (json_t *)simulation);
	if (json_array_size(regions))
		json_object_set_new(to, "regions", rows_clean(regions, region_mend));
	if (json_array_size(json_object_get(reply, "regions_notes")))
		json_object_set_new(to, "regions_notes", texts_clean(json_object_get(reply, "regions_notes")));
}

size_t trial_counters_known(const json_t *rows) {
	size_t known = 0;
	js_each (row, rows)
		known += has_value(row);
	return known;
}

char *trial_counters_words(const char *const *asked) {
	char *text = mem_strdup("");
	for (; asked && *asked; asked++)
		mem_append(&text, "%s%s", *text ? ", " : "", *asked);
	return text;
}

static const char *const words[TRIAL_STATUS_COUNT] = {
#define TRIAL_WORD(name, word, text) word,
	TRIAL_STATUS(TRIAL_WORD)
#undef TRIAL_WORD
};

static const char *const texts[TRIAL_STATUS_COUNT] = {
#define TRIAL_TEXT(name, word, text) text,
	TRIAL_STATUS(TRIAL_TEXT)
#undef TRIAL_TEXT
};

static const char *const objectives[TRIAL_OBJECTIVE_COUNT][2] = {
#define TRIAL_OBJECTIVE_ROW(name, word, unit) {word, unit},
	TRIAL_OBJECTIVES(TRIAL_OBJECTIVE_ROW)
#undef TRIAL_OBJECTIVE_ROW
};

const char *trial_objective_word(enum trial_objective objective) {
	return objectives[objective][0];
}

const char *trial_objective_unit(enum trial_objective objective) {
	return objectives[objective][1];
}

const char *trial_metric_unit(const char *metric) {
	return !metric || pattern_kernel(metric) ? "s" : "";
}

bool trial_objective_find(const char *word, enum trial_objective *objective) {
	for (int i = 0; i < TRIAL_OBJECTIVE_COUNT; i++) {
		if (strcmp(word, objectives[i][0]) == 0) {
			*objective = i;
			return true;
		}
	}
	return false;
}

const char *trial_unit(const char *word) {
	static const char minimize[] = "minimize ";
	enum trial_objective objective;
	if (trial_objective_find(word, &objective))
		return trial_objective_unit(objective);
	return strncmp(word, minimize, sizeof minimize - 1) == 0 ? trial_metric_unit(word + sizeof minimize - 1) : "";
}

const char *trial_status_word(enum trial_status status) {
	return words[status];
}

const char *trial_status_text(enum trial_status status) {
	return texts[status];
}

bool trial_status_find(const char *word, enum trial_status *status) {
	for (int i = 0; i < TRIAL_STATUS_COUNT; i++) {
		if (strcmp(word, words[i]) == 0) {
			*status = i;
			return true;
		}
	}
	return false;
}

json_t *trial_failures_json(const uint64_t counts[TRIAL_STATUS_COUNT]) {
	json_t *json = json_object();
	for (int i = 0; i < TRIAL_STATUS_COUNT; i++)
		if (i != TRIAL_CORRECT)
			json_object_set_new(json, trial_status_word((enum trial_status)i), json_integer((json_int_t)counts[i]));
	return json;
}

void trial_result_fail(struct trial_result *result, enum trial_status status, const char *message) {
	memset(result, 0, sizeof *result);
	result->status = status;
	result->value = result->least = NAN;
	snprintf(result->message, sizeof result->message, "%.255s", message);
}

void trial_result_clear(struct trial_result *result) {
	free(result->samples);
	json_decref(result->reply);
	memset(result, 0, sizeof *result);
	result->value = result->least = NAN;
}
