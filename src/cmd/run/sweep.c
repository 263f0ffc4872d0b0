/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/base/mem.h"
#include "src/base/stats.h"
#include "src/base/sys.h"
#include "src/cmd/run/manual_store.h"
#include "src/app/lock.h"
#include "src/show/results.h"
#include "src/cmd/run/sweep_program.h"
#include "src/cmd/run/sweep_csv.h"
#include "src/cmd/run/sweep_table.h"
#include "src/plan/program_plan.h"
#include "tuner/space/domain.h"
#include "tuner/trial/counters.h"
#include "tuner/race/unsafe.h"

enum { AXES_MAX = 8, ROWS_MAX = 100000 };

static const struct opt options[] = {
	OPT_GROUP("What to measure"),
	{"over", 'o', "P=A,B,..", "parameter or size to sweep, and its values", OPT_REPEAT},
	OPT_GROUP("Measuring"),
	{"counters", 'c', "NAME,..", "counters or groups, in runs of their own", OPT_REPEAT},
	OPT_GROUP("Results"),
	{"export", 0, "FORMAT", "print csv; for a program also markdown or json", 0},
	{"no-store", 0, NULL, "keep nothing in the store", 0},
	OPT_GROUP("Output"),
	{"show", 0, "NAME,..", "further columns: figures, metrics or counters", OPT_REPEAT},
	{0},
};

struct sweep {
	struct manual *manual;
	const struct opt_args *args;
	struct counters_words counters;
	struct arena *arena;
	struct axis axes[AXES_MAX];
	size_t axis_count, total;
	struct manual_store kept;
	json_t *rows;
};

static int axis_read(struct sweep *sweep, const char *text, struct err *err) {
	const char *equals = strchr(text, '=');
	struct axis *axis = &sweep->axes[sweep->axis_count];
	if (!equals || equals == text)
		return err_set(err, ERR_USAGE, "write --over threads=1,2", "--over %s does not give any values", text);
	if (sweep->axis_count == AXES_MAX)
		return err_set(err, ERR_USAGE, "sweep in several runs", "at most %d parameters can be swept", AXES_MAX);
	char *name = arena_strdup(sweep->arena, text);
	name[equals - text] = '\0';
	axis->name = name;
	if (domain_parse(equals + 1, sweep->arena, &axis->values, &axis->count, err))
		return err_prefix(err, "--over %s", name);
	sweep->axis_count++;
	if (axis->count > ROWS_MAX / sweep->total)
		return err_set(err, ERR_USAGE, "give fewer values, or use `sweetspot tune`",
		               "at most %d combinations can be swept", ROWS_MAX);
	sweep->total *= axis->count;
	return 0;
}

static const char *axis_word(struct arena *arena, const struct axis *axis, size_t i) {
	char number[64];
	if (axis->values[i].type == VALUE_WORD)
		return arena_printf(arena, "%s=%s", axis->name, axis->values[i].as.w);
	value_text(axis->values[i], number, sizeof number);
	return arena_printf(arena, "%s=%s", axis->name, number);
}

/* Adds the values of combination number `row`, in which the last axis varies fastest. */
static int combination(struct sweep *sweep, size_t row, json_t *problem, json_t *config, struct err *err) {
	for (size_t a = sweep->axis_count; a-- > 0;) {
		const struct axis *axis = &sweep->axes[a];
		const char *word = axis_word(sweep->arena, axis, row % axis->count);
		row /= axis->count;
		if (params_word(&sweep->manual->params, word, problem, config, err))
			return -1;
	}
	return 0;
}

static json_t *row_json(const struct manual *manual, const json_t *problem, const json_t *config,
                        const struct trial_result *result) {
	double ci[2];
	stats_median_ci(result->samples, result->sample_count, 0.95, ci);
	json_t *row =
		json_pack("{s:O,s:O,s:s,s:o,s:[o,o],s:s,s:o}", "problem", problem, "config", config, "status",
	              trial_status_word(result->status), "median", js_number(result->value), "ci", js_number(ci[0]),
	              js_number(ci[1]), "unit", "s", "samples", js_reals(result->samples, result->sample_count));
	bool unsafe;
	if (unsafe_holds(manual->kernel->unsafe, problem, config, &unsafe, NULL) == 0)
		json_object_set_new(row, "unsafe", json_boolean(unsafe));
	static const char *const extras[] = {"figures", "gpu", "work"};
	for (size_t i = 0; i < sizeof extras / sizeof *extras; i++) {
		json_t *extra = json_object_get(result->reply, extras[i]);
		if (extra)
			json_object_set(row, extras[i], extra);
	}
	if (*result->message)
		json_object_set_new(row, "message", json_string(result->message));
	return row;
}

/* Counts in a separate run, whose times are not used. */
static int row_count(struct sweep *sweep, const json_t *problem, const json_t *config, json_t *row, struct err *err) {
	struct trial_result result = {0};
	int failed = manual_count(sweep->manual, &sweep->counters, problem, config, &result, err) ||
	             manual_store_trial(&sweep->kept, "counters", 0, problem, config, &result, err);
	if (!failed)
		trial_counters_add(row, &result);
	trial_result_clear(&result);
	return failed ? -1 : 0;
}

static int row_measure(struct sweep *sweep, size_t row, struct err *err) {
	struct manual *manual = sweep->manual;
	json_t *problem = json_copy(manual->problem), *over = json_object(), *config = NULL;
	struct trial_result result = {0};
	int failed = combination(sweep, row, problem, over, err);
	if (!failed)
		config = manual_config(manual, over, err);
	if (config) {
		struct trial_request request = manual_request(manual, config);
		request.problem = problem;
		failed = manual->runner.run(manual->runner.ctx, &request, &result, err) ||
		         manual_store_trial(&sweep->kept, "sweep", 0, problem, config, &result, err);
		json_t *one = failed ? NULL : row_json(manual, problem, config, &result);
		if (one && sweep->counters.count && result.status == TRIAL_CORRECT)
			failed = row_count(sweep, problem, config, one, err);
		if (one)
			json_array_append_new(sweep->rows, one);
	}
	trial_result_clear(&result);
	json_decref(problem);
	json_decref(over);
	json_decref(config);
	return config && !failed ? 0 : -1;
}

static int measure(struct sweep *sweep, struct err *err) {
	struct app *app = sweep->manual->app;
	int lock = lock_take(app_ui(app), app_interrupt(app), err), failed = lock < 0 ? -1 : 0;
	double begun = sys_now();
	for (size_t row = 0; row < sweep->total && !failed; row++) {
		if (*app_interrupt(app))
			failed =
				err_set(err, ERR_INTERRUPTED, NULL, "interrupted after %zu of %zu combinations", row, sweep->total);
		else
			failed = row_measure(sweep, row, err);
		double each = (sys_now() - begun) / (double)(row + 1);
		ui_progress(app_ui(app), "sweep  %zu/%zu  ETA %.0f s", row + 1, sweep->total,
		            each * (double)(sweep->total - row - 1));
	}
	ui_progress_end(app_ui(app));
	if (lock >= 0)
		lock_release(lock);
	return failed;
}

static void people_print(struct sweep *sweep) {
	struct sweep_table table = {.rows = sweep->rows, .axes = sweep->axes, .axis_count = sweep->axis_count};
	for (size_t i = 0; i < opt_count(sweep->args, "show"); i++) {
		char *list = arena_strdup(sweep->arena, opt_at(sweep->args, "show", i)), *rest = NULL;
		for (char *name = strtok_r(list, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest))
			if (table.show_count < SWEEP_SHOW_MAX)
				table.show[table.show_count++] = name;
	}
	sweep_table_print(app_ui(sweep->manual->app), &table);
}

static void show(struct sweep *sweep) {
	const char *kind = app_device(sweep->manual->app);
	if (opt_has(sweep->args, "export")) {
		sweep_csv_print(sweep->manual->kernel->name, kind ? kind : "cpu", app_machine(sweep->manual->app, NULL),
		                sweep->rows, stdout);
		return;
	}
	if (!opt_has(sweep->args, "json")) {
		people_print(sweep);
		return;
	}
	json_t *over = json_array();
	for (size_t a = 0; a < sweep->axis_count; a++)
		json_array_append_new(over, json_string(sweep->axes[a].name));
	const char *device = app_device(sweep->manual->app);
	json_t *json = json_pack("{s:s,s:s,s:s,s:O?,s:o,s:O}", "schema", "sweetspot-sweep/1", "kernel",
	                         sweep->manual->kernel->name, "device", device ? device : "cpu", "machine",
	                         app_machine(sweep->manual->app, NULL), "over", over, "rows", sweep->rows);
	js_write(json, stdout);
	json_decref(json);
}

/* Checks all values before anything is measured. */
static int check(struct sweep *sweep, struct err *err) {
	if (opt_count(sweep->args, "over") == 0)
		return err_set(err, ERR_USAGE, "for example: sweetspot sweep gol --over threads=1,2", "--over is missing");
	for (size_t i = 0; i < opt_count(sweep->args, "over"); i++)
		if (axis_read(sweep, opt_at(sweep->args, "over", i), err))
			return -1;
	for (size_t a = 0; a < sweep->axis_count; a++) {
		for (size_t v = 0; v < sweep->axes[a].count; v++) {
			json_t *problem = json_object(), *config = json_object();
			const char *word = axis_word(sweep->arena, &sweep->axes[a], v);
			int bad = params_word(&sweep->manual->params, word, problem, config, err);
			json_decref(problem);
			json_decref(config);
			if (bad)
				return -1;
		}
	}
	return 0;
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_dashes(args))
		return sweep_program(app, args, err);
	for (const struct opt *option = program_options; option->name; option++)
		if (opt_has(args, option->name))
			return err_set(err, ERR_USAGE, "put -- before the program: sweetspot sweep --param B=16,64 -- ./app '{B}'",
			               "--%s needs a program after --", option->name);
	if (opt_has(args, "export") && strcmp(opt_get(args, "export", ""), "csv") != 0)
		return err_set(err, ERR_USAGE,
		               "--export csv writes a table that `sweetspot explain --from` reads, --json a document",
		               "a sweep of a kernel is only exported as csv");
	struct manual manual;
	struct sweep sweep = {.manual = &manual,
	                      .args = args,
	                      .arena = arena_new(),
	                      .total = 1,
	                      .kept = {.strategy = "sweep"},
	                      .rows = json_array()};
	int failed = manual_open(&manual, app, args, opt_words(args), err) || check(&sweep, err) ||
	                     manual_counters(&manual, args, &sweep.counters, err)
	                 ? -1
	                 : 0;
	sweep.kept.total = (double)sweep.total;
	failed = failed || manual_store_begin(&sweep.kept, &manual, args, err) || measure(&sweep, err) ? -1 : 0;
	if (manual_store_end(&sweep.kept, failed, err))
		failed = -1;
	if (json_array_size(sweep.rows))
		show(&sweep);
	counters_words_free(&sweep.counters);
	json_decref(sweep.rows);
	arena_free(sweep.arena);
	manual_close(&manual);
	return failed;
}

static const struct opt *const tables[] = {
	manual_what_options, cmd_device_options, program_options, options, manual_options, cmd_store_options, NULL};

const struct cmd cmd_sweep = {
	.name = "sweep",
	.summary = "measure every combination of the values given",
	.usage = "sweep --param P=A,B,.. [OPTION...] -- PROGRAM [ARG...]\n"
			 "sweep KERNEL [P=V...] --over P=A,B,.. [--over ...] [OPTION...]",
	.options = tables,
	.notes = "Values are a list, 1..8, 0..64+8 or 16..512*2. Parameters that are not swept\n"
			 "keep the value of the baseline.",
	.examples = "sweetspot sweep --param B=16..64*2 -- ./app --block {B} in.dat\n"
				"sweetspot sweep fw n=512 --over block=16..128*2 --over threads=1,2",
	.run = run,
};
