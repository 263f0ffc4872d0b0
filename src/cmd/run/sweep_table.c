/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/expr/expr.h"
#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "src/cmd/run/run_impl.h"
#include "src/show/columns.h"
#include "src/show/results.h"
#include "tuner/space/space.h"

/* The values of a sweep: --over, and --weak. */
enum { NAMES_MAX = 8 };
static const char weak_example[] = "write --weak n=threads*1024, or --weak 'n^2~threads'";

static int axis_read(struct sweep *sweep, const char *text, size_t *total, struct err *err) {
	const char *equals = strchr(text, '=');
	struct axis *axis = &sweep->axes[sweep->axis_count];
	if (!equals || equals == text)
		return err_set(err, ERR_USAGE, "write --over threads=1,2", "--over %s does not give any values", text);
	if (sweep->axis_count == SWEEP_AXES_MAX)
		return err_set(err, ERR_USAGE, "sweep in several runs", "at most %d parameters can be swept", SWEEP_AXES_MAX);
	char *name = arena_strdup(sweep->arena, text);
	name[equals - text] = '\0';
	axis->name = name;
	if (domain_parse(equals + 1, sweep->arena, &axis->values, &axis->count, err))
		return err_prefix(err, "--over %s", name);
	sweep->axis_count++;
	if (axis->count > SWEEP_ROWS_MAX / *total)
		return err_set(err, ERR_USAGE, "give fewer values, or use `sweetspot tune`",
		               "at most %d combinations can be swept", SWEEP_ROWS_MAX);
	*total *= axis->count;
	return 0;
}

/* SIZE^POWER~PARAM, where ^POWER may be left out. */
static int weak_power_read(struct sweep_weak *weak, char *size, char *param, struct err *err) {
	char *power = strchr(size, '^'), *end = NULL;
	weak->power = 1;
	if (power) {
		*power++ = '\0';
		weak->power = strtod(power, &end);
	}
	if (!*size || !*param || (power && (end == power || *end || !(weak->power >= 1 && weak->power <= 9))))
		return err_set(err, ERR_USAGE, weak_example, "--weak cannot be read");
	weak->size = size;
	weak->param = param;
	return 0;
}

static int weak_read(struct sweep *sweep, const char *text, struct err *err) {
	char *copy = arena_strdup(sweep->arena, text), *tilde = strchr(copy, '~'), *equals = strchr(copy, '=');
	if (tilde) {
		*tilde = '\0';
		return weak_power_read(&sweep->weak, copy, tilde + 1, err);
	}
	if (!equals || equals == copy || !equals[1])
		return err_set(err, ERR_USAGE, weak_example, "--weak %s does not say how the size grows", text);
	*equals = '\0';
	sweep->weak.size = copy;
	sweep->weak.formula = equals + 1;
	struct expr *expr = expr_parse(sweep->weak.formula, err);
	expr_free(expr);
	return expr ? 0 : err_prefix(err, "--weak");
}

int sweep_axes_read(struct sweep *sweep, struct err *err) {
	size_t total = 1;
	if (opt_count(sweep->args, "over") == 0)
		return err_set(err, ERR_USAGE, "for example: sweetspot sweep gol --over threads=1,2", "--over is missing");
	for (size_t i = 0; i < opt_count(sweep->args, "over"); i++)
		if (axis_read(sweep, opt_at(sweep->args, "over", i), &total, err))
			return -1;
	const char *weak = opt_get(sweep->args, "weak", NULL);
	return weak ? weak_read(sweep, weak, err) : 0;
}

static const char *axis_word(struct arena *arena, const struct axis *axis, size_t i) {
	char number[64];
	if (axis->values[i].type == VALUE_WORD)
		return arena_printf(arena, "%s=%s", axis->name, axis->values[i].as.w);
	value_text(axis->values[i], number, sizeof number);
	return arena_printf(arena, "%s=%s", axis->name, number);
}

static bool value_known(struct sweep *sweep, const struct sweep_device *device, const struct axis *axis, size_t i,
                        struct err *err) {
	js_auto json_t *problem = json_object(), *config = json_object();
	return params_word(&device->manual.params, axis_word(sweep->arena, axis, i), problem, config, err) == 0;
}

/* An axis without any value on this device is left out there: a team on a GPU, a block of threads on the CPU. */
static void device_axis(struct sweep *sweep, struct sweep_device *device, const struct axis *axis, bool *known,
                        struct err *last) {
	struct axis *own = &device->axes[device->axis_count];
	*own = (struct axis){axis->name, arena_alloc(sweep->arena, axis->count, sizeof *own->values), 0};
	for (size_t i = 0; i < axis->count; i++) {
		struct err err = {0};
		if (value_known(sweep, device, axis, i, &err)) {
			own->values[own->count++] = axis->values[i];
			known[i] = true;
		} else {
			*last = err;
		}
	}
	if (own->count == 0)
		return;
	device->axis_count++;
	device->total *= own->count;
}

static int weak_check(const struct sweep *sweep, struct err *err) {
	const char *param = sweep->weak.param ? sweep->weak.param : "threads";
	bool swept = false, fixed = true;
	if (!sweep->weak.size)
		return 0;
	for (size_t a = 0; a < sweep->axis_count; a++) {
		swept = swept || strcmp(sweep->axes[a].name, param) == 0;
		fixed = fixed && strcmp(sweep->axes[a].name, sweep->weak.size) != 0;
	}
	if (!fixed)
		return err_set(err, ERR_USAGE, "leave it out of --over", "--weak sets %s", sweep->weak.size);
	if (!swept && sweep->weak.param)
		return err_set(err, ERR_USAGE, "for example: --over threads=1,2,4", "--weak needs --over %s", param);
	return 0;
}

int sweep_axes_check(struct sweep *sweep, struct err *err) {
	for (size_t d = 0; d < sweep->device_count; d++)
		sweep->device[d].total = 1;
	for (size_t a = 0; a < sweep->axis_count; a++) {
		const struct axis *axis = &sweep->axes[a];
		bool *known = arena_alloc(sweep->arena, axis->count, sizeof *known);
		struct err last = {0};
		for (size_t d = 0; d < sweep->device_count; d++)
			device_axis(sweep, &sweep->device[d], axis, known, &last);
		for (size_t i = 0; i < axis->count; i++)
			if (!known[i]) {
				*err = last;
				return -1;
			}
	}
	return weak_check(sweep, err);
}

static double member_number(const json_t *problem, const json_t *config, const char *name) {
	double value = js_real_or(config, name, NAN);
	return isnan(value) ? js_real_or(problem, name, NAN) : value;
}

/* The size given belongs to 1 of the parameter. */
static double weak_size(const struct sweep_weak *weak, const json_t *problem, const json_t *config, struct err *err) {
	if (weak->param)
		return js_real_or(problem, weak->size, NAN) * pow(member_number(problem, config, weak->param), 1 / weak->power);
	struct expr *expr = expr_parse(weak->formula, err);
	struct value values[NAMES_MAX];
	size_t count = expr ? expr_name_count(expr) : 0;
	double size = NAN;
	for (size_t i = 0; i < count && i < NAMES_MAX; i++)
		values[i] = (struct value){.type = VALUE_REAL, .as.r = member_number(problem, config, expr_name(expr, i))};
	struct value out;
	if (expr && count <= NAMES_MAX && expr_eval(expr, values, &out))
		size = value_number(out);
	expr_free(expr);
	return size;
}

static int weak_apply(struct sweep *sweep, struct sweep_device *device, json_t *problem, const json_t *config,
                      struct err *err) {
	const struct sweep_weak *weak = &sweep->weak;
	double size = round(weak_size(weak, problem, config, err));
	if (!isfinite(size))
		return err_set(err, ERR_USAGE, weak_example, "--weak does not give a number for %s", weak->size);
	const char *word = arena_printf(sweep->arena, "%s=%.0f", weak->size, size);
	return params_word(&device->manual.params, word, problem, NULL, err) ? err_prefix(err, "--weak") : 0;
}

int sweep_combination(struct sweep *sweep, struct sweep_device *device, size_t row, json_t *problem, json_t *config,
                      struct err *err) {
	for (size_t a = device->axis_count; a-- > 0;) {
		const struct axis *axis = &device->axes[a];
		const char *word = axis_word(sweep->arena, axis, row % axis->count);
		row /= axis->count;
		if (params_word(&device->manual.params, word, problem, config, err))
			return -1;
	}
	return sweep->weak.size ? weak_apply(sweep, device, problem, config, err) : 0;
}

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

enum { ROWS_SHOWN = 12 };

/* A line is never wrapped, because it may be copied. */
static void row_print(const json_t *row) {
	const char *command = js_string_or(row, "line", NULL), *device = js_string_or(row, "device", NULL);
	mem_auto char *config = results_config(json_object_get(row, "config"), NULL);
	mem_auto char *problem = results_problem(json_object_get(row, "problem"));
	mem_auto char *line = command ? mem_strdup(command)
	                              : mem_printf("%s%s%s%s%s", device ? device : "", device ? " " : "", problem,
	                                           *problem ? " " : "", config);
	text_clean(line, false);
	printf("  %s\n", line);
}

static void people_print(const char *kernel, int runs, const json_t *rows) {
	size_t count = json_array_size(rows);
	printf("%s: %zu combination%s, %d run%s of each; nothing is run\n", kernel, count, count == 1 ? "" : "s", runs,
	       runs == 1 ? "" : "s");
	for (size_t i = 0; i < count && i < ROWS_SHOWN; i++)
		row_print(json_array_get(rows, i));
	if (count > ROWS_SHOWN)
		printf("  .. and %zu more (--json lists all)\n", count - ROWS_SHOWN);
}

void sweep_plan_print(const struct opt_args *args, const char *kernel, int runs, const json_t *rows) {
	if (!opt_has(args, "json")) {
		people_print(kernel, runs, rows);
		return;
	}
	js_print(json_pack("{s:s,s:s,s:I,s:i,s:O}", "schema", "sweetspot-sweep-plan/1", "kernel", kernel, "combinations",
	                   (json_int_t)json_array_size(rows), "runs", runs, "rows", rows));
}
