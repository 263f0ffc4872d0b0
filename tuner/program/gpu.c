/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks what a worker reports of a program's work on GPUs. */
#include <config.h>

#include <string.h>

#include "base/json/js.h"
#include "tuner/program/run.h"

enum { ROWS_MAX = 4096 };

struct member {
	const char *key;
	json_type type; /* JSON_REAL: a number that is not negative, or null */
};

static bool member_good(const json_t *row, const struct member *member) {
	const json_t *value = json_object_get(row, member->key);
	if (member->type == JSON_TRUE)
		return json_is_boolean(value);
	if (member->type == JSON_REAL)
		return json_is_null(value) || (json_is_number(value) && json_number_value(value) >= 0);
	if (member->type == JSON_INTEGER)
		return json_is_integer(value) && json_integer_value(value) >= 0;
	return value && json_typeof(value) == member->type;
}

static int rows_check(const json_t *object, const char *key, const struct member *members, struct err *err) {
	json_t *rows, *row;
	size_t i;
	if (!json_object_get(object, key))
		return 0;
	if (js_array(object, key, ROWS_MAX, &rows, err))
		return -1;
	json_array_foreach(
		rows, i, row) for (const struct member *m = members; m->key;
	                       m++) if (!member_good(row, m)) return err_set(err, ERR_FAILED, NULL,
	                                                                     "%s[%zu] of the work on GPUs is malformed: %s",
	                                                                     key, i, m->key);
	return 0;
}

static int texts_check(const json_t *object, const char *key, struct err *err) {
	json_t *rows, *row;
	size_t i;
	if (js_array(object, key, ROWS_MAX, &rows, err))
		return -1;
	json_array_foreach(rows, i, row) if (!json_is_string(row)) return err_set(
		err, ERR_FAILED, NULL, "%s[%zu] of the work on GPUs is malformed", key, i);
	return 0;
}

/* Optional: only where kernels were counted. */
static int counts_check(const json_t *work, struct err *err) {
	static const struct member spreads[] = {{"name", JSON_STRING}, {"unit", JSON_STRING}, {"least", JSON_REAL},
	                                        {"mean", JSON_REAL},   {"most", JSON_REAL},   {NULL, JSON_NULL}};
	json_t *function;
	size_t i;
	json_array_foreach(json_object_get(work, "functions"), i, function) {
		if (rows_check(function, "counters", spreads, err) || rows_check(function, "metrics", spreads, err))
			return -1;
	}
	return 0;
}

int program_gpu_check(const json_t *reply, struct err *err) {
	static const struct member functions[] = {
		{"name", JSON_STRING},      {"calls", JSON_INTEGER},     {"seconds", JSON_REAL},      {"least", JSON_REAL},
		{"mean", JSON_REAL},        {"most", JSON_REAL},         {"grid", JSON_ARRAY},        {"block", JSON_ARRAY},
		{"grid_varies", JSON_TRUE}, {"block_varies", JSON_TRUE}, {"registers", JSON_INTEGER}, {"occupancy", JSON_REAL},
		{NULL, JSON_NULL}};
	static const struct member copies[] = {{"way", JSON_STRING},   {"count", JSON_INTEGER},    {"bytes", JSON_INTEGER},
	                                       {"seconds", JSON_REAL}, {"pageable", JSON_INTEGER}, {NULL, JSON_NULL}};
	static const struct member devices[] = {{"device", JSON_INTEGER}, {"name", JSON_STRING},    {"span_s", JSON_REAL},
	                                        {"busy_s", JSON_REAL},    {"kernels_s", JSON_REAL}, {"gaps", JSON_ARRAY},
	                                        {NULL, JSON_NULL}};
	json_t *work;
	if (js_object(reply, "gpu_work", &work, err) || texts_check(work, "notes", err))
		return -1;
	return rows_check(work, "functions", functions, err) || rows_check(work, "copies", copies, err) ||
	               rows_check(work, "devices", devices, err) || counts_check(work, err)
	           ? -1
	           : 0;
}
