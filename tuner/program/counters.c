/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <string.h>

#include "base/json/js.h"
#include "tuner/program/run.h"

enum { COUNTERS_MAX = 4096 };

static int wrong(const char *key, size_t i, struct err *err) {
	return err_set(err, ERR_FAILED, NULL, "%s[%zu] is malformed", key, i);
}

static bool is_text_or_null(const json_t *object, const char *key) {
	const json_t *member = json_object_get(object, key);
	return !member || json_is_null(member) || json_is_string(member);
}

static bool is_number_or_null(const json_t *object, const char *key) {
	const json_t *member = json_object_get(object, key);
	return json_is_number(member) || json_is_null(member);
}

/* An event must have either a value or a reason why there is none. */
static bool event_good(const json_t *event) {
	static const char *const statuses[] = {"counted", "scaled", "simulated", "unavailable"};
	const char *status = js_string_or(event, "status", "");
	size_t known = 0;
	while (known < 4 && strcmp(statuses[known], status) != 0)
		known++;
	bool has_value = json_is_number(json_object_get(event, "value"));
	return known < 4 && *js_string_or(event, "name", "") && is_number_or_null(event, "value") &&
	       has_value == (known < 3) && (has_value || *js_string_or(event, "reason", "")) &&
	       is_text_or_null(event, "unit") && is_text_or_null(event, "source") && is_text_or_null(event, "group") &&
	       is_text_or_null(event, "reason");
}

static bool metric_good(const json_t *metric) {
	return *js_string_or(metric, "name", "") && is_number_or_null(metric, "value") && is_text_or_null(metric, "unit") &&
	       is_text_or_null(metric, "group") && is_text_or_null(metric, "formula") && is_text_or_null(metric, "reason");
}

static int each_check(const json_t *object, const char *key, bool (*good)(const json_t *), struct err *err) {
	json_t *array;
	if (js_array(object, key, COUNTERS_MAX, &array, err))
		return -1;
	for (size_t i = 0; i < json_array_size(array); i++)
		if (!good(json_array_get(array, i)))
			return wrong(key, i, err);
	return 0;
}

int program_counters_check(const json_t *reply, struct err *err) {
	json_t *counting;
	int64_t runs;
	if (each_check(reply, "counters", event_good, err) || js_object(reply, "counting", &counting, err))
		return -1;
	return js_int(counting, "runs", 0, INT64_MAX, &runs, err) || each_check(counting, "metrics", metric_good, err) ? -1
	                                                                                                               : 0;
}
