/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <math.h>

#include "src/app/lock.h"
#include "base/json/js.h"
#include "base/stats.h"
#include "src/cmd/run/run_impl.h"
#include "src/show/results.h"

enum { ROWS_MAX = 100000, SAMPLES = 3, BAR = 16 };
static const double TIMEOUT_SECONDS = 600;

struct program_sweep {
	struct app *app;
	struct tune_item *item;
	struct trial_request request;
	json_t *rows;
	enum measured_format format;
};

static int options_check(struct app *app, const struct opt_args *args, struct err *err) {
	static const char *const of_kernels[] = {"over", "counters", "flush-l2", "show", NULL};
	const char *other = opt_first(args, of_kernels);
	if (other)
		return err_set(err, ERR_USAGE,
		               "give the values with --param: sweetspot sweep --param B=16,32,64 -- ./app '{B}'",
		               "--%s is not for programs", other);
	if (app_device(app))
		return err_set(err, ERR_USAGE, "leave --device out: the program chooses its GPU",
		               "--device is not for programs");
	if (opt_words(args))
		return err_set(err, ERR_USAGE, "sweetspot sweep --param B=16,32,64 -- ./app '{B}'",
		               "\"%s\" before -- is not an option", opt_word(args, 0));
	return 0;
}

static int sweep_open(struct program_sweep *sweep, const struct opt_args *args, struct err *err) {
	double limit = TIMEOUT_SECONDS;
	long long samples;
	if (options_check(sweep->app, args, err) || opt_int(args, "samples", 1, 10000, SAMPLES, &samples, err) ||
	    opt_limit(args, "timeout", &limit, err) || measured_format_read(args, &sweep->format, err) ||
	    !(sweep->item = tune_item_program(sweep->app, args, 0, err)))
		return -1;
	const struct tune_task *task = &sweep->item->task;
	if (space_valid(task->space) > ROWS_MAX)
		return err_set(err, ERR_USAGE, "give fewer values, or use `sweetspot tune`",
		               "at most %d combinations can be swept", ROWS_MAX);
	sweep->request = (struct trial_request){.kernel = task->kernel,
	                                        .problem = task->problem,
	                                        .samples = (int)samples,
	                                        .whole_program = true,
	                                        .timeout_s = limit};
	return 0;
}

static double shown(const struct program_sweep *sweep, double value) {
	return sweep->item->task.goal.maximize ? 1 / value : value;
}

static void row_add(struct program_sweep *sweep, const json_t *config, const struct trial_result *result) {
	double ci[2];
	bool swap = sweep->item->task.goal.maximize;
	stats_median_ci(result->samples, result->sample_count, 0.95, ci);
	json_t *row = json_pack("{s:O,s:s,s:o,s:[o,o],s:s,s:i}", "config", config, "status",
	                        trial_status_word(result->status), "median", js_number(shown(sweep, result->value)), "ci",
	                        js_number(shown(sweep, ci[swap])), js_number(shown(sweep, ci[!swap])), "unit",
	                        trial_metric_unit(sweep->item->task.goal.metric), "runs", (int)result->sample_count);
	if (*result->message)
		json_object_set_new(row, "message", json_string(result->message));
	json_array_append_new(sweep->rows, row);
}

static int row_measure(struct program_sweep *sweep, uint64_t index, struct err *err) {
	struct trial_result result = {0};
	js_auto json_t *config = space_config_json(sweep->item->task.space, index);
	sweep->request.config = config;
	ui_progress(app_ui(sweep->app), "sweep  %llu of %llu", (unsigned long long)index + 1,
	            (unsigned long long)space_valid(sweep->item->task.space));
	int failed = sweep->item->runner.run(sweep->item->runner.ctx, &sweep->request, &result, err);
	if (!failed)
		row_add(sweep, config, &result);
	trial_result_clear(&result);
	if (!failed && *app_interrupt(sweep->app))
		failed = err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	return failed;
}

static int sweep_measure(struct program_sweep *sweep, struct err *err) {
	int lock = lock_take(app_ui(sweep->app), app_interrupt(sweep->app), err), failed = lock < 0 ? -1 : 0;
	for (uint64_t i = 0; !failed && i < space_valid(sweep->item->task.space); i++)
		failed = row_measure(sweep, i, err);
	if (lock >= 0)
		lock_release(lock);
	ui_progress_end(app_ui(sweep->app));
	return failed;
}

static void plan(const struct program_sweep *sweep, const struct opt_args *args) {
	const struct tune_item *item = sweep->item;
	js_auto json_t *rows = json_array();
	for (uint64_t i = 0; i < space_valid(item->task.space); i++) {
		json_t *config = space_config_json(item->task.space, i), *row = json_pack("{s:O}", "config", config);
		mem_auto char *line = item->line ? item->line(item, config) : NULL;
		if (line)
			json_object_set_new(row, "line", js_text(line));
		json_array_append_new(rows, row);
		json_decref(config);
	}
	sweep_plan_print(args, item->task.kernel, sweep->request.samples, rows);
}

/* Rows as flat objects. */
static json_t *flat(const json_t *rows) {
	static const char *const members[] = {"status", "median", "unit", "runs"};
	json_t *flats = json_array();
	js_each (row, rows) {
		json_t *one = json_copy(json_object_get(row, "config"));
		for (size_t m = 0; m < sizeof members / sizeof *members; m++)
			json_object_set(one, members[m], json_object_get(row, members[m]));
		json_object_set(one, "low", json_array_get(json_object_get(row, "ci"), 0));
		json_object_set(one, "high", json_array_get(json_object_get(row, "ci"), 1));
		json_array_append_new(flats, one);
	}
	return flats;
}

static double most_of(const json_t *rows) {
	double most = 0;
	js_each (row, rows)
		most = fmax(most, js_real_or(row, "median", 0));
	return most;
}

static void people_print(const struct program_sweep *sweep) {
	struct table *table = table_titled("configuration", "\1median", "", "failed", NULL);
	double most = most_of(sweep->rows);
	js_each (row, sweep->rows) {
		char bar[3 * BAR + 1];
		double value = js_real_or(row, "median", NAN);
		mem_auto char *config = results_config(json_object_get(row, "config"), NULL);
		ui_bar(isfinite(value) && most > 0 ? value / most : 0, BAR, bar, sizeof bar);
		table_add(table, config, results_value(value, js_string_or(row, "unit", "")).text, bar,
		          js_string_or(row, "message", ""));
	}
	table_end(table, app_ui(sweep->app), stdout);
}

static void show(const struct program_sweep *sweep, const struct opt_args *args) {
	const struct tune_task *task = &sweep->item->task;
	if (sweep->format) {
		js_auto json_t *rows = flat(sweep->rows);
		measured_write(sweep->format, rows, stdout);
	} else if (opt_has(args, "json")) {
		js_print(json_pack("{s:s,s:s,s:O,s:O,s:O}", "schema", "sweetspot-sweep/1", "kernel", task->kernel, "problem",
		                   task->problem, "machine", app_machine(sweep->app, NULL), "rows", sweep->rows));
	} else {
		people_print(sweep);
	}
}

int sweep_program(struct app *app, const struct opt_args *args, struct err *err) {
	struct program_sweep sweep = {.app = app, .rows = json_array()};
	int failed = sweep_open(&sweep, args, err);
	if (!failed && opt_has(args, "plan"))
		plan(&sweep, args);
	else if (!failed)
		failed = sweep_measure(&sweep, err);
	if (json_array_size(sweep.rows))
		show(&sweep, args);
	json_decref(sweep.rows);
	tune_item_free(sweep.item);
	return failed;
}
