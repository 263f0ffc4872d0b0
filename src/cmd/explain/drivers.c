/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the counters that vary with the time, over the configurations of the problem that were counted. */
#include "base/json/js.h"
#include "base/mem.h"
#include "src/cmd/explain/explain.h"
#include "tuner/model/effects/drivers.h"

enum { COUNTERS_MAX = 64, SHOWN_MAX = 24 };

struct counts {
	const char *name[COUNTERS_MAX];
	size_t names, rows, *row;
	double *time, *counter;
};

static bool has_name(const struct counts *counts, const char *name) {
	for (size_t i = 0; i < counts->names; i++)
		if (strcmp(counts->name[i], name) == 0)
			return true;
	return false;
}

static void names_add(struct counts *counts, const json_t *rows) {
	js_each (row, rows) {
		const char *name = js_string_or(row, "name", "");
		if (*name && json_is_number(json_object_get(row, "value")) && counts->names < COUNTERS_MAX &&
		    !has_name(counts, name))
			counts->name[counts->names++] = name;
	}
}

/* Only rows timed in full are used: the time of a censored row is a lower bound. */
static void counts_find(struct counts *counts, const struct explain_view *view) {
	const struct study *study = view->study;
	counts->row = mem_alloc(study_rows(study) + 1, sizeof *counts->row);
	for (size_t i = 0; i < study_rows(study); i++) {
		const struct study_row *row = study_row(study, i);
		if (!row->counted || !explain_timed(view, i))
			continue;
		names_add(counts, json_object_get(row->counted, "counters"));
		counts->row[counts->rows++] = i;
	}
	counts->time = mem_alloc(counts->rows + 1, sizeof *counts->time);
	counts->counter = mem_alloc(counts->rows * counts->names + 1, sizeof *counts->counter);
	for (size_t r = 0; r < counts->rows; r++) {
		counts->time[r] = study_row(study, counts->row[r])->value;
		for (size_t c = 0; c < counts->names; c++)
			counts->counter[r * counts->names + c] = study_counter(study, counts->row[r], counts->name[c]);
	}
}

static long index_of(const struct counts *counts, size_t row) {
	for (size_t i = 0; i < counts->rows; i++)
		if (counts->row[i] == row)
			return (long)i;
	return DRIVERS_NONE;
}

static json_t *driver_json(const struct counts *counts, const struct driver *driver) {
	json_t *with = json_array();
	for (size_t i = 1; i < driver->count; i++)
		json_array_append_new(with, json_string(counts->name[driver->members[i]]));
	return json_pack("{s:s,s:o,s:o,s:o,s:[o,o],s:o,s:b,s:o,s:o,s:[o,o]}", "counter",
	                 counts->name[driver->representative], "with", with, "slope", js_number(driver->slope),
	                 "coefficient", js_number(driver->coefficient), "ci", js_number(driver->ci[0]),
	                 js_number(driver->ci[1]), "p", js_number(driver->adjusted), "significant", driver->significant,
	                 "ratio", js_number(driver->ratio), "share", js_number(driver->share), "share_ci",
	                 js_number(driver->share_ci[0]), js_number(driver->share_ci[1]));
}

static json_t *drivers_json(const struct counts *counts, const struct drivers *drivers) {
	static const char *const methods[] = {"ratios", "one by one", "joint"};
	json_t *list = json_array();
	for (size_t i = 0; i < drivers->count && i < SHOWN_MAX; i++)
		json_array_append_new(list, driver_json(counts, &drivers->driver[i]));
	json_t *json =
		json_pack("{s:s,s:I,s:o,s:o,s:o,s:o}", "method", methods[drivers->method], "rows", (json_int_t)drivers->rows,
	              "r2", js_number(drivers->r2), "time_ratio", js_number(drivers->time_ratio), "unexplained",
	              js_number(drivers->unexplained), "counters", list);
	if (*drivers->reason)
		json_object_set_new(json, "reason", json_string(drivers->reason));
	return json;
}

json_t *explain_drivers(const struct explain_view *view, size_t winner, size_t baseline) {
	struct counts counts = {0};
	struct drivers drivers;
	json_t *json = NULL;
	counts_find(&counts, view);
	const struct drivers_data data = {.rows = counts.rows,
	                                  .counters = counts.names,
	                                  .time = counts.time,
	                                  .counter = counts.counter,
	                                  .winner = index_of(&counts, winner),
	                                  .baseline = index_of(&counts, baseline)};
	if (counts.rows > 1 && counts.names) {
		if (drivers_make(&drivers, &data) == 0)
			json = drivers_json(&counts, &drivers);
		else
			json = json_pack("{s:s,s:I,s:[],s:s}", "method", "none", "rows", (json_int_t)counts.rows, "counters",
			                 "reason", drivers.reason);
		drivers_clear(&drivers);
	}
	free(counts.row);
	free(counts.time);
	free(counts.counter);
	return json;
}
