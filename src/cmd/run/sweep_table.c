/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/run/sweep_table.h"

#include <math.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/base/mem.h"
#include "src/show/figures.h"

enum { BAR_WIDTH = 24 };

static double fastest(const json_t *rows) {
	double best = NAN;
	size_t i;
	json_t *row;
	json_array_foreach((json_t *)rows, i, row) if (!(best <= js_real_or(row, "median", NAN))) best =
		js_real_or(row, "median", best);
	return best;
}

static const json_t *part(const json_t *row, const char *name) {
	const json_t *json = json_object_get(json_object_get(row, "config"), name);
	return json ? json : json_object_get(json_object_get(row, "problem"), name);
}

static const char *member(struct arena *arena, const json_t *row, const char *name) {
	struct value value;
	char text[64] = "-";
	const json_t *json = part(row, name);
	if (json && value_from_json(json, &value))
		value_text(value, text, sizeof text);
	return arena_strdup(arena, text);
}

static bool is_threads(const struct axis *axis) {
	return strcmp(axis->name, "threads") == 0;
}

static bool matches(const struct sweep_table *table, const json_t *one, const json_t *row) {
	if (json_integer_value(part(one, "threads")) != 1)
		return false;
	for (size_t a = 0; a < table->axis_count; a++) {
		const char *name = table->axes[a].name;
		if (!is_threads(&table->axes[a]) && !json_equal(part(one, name), part(row, name)))
			return false;
	}
	return true;
}

/* Returns the row that differs from `row` only by threads=1, or NULL. */
static const json_t *one_thread(const struct sweep_table *table, const json_t *row) {
	json_t *other;
	size_t i;
	json_array_foreach((json_t *)table->rows, i, other) if (matches(table, other, row)) return other;
	return NULL;
}

static bool sweeps_threads(const struct sweep_table *table) {
	for (size_t a = 0; a < table->axis_count; a++)
		for (size_t v = 0; is_threads(&table->axes[a]) && v < table->axes[a].count; v++)
			if (table->axes[a].values[v].type == VALUE_INT && table->axes[a].values[v].as.i == 1)
				return true;
	return false;
}

static size_t speedup_text(struct arena *arena, const struct sweep_table *table, const json_t *row,
                           const char **texts) {
	if (!sweeps_threads(table))
		return 0;
	double ratio = js_real_or(one_thread(table, row), "median", NAN) / js_real_or(row, "median", NAN);
	texts[0] = isfinite(ratio) ? arena_printf(arena, "%.2fx", ratio) : "-";
	return 1;
}

/* Fills the cell with a figure, a metric or a counter, whichever has this name. */
static void show_cell(const json_t *row, const char *name, char *cell, size_t size) {
	static const char *const lists[] = {"figures", "metrics", "counters"};
	size_t i = 0;
	do
		figures_cell(json_object_get(row, lists[i]), name, cell, size);
	while (strcmp(cell, "-") == 0 && ++i < sizeof lists / sizeof *lists);
}

static size_t figures_texts(struct arena *arena, const struct sweep_table *table, const json_t *row,
                            const char **texts) {
	for (size_t i = 0; i < table->show_count; i++) {
		char cell[96];
		show_cell(row, table->show[i], cell, sizeof cell);
		texts[i] = arena_strdup(arena, cell);
	}
	return table->show_count;
}

static size_t times_texts(struct arena *arena, const json_t *row, double best, const char **texts) {
	double median = js_real_or(row, "median", NAN);
	const json_t *ci = json_object_get(row, "ci");
	char time[32], low[32], high[32];
	ui_seconds(median, time, sizeof time);
	ui_seconds(json_number_value(json_array_get(ci, 0)), low, sizeof low);
	ui_seconds(json_number_value(json_array_get(ci, 1)), high, sizeof high);
	bool measured = isfinite(median);
	texts[0] = arena_strdup(arena, time);
	texts[1] = measured ? arena_printf(arena, "%s .. %s", low, high) : "";
	texts[2] = measured ? arena_printf(arena, "%.2f", median / best) : "-";
	return 3;
}

static const char *bar_text(struct arena *arena, const json_t *row, double worst) {
	double median = js_real_or(row, "median", NAN);
	char bar[4 * BAR_WIDTH + 8];
	if (!isfinite(median))
		return js_string_or(row, "status", "?");
	ui_bar(median / worst, BAR_WIDTH, bar, sizeof bar);
	return arena_printf(arena, "%s%s", bar, js_bool_or(row, "unsafe", false) ? " unsafe" : "");
}

static struct table *table_start(const struct sweep_table *table, const char **texts) {
	static const char *const times[] = {"median", "95 % interval", "x best"};
	size_t count = 0;
	for (size_t a = 0; a < table->axis_count; a++)
		texts[count++] = table->axes[a].name;
	size_t first = count;
	for (size_t t = 0; t < 3; t++)
		texts[count++] = times[t];
	if (sweeps_threads(table))
		texts[count++] = "speedup";
	for (size_t i = 0; i < table->show_count; i++)
		texts[count++] = table->show[i];
	texts[count++] = "time";
	struct table *out = table_new(count, texts);
	for (size_t c = first; c < count - 1; c++)
		if (c != first + 1)
			table_right(out, c);
	return out;
}

void sweep_table_print(struct ui *ui, const struct sweep_table *table) {
	struct arena *arena = arena_new();
	const char **texts = arena_alloc(arena, table->axis_count + SWEEP_SHOW_MAX + 5, sizeof *texts);
	double best = fastest(table->rows), worst = 0;
	size_t i;
	json_t *row;
	struct table *out = table_start(table, texts);
	json_array_foreach((json_t *)table->rows, i, row) worst = fmax(worst, js_real_or(row, "median", 0));
	json_array_foreach((json_t *)table->rows, i, row) {
		size_t count = 0;
		for (size_t a = 0; a < table->axis_count; a++)
			texts[count++] = member(arena, row, table->axes[a].name);
		count += times_texts(arena, row, best, texts + count);
		count += speedup_text(arena, table, row, texts + count);
		count += figures_texts(arena, table, row, texts + count);
		texts[count] = bar_text(arena, row, worst);
		table_row(out, texts);
	}
	table_print(out, ui, stdout);
	table_free(out);
	arena_free(arena);
}
