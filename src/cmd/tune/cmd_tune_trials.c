/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/tune/tune_impl.h"

#include <string.h>

#include "base/json/js.h"
#include "base/stats.h"

struct rows {
	json_t *rows;
	const json_t *result;
	bool maximize; /* values are stored as 1 / rate */
};

static double shown(const struct rows *rows, double value) {
	return rows->maximize ? 1 / value : value;
}

static int row_add(void *ctx, const struct store_trial *trial) {
	struct rows *rows = ctx;
	double ci[2];
	json_t *row = json_pack("{s:O,s:s,s:i}", "name", json_object_get(rows->result, "kernel"), "phase", trial->phase,
	                        "block", trial->block);
	js_auto json_t *config = js_parse(trial->config, strlen(trial->config), "the store", NULL);
	stats_median_ci(trial->samples, trial->sample_count, 0.95, ci);
	json_object_update(row, config);
	json_object_set_new(row, "status", js_text(trial->status));
	json_object_set_new(row, "median", js_number(shown(rows, trial->value)));
	json_object_set(row, "unit", json_object_get(json_object_get(rows->result, "baseline"), "unit"));
	json_object_set_new(row, "low", js_number(shown(rows, ci[rows->maximize])));
	json_object_set_new(row, "high", js_number(shown(rows, ci[!rows->maximize])));
	json_object_set_new(row, "runs", json_integer((json_int_t)trial->sample_count));
	json_object_set_new(row, "disturbed", json_boolean(trial->disturbed));
	if (trial->message && *trial->message)
		json_object_set_new(row, "message", js_text(trial->message));
	json_array_append_new(rows->rows, row);
	return 0;
}

int tune_trials_export(struct store *store, const json_t *results, enum measured_format format, struct err *err) {
	struct rows rows = {.rows = json_array()};
	int failed = 0;
	js_each (result, results) {
		rows.result = result;
		rows.maximize = js_bool_or(json_object_get(result, "program"), "maximize", false);
		failed = failed || store_trials_each(store, js_int_or(result, "search", 0), NULL, row_add, &rows, err);
	}
	if (!failed)
		measured_write(format, rows.rows, stdout);
	json_decref(rows.rows);
	return failed ? -1 : 0;
}
