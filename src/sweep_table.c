/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/sweep_table.h"

#include <math.h>

#include "src/base/js.h"
#include "src/base/mem.h"

enum { BAR_WIDTH = 24 };

static double fastest(const json_t *rows) {
	double best = NAN;
	size_t i;
	json_t *row;
	json_array_foreach((json_t *)rows, i, row) if (!(best <= js_real_or(row, "median", NAN))) best =
		js_real_or(row, "median", best);
	return best;
}

static const char *member(struct arena *arena, const json_t *row, const char *name) {
	struct value value;
	char text[64] = "-";
	const json_t *json = json_object_get(json_object_get(row, "config"), name);
	if (!json)
		json = json_object_get(json_object_get(row, "problem"), name);
	if (json && value_from_json(json, &value))
		value_text(value, text, sizeof text);
	return arena_strdup(arena, text);
}

static void times_texts(struct arena *arena, const json_t *row, double best, double worst, const char **texts) {
	double median = js_real_or(row, "median", NAN);
	const json_t *ci = json_object_get(row, "ci");
	char time[32], low[32], high[32], bar[4 * BAR_WIDTH + 8];
	ui_seconds(median, time, sizeof time);
	ui_seconds(json_number_value(json_array_get(ci, 0)), low, sizeof low);
	ui_seconds(json_number_value(json_array_get(ci, 1)), high, sizeof high);
	ui_bar(median / worst, BAR_WIDTH, bar, sizeof bar);
	bool measured = isfinite(median);
	texts[0] = arena_strdup(arena, time);
	texts[1] = measured ? arena_printf(arena, "%s .. %s", low, high) : "";
	texts[2] = measured ? arena_printf(arena, "%.2f", median / best) : "-";
	texts[3] = measured ? arena_strdup(arena, bar) : js_string_or(row, "status", "?");
}

void sweep_table_print(struct ui *ui, const json_t *rows, const struct axis *axes, size_t axis_count) {
	static const char *const times[] = {"median", "95 % interval", "x best", "time"};
	struct arena *arena = arena_new();
	const char **texts = arena_alloc(arena, axis_count + 4, sizeof *texts);
	double best = fastest(rows), worst = 0;
	size_t i;
	json_t *row;
	for (size_t a = 0; a < axis_count; a++)
		texts[a] = axes[a].name;
	for (size_t t = 0; t < 4; t++)
		texts[axis_count + t] = times[t];
	struct table *table = table_new(axis_count + 4, texts);
	table_right(table, axis_count);
	table_right(table, axis_count + 2);
	json_array_foreach((json_t *)rows, i, row) worst = fmax(worst, js_real_or(row, "median", 0));
	json_array_foreach((json_t *)rows, i, row) {
		for (size_t a = 0; a < axis_count; a++)
			texts[a] = member(arena, row, axes[a].name);
		times_texts(arena, row, best, worst, texts + axis_count);
		table_row(table, texts);
	}
	table_print(table, ui, stdout);
	table_free(table);
	arena_free(arena);
}
