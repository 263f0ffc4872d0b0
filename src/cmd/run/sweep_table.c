/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/csv.h"
#include "base/json/js.h"
#include "src/cmd/run/run_impl.h"
#include "src/show/columns.h"
#include "src/show/results.h"

enum { BAR_WIDTH = 24 };
enum { SWEEP_SHOW_MAX = 8 };

struct sweep_table {
	const json_t *rows, *serials; /* as in `sweep --json` */
	const struct axis *axes;
	size_t axis_count;
	const char *show[SWEEP_SHOW_MAX]; /* names of figures with a column of their own */
	size_t show_count;
	const char *weak; /* the size that grows with the team; NULL: none */
};

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
	bool measured = isfinite(median);
	texts[0] = arena_strdup(arena, ui_seconds(median).text);
	texts[1] = measured ? arena_printf(arena, "%s .. %s", ui_seconds(json_number_value(json_array_get(ci, 0))).text,
	                                   ui_seconds(json_number_value(json_array_get(ci, 1))).text)
	                    : "";
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

/* Prints one line for each row and for the serial code of each problem: the swept values, the median, its interval, the
 * speedups over the serial code and over one thread if that was swept, the efficiency, the figures, and a bar of the
 * time. */
static void rows_table_print(struct ui *ui, const struct sweep_table *table) {
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

enum { CELL = 400 };

/* The names of all rows' members, in the order of their appearance, without those of another list. New reference. */
static json_t *names_of(const json_t *rows, const char *part, const json_t *others) {
	json_t *names = json_object();
	js_each (row, rows) {
		js_members (name, value, json_object_get(row, part))
			if (!json_object_get(others, name))
				json_object_set_new(names, name, json_true());
	}
	return names;
}

static void value_print(const json_t *json, FILE *out) {
	struct value value;
	char text[CELL] = "";
	if (json && value_from_json(json, &value) && value_text(value, text, sizeof text) < (int)sizeof text)
		csv_write(text, out);
	putc(',', out);
}

static void settings_print(const json_t *names, const json_t *settings, FILE *out) {
	js_members (name, ignored, names)
		value_print(json_object_get(settings, name), out);
}

static void machine_print(const json_t *machine, FILE *out) {
	static const char *const counts[] = {"packages", "numa_nodes", "cores", "threads"}, *const caches[] = {"l1d", "l2",
	                                                                                                       "l3"};
	bool any = false;
	for (size_t i = 0; i < 7; i++) {
		const json_t *of = i < 4 ? machine : json_object_get(machine, "caches");
		const char *name = i < 4 ? counts[i] : caches[i - 4];
		double value = js_real_or(of, name, 0);
		if (!(value >= 1))
			continue;
		fprintf(out, "%s%s=%.0f", any ? " " : "# machine: ", name, value);
		any = true;
	}
	if (any)
		putc('\n', out);
}

static void names_print(const json_t *names, const char *after, FILE *out) {
	size_t count = 0;
	js_members (name, ignored, names) {
		fputs(count++ ? "," : "", out);
		csv_write(name, out);
	}
	fputs(count ? after : "", out);
}

static void csv_row_print(const json_t *problem, const json_t *config, const json_t *row, FILE *out) {
	const json_t *samples = json_object_get(row, "samples");
	size_t count = json_array_size(samples);
	for (size_t i = 0; i < (count ? count : 1); i++) {
		settings_print(problem, json_object_get(row, "problem"), out);
		settings_print(config, json_object_get(row, "config"), out);
		if (count && strcmp(js_string_or(row, "status", "correct"), "correct") == 0)
			fprintf(out, "%.9g", json_number_value(json_array_get(samples, i)));
		putc('\n', out);
	}
}

/* One line for each sample; a configuration that failed has one with an empty time. machine may be NULL. */
static void sweep_csv_print(const char *kernel, const char *device, const json_t *machine, const json_t *rows,
                            FILE *out) {
	js_auto json_t *problem = names_of(rows, "problem", NULL), *config = names_of(rows, "config", problem);
	fprintf(out, "# kernel: %s\n# device: %s\n", kernel, device);
	machine_print(machine, out);
	if (json_object_size(problem)) {
		fputs("# problem: ", out);
		names_print(problem, "\n", out);
	}
	names_print(problem, ",", out);
	names_print(config, ",", out);
	fputs("time_s\n", out);
	js_each (row, rows)
		csv_row_print(problem, config, row, out);
}

static void people_print(struct sweep *sweep) {
	struct sweep_table table = {.rows = sweep->rows,
	                            .serials = sweep->serials,
	                            .axes = sweep->axes,
	                            .axis_count = sweep->axis_count,
	                            .weak = sweep->weak.size};
	for (size_t i = 0; i < opt_count(sweep->args, "show"); i++) {
		char *list = arena_strdup(sweep->arena, opt_at(sweep->args, "show", i)), *rest = NULL;
		for (char *name = strtok_r(list, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest))
			if (table.show_count < SWEEP_SHOW_MAX)
				table.show[table.show_count++] = name;
	}
	rows_table_print(app_ui(sweep->app), &table);
}

static json_t *document(struct sweep *sweep) {
	const struct sweep_device *last = &sweep->device[sweep->device_count - 1];
	json_t *over = json_array(), *devices = sweep->compares_devices ? json_array() : NULL, *serials = sweep->serials;
	for (size_t a = 0; a < sweep->axis_count; a++)
		json_array_append_new(over, json_string(sweep->axes[a].name));
	for (size_t d = 0; devices && d < sweep->device_count; d++)
		json_array_append_new(devices, json_string(sweep->device[d].word));
	return json_pack("{s:s,s:s,s:s,s:O?,s:o,s:O,s:o*,s:s*,s:O*,s:O*}", "schema", "sweetspot-sweep/1", "kernel",
	                 last->manual.kernel->name, "device", last->word, "machine", app_machine(sweep->app, NULL), "over",
	                 over, "rows", sweep->rows, "devices", devices, "weak",
	                 sweep->weak.size ? opt_get(sweep->args, "weak", "") : NULL, "serial", json_array_get(serials, 0),
	                 "serials", json_array_size(serials) ? serials : NULL);
}

void sweep_show(struct sweep *sweep) {
	const struct sweep_device *last = &sweep->device[sweep->device_count - 1];
	if (opt_has(sweep->args, "export")) {
		js_auto json_t *rows = json_copy(sweep->rows);
		json_array_extend(rows, sweep->serials);
		sweep_csv_print(last->manual.kernel->name, last->word, app_machine(sweep->app, NULL), rows, stdout);
	} else if (opt_has(sweep->args, "json")) {
		js_print(document(sweep));
	} else {
		people_print(sweep);
	}
}

enum { ROWS_SHOWN = 12 };

/* A line is never wrapped, because it may be copied. */
static void plan_row_print(const json_t *row) {
	const char *command = js_string_or(row, "line", NULL), *device = js_string_or(row, "device", NULL);
	mem_auto char *config = results_config(json_object_get(row, "config"), NULL);
	mem_auto char *problem = results_problem(json_object_get(row, "problem"));
	mem_auto char *line = command ? mem_strdup(command)
	                              : mem_printf("%s%s%s%s%s", device ? device : "", device ? " " : "", problem,
	                                           *problem ? " " : "", config);
	text_clean(line, false);
	printf("  %s\n", line);
}

static void plan_people_print(const char *kernel, int runs, const json_t *rows) {
	size_t count = json_array_size(rows);
	printf("%s: %zu combination%s, %d run%s of each; nothing is run\n", kernel, count, count == 1 ? "" : "s", runs,
	       runs == 1 ? "" : "s");
	for (size_t i = 0; i < count && i < ROWS_SHOWN; i++)
		plan_row_print(json_array_get(rows, i));
	if (count > ROWS_SHOWN)
		printf("  .. and %zu more (--json lists all)\n", count - ROWS_SHOWN);
}

void sweep_plan_print(const struct opt_args *args, const char *kernel, int runs, const json_t *rows) {
	if (!opt_has(args, "json")) {
		plan_people_print(kernel, runs, rows);
		return;
	}
	js_print(json_pack("{s:s,s:s,s:I,s:i,s:O}", "schema", "sweetspot-sweep-plan/1", "kernel", kernel, "combinations",
	                   (json_int_t)json_array_size(rows), "runs", runs, "rows", rows));
}
