/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "src/show/counters.h"

enum { CELL = 80 };

static void value_cell(const json_t *row, char *text) {
	counters_value(js_real_or(row, "value", NAN), js_string_or(row, "unit", ""), text, CELL);
}

static void imbalance_cell(const json_t *row, char *text) {
	double imbalance = js_real_or(row, "imbalance", NAN);
	snprintf(text, CELL, isfinite(imbalance) ? "%.2fx" : "-", imbalance);
}

/* The column is omitted if it would be empty, as with one thread. */
static bool any_imbalance(const json_t *counters) {
	size_t i;
	json_t *row;
	json_array_foreach((json_t *)counters, i, row) if (json_is_number(json_object_get(row, "imbalance"))) return true;
	return false;
}

static void table_of_counters(struct ui *ui, const json_t *counters, FILE *out) {
	static const char *const titles[] = {"counter", "value", "status", "source", "imbalance"};
	struct table *table = table_new(any_imbalance(counters) ? 5 : 4, titles);
	size_t i;
	json_t *row;
	table_right(table, 1);
	json_array_foreach((json_t *)counters, i, row) {
		char value[CELL], imbalance[CELL];
		value_cell(row, value);
		imbalance_cell(row, imbalance);
		const char *const cells[] = {js_string_or(row, "name", "?"), value, js_string_or(row, "status", "?"),
		                             js_string_or(row, "source", "-"), imbalance};
		table_row(table, cells);
	}
	table_print(table, ui, out);
	table_free(table);
}

static void table_of_metrics(struct ui *ui, const json_t *metrics, FILE *out) {
	static const char *const titles[] = {"group", "metric", "value", "formula"};
	struct table *table = table_new(4, titles);
	size_t i;
	json_t *row;
	table_right(table, 2);
	json_array_foreach((json_t *)metrics, i, row) {
		char value[CELL];
		value_cell(row, value);
		table_add(table, js_string_or(row, "group", "-"), js_string_or(row, "name", "?"), value,
		          js_string_or(row, "formula", ""));
	}
	table_print(table, ui, out);
	table_free(table);
}

void counters_overhead_print(const json_t *counting, FILE *out) {
	double overhead = js_real_or(counting, "overhead", NAN), percent = 100 * overhead;
	if (overhead >= 1)
		fprintf(out, ", which took %.*f times as long as the timed runs", overhead < 9, 1 + overhead);
	else if (percent >= 0.1)
		fprintf(out, ", %.1f %% slower than the timed runs", percent);
	else if (isfinite(percent))
		fprintf(out, ", no slower than the timed runs");
}

/* "counted in 4 separate runs, 1.2 % slower than the timed runs; start and stop take 2.1 us per thread" */
static void counters_cost_print(const json_t *counting, FILE *out) {
	double runs = js_real_or(counting, "runs", 0), start_stop = js_real_or(counting, "start_stop_s", NAN);
	char each[32];
	if (!(runs > 0))
		return;
	if (runs == 1)
		fprintf(out, "counted in a separate run");
	else
		fprintf(out, "counted in %.0f separate runs", runs);
	counters_overhead_print(counting, out);
	ui_seconds(start_stop, each, sizeof each);
	if (start_stop > 0)
		fprintf(out, "; start and stop take %s per thread", each);
	fputc('\n', out);
}

void counters_simulation_print(const json_t *simulation, FILE *out) {
	double slowdown = js_real_or(simulation, "slowdown", NAN);
	const char *tool = js_string_or(simulation, "tool", ""), *model = js_string_or(simulation, "model", "");
	char text[400], took[32];
	if (!json_is_object(simulation))
		return;
	ui_seconds(js_real_or(simulation, "seconds", NAN), took, sizeof took);
	int used = isfinite(slowdown)
	               ? snprintf(text, sizeof text, "simulated: %.3g times slower than a real run (%s)", slowdown, took)
	               : snprintf(text, sizeof text, "simulated");
	if (*tool || *model)
		snprintf(text + used, sizeof text - (size_t)used, ", by %.80s%s%.200s", *tool ? tool : "a model",
		         *model ? ": " : "", model);
	ui_wrap(out, 0, 2, text);
}

void counters_print(struct ui *ui, const json_t *document, const json_t *sources, FILE *out) {
	const json_t *counters = json_object_get(document, "counters"), *metrics = json_object_get(document, "metrics");
	if (json_array_size(counters) == 0)
		return;
	fputc('\n', out);
	table_of_counters(ui, counters, out);
	if (json_array_size(metrics)) {
		fputc('\n', out);
		table_of_metrics(ui, metrics, out);
	}
	fputc('\n', out);
	counters_cost_print(json_object_get(document, "counting"), out);
	counters_simulation_print(json_object_get(document, "simulation"), out);
	counters_reasons_print(counters, sources, out);
}
