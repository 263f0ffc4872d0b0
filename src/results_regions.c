/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regions that a program tells of by sweetspot_begin and sweetspot_end. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "src/base/js.h"
#include "src/results.h"

enum { ROWS_MAX = 12, CELL = 40 };

static double seconds_of(const json_t *regions, const char *name) {
	size_t i;
	json_t *region;
	json_array_foreach((json_t *)regions, i, region) if (strcmp(js_string_or(region, "name", ""), name) ==
	                                                     0) return js_real_or(region, "seconds", NAN);
	return NAN;
}

static void region_row(struct table *table, const json_t *region, const json_t *before) {
	const char *name = js_string_or(region, "name", "?");
	double from = seconds_of(before, name), to = js_real_or(region, "seconds", NAN),
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

static void notes_print(const json_t *notes, FILE *out) {
	size_t i;
	json_t *note;
	json_array_foreach((json_t *)notes, i, note) if (json_is_string(note)) ui_wrap(out, 0, 2, json_string_value(note));
}

void results_regions_print(struct ui *ui, const json_t *result, FILE *out) {
	static const char *const titles[] = {"region", "calls", "baseline", "best", "speedup"};
	const json_t *best = json_object_get(json_object_get(result, "best"), "regions");
	const json_t *before = json_object_get(json_object_get(result, "baseline"), "regions");
	size_t count = json_array_size(best);
	if (count == 0)
		return;
	struct table *table = table_new(5, titles);
	for (size_t c = 1; c < 5; c++)
		table_right(table, c);
	for (size_t i = 0; i < count && i < ROWS_MAX; i++)
		region_row(table, json_array_get(best, i), before);
	fputc('\n', out);
	table_print(table, ui, out);
	notes_print(json_object_get(json_object_get(result, "best"), "regions_notes"), out);
	if (count > ROWS_MAX)
		fprintf(out, "%zu more regions: --json shows them\n", count - ROWS_MAX);
	table_free(table);
}
