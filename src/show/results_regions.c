/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regions that a program marks with sweetspot_begin and sweetspot_end. */
#include <math.h>

#include "base/json/js.h"
#include "src/show/results.h"

enum { ROWS_MAX = 12, COUNTERS_MAX = 24, CELL = 40 };

static void region_row(struct table *table, const json_t *region, const json_t *before) {
	const char *name = js_string_or(region, "name", "?");
	double from = js_real_or(js_named(before, name), "seconds", NAN), to = js_real_or(region, "seconds", NAN),
		   calls = js_real_or(region, "calls", NAN);
	char a[CELL], b[CELL], speedup[CELL] = "-", times[CELL] = "-";
	ui_seconds(from, a, sizeof a);
	ui_seconds(to, b, sizeof b);
	if (from > 0 && to > 0)
		snprintf(speedup, sizeof speedup, "%.2fx", from / to);
	if (isfinite(calls))
		snprintf(times, sizeof times, "%.0f", calls);
	table_add(table, name, times, a, b, speedup);
}

static void counter_text(const json_t *counter, char *text, size_t size) {
	double value = js_real_or(counter, "value", NAN);
	if (strcmp(js_string_or(counter, "unit", ""), "s") == 0)
		ui_seconds(value, text, size);
	else
		snprintf(text, size, isfinite(value) ? "%.5g" : "-", value);
}

/* Adds the counters of a region, except those that are 0 on both sides. */
static size_t counter_rows(struct table *table, const json_t *region, const json_t *before, size_t most) {
	const char *name = js_string_or(region, "name", "?");
	const json_t *counters = json_object_get(js_named(before, name), "counters");
	size_t rows = 0;
	js_each (counter, json_object_get(region, "counters")) {
		const json_t *from = js_named(counters, js_string_or(counter, "name", ""));
		char a[CELL], b[CELL];
		if (rows == most || (js_real_or(from, "value", 0) == 0 && js_real_or(counter, "value", 0) == 0))
			continue;
		counter_text(from, a, sizeof a);
		counter_text(counter, b, sizeof b);
		table_add(table, rows++ ? "" : name, js_string_or(counter, "name", "?"), a, b);
	}
	return rows;
}

static void counters_print(struct ui *ui, const json_t *regions, const json_t *before, FILE *out) {
	static const char *const titles[] = {"region", "counter", "\1baseline", "\1best"};
	struct table *table = table_new(4, titles);
	size_t rows = 0;
	js_each (region, regions)
		rows += counter_rows(table, region, before, COUNTERS_MAX - rows);
	if (rows) {
		fputc('\n', out);
		table_print(table, ui, out);
	}
	table_free(table);
}

static void notes_print(const json_t *notes, FILE *out) {
	js_each (note, notes)
		if (json_is_string(note))
			ui_wrap(out, 0, 2, "%s", json_string_value(note));
}

void results_regions_print(struct ui *ui, const struct result *result, FILE *out) {
	static const char *const titles[] = {"region", "\1calls", "\1baseline", "\1best", "\1speedup"};
	const json_t *best = js_at(result->best.json, "regions"), *before = js_at(result->baseline.json, "regions");
	size_t count = json_array_size(best);
	if (count == 0)
		return;
	struct table *table = table_new(5, titles);
	for (size_t i = 0; i < count && i < ROWS_MAX; i++)
		region_row(table, json_array_get(best, i), before);
	fputc('\n', out);
	table_print(table, ui, out);
	counters_print(ui, best, before, out);
	notes_print(js_at(result->best.json, "regions_notes"), out);
	if (count > ROWS_MAX)
		fprintf(out, "%zu more regions: --json shows them\n", count - ROWS_MAX);
	table_free(table);
}
