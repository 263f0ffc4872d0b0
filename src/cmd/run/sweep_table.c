/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/run/run_impl.h"

#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/show/columns.h"

enum { BAR_WIDTH = 24 };

static double fastest(const json_t *rows) {
	double best = NAN;
	js_each (row, rows)
		if (!(best <= js_real_or(row, "median", NAN)))
			best = js_real_or(row, "median", best);
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

static bool is_device(const struct sweep_table *table) {
	return json_object_get(json_array_get(table->rows, 0), "device") != NULL;
}

static bool any_has(const struct sweep_table *table, const char *name) {
	js_each (row, table->rows)
		if (json_object_get(row, name))
			return true;
	return false;
}

/* Columns that only appear where they say something. */
enum { SERIAL, THREAD, EFFICIENCY, WEAK, RATIOS };
static const char *const ratio_titles[] = {"over serial", "over 1 thread", "efficiency", "weak efficiency"};
static const char *const ratio_members[] = {"serial_speedup", "thread_speedup", "efficiency", "weak_efficiency"};

static const char *ratio_text(struct arena *arena, const json_t *row, int ratio) {
	double value = js_real_or(row, ratio_members[ratio], NAN);
	if (!isfinite(value))
		return "-";
	if (ratio == EFFICIENCY || ratio == WEAK)
		return arena_printf(arena, "%.0f %%", 100 * value);
	return arena_printf(arena, value < 0.1 ? "%.2gx" : "%.2fx", value);
}

static size_t ratio_texts(struct arena *arena, const struct sweep_table *table, const json_t *row, const char **texts) {
	size_t count = 0;
	for (int r = 0; r < RATIOS; r++)
		if (any_has(table, ratio_members[r]))
			texts[count++] = row ? ratio_text(arena, row, r) : ratio_titles[r];
	return count;
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
	if (is_device(table))
		texts[count++] = "device";
	for (size_t a = 0; a < table->axis_count; a++)
		texts[count++] = table->axes[a].name;
	if (table->weak)
		texts[count++] = table->weak;
	size_t first = count;
	for (size_t t = 0; t < 3; t++)
		texts[count++] = times[t];
	count += ratio_texts(NULL, table, NULL, texts + count);
	for (size_t i = 0; i < table->show_count; i++)
		texts[count++] = table->show[i];
	texts[count++] = "time";
	struct table *out = table_new(count, texts);
	for (size_t c = first; c < count - 1; c++)
		if (c != first + 1)
			table_right(out, c);
	return out;
}

/* The word goes where a parameter is, because the size tells one serial row from another. */
static void serial_label(struct arena *arena, const struct sweep_table *table, const json_t *row, const char **texts) {
	size_t first = is_device(table), at = 0;
	while (at < table->axis_count && json_object_get(json_object_get(row, "problem"), table->axes[at].name))
		at++;
	if (at < table->axis_count)
		texts[first + at] = "serial";
	else
		texts[first] = arena_printf(arena, "%s, serial", texts[first]);
}

static void row_add(struct table *out, struct arena *arena, const struct sweep_table *table, const json_t *row,
                    bool serial, double best, double worst) {
	const char **texts = arena_alloc(arena, table->axis_count + SWEEP_SHOW_MAX + RATIOS + 6, sizeof *texts);
	size_t count = 0;
	if (is_device(table))
		texts[count++] = js_string_or(row, "device", "cpu");
	for (size_t a = 0; a < table->axis_count; a++)
		texts[count++] = member(arena, row, table->axes[a].name);
	if (table->weak)
		texts[count++] = member(arena, row, table->weak);
	if (serial)
		serial_label(arena, table, row, texts);
	count += times_texts(arena, row, best, texts + count);
	count += ratio_texts(arena, table, row, texts + count);
	count += figures_texts(arena, table, row, texts + count);
	texts[count] = bar_text(arena, row, worst);
	table_row(out, texts);
}

void sweep_table_print(struct ui *ui, const struct sweep_table *table) {
	struct arena *arena = arena_new();
	const char **titles = arena_alloc(arena, table->axis_count + SWEEP_SHOW_MAX + RATIOS + 6, sizeof *titles);
	double best = fmin(fastest(table->rows), fastest(table->serials)), worst = 0;
	struct table *out = table_start(table, titles);
	js_each (row, table->rows)
		worst = fmax(worst, js_real_or(row, "median", 0));
	js_each (row, table->serials)
		worst = fmax(worst, js_real_or(row, "median", 0));
	js_each (row, table->serials)
		row_add(out, arena, table, row, true, best, worst);
	js_each (row, table->rows)
		row_add(out, arena, table, row, false, best, worst);
	table_end(out, ui, stdout);
	arena_free(arena);
}
