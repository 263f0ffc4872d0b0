/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/stats.h"
#include "src/app/app.h"
#include "src/app/lock.h"
#include "src/cmd/gpu/gpu.h"
#include "src/show/columns.h"
#include "src/show/counters.h"
#include "tuner/bound/function.h"
#include "tuner/program/program.h"

enum { NAME = 200, SHOWN = 20, COUNTED_SHOWN = 8, GAPS_SHOWN = 3 };
static const double GAP_SHOWN = 0.02; /* of the span: a gap below this is not worth a line */

static struct shown share_text(double share) {
	struct shown shown;
	snprintf(shown.text, sizeof shown.text, isfinite(share) ? "%.1f %%" : "-", 100 * share);
	return shown;
}

/* "512x4", with a star where calls differ. */
static char *shape_text(const json_t *size, bool varies) {
	size_t last = json_integer_value(json_array_get(size, 2)) > 1   ? 3
	              : json_integer_value(json_array_get(size, 1)) > 1 ? 2
	                                                                : 1;
	char *text = mem_strdup("");
	for (size_t i = 0; i < last; i++)
		mem_append(&text, "%s%lld", i ? "x" : "", (long long)json_integer_value(json_array_get(size, i)));
	mem_append(&text, varies ? "*" : "");
	return text;
}

static char *grid_cell(const json_t *row) {
	return shape_text(json_object_get(row, "grid"), js_bool_or(row, "grid_varies", false));
}

static char *block_cell(const json_t *row) {
	return shape_text(json_object_get(row, "block"), js_bool_or(row, "block_varies", false));
}

static char *shared_cell(const json_t *row) {
	return mem_strdup(
		ui_bytes((double)(js_int_or(row, "shared_static", 0) + js_int_or(row, "shared_dynamic", 0))).text);
}

static double seconds_of(const json_t *rows) {
	double sum = 0;
	js_each (row, rows)
		sum += js_real_or(row, "seconds", 0);
	return sum;
}

static void functions_print(struct ui *ui, const json_t *rows) {
	const struct column columns[] = {COLUMN("kernel", "name", .absent = "?"),
	                                 COLUMN("\1time", "seconds", .text = column_seconds),
	                                 NUMBER("\1share", "seconds", "%.1f %%", 100 / seconds_of(rows)),
	                                 NUMBER("\1calls", "calls", "%.0f", 1),
	                                 COLUMN("\1mean", "mean", .text = column_seconds),
	                                 COLUMN("\1least", "least", .text = column_seconds),
	                                 COLUMN("\1most", "most", .text = column_seconds),
	                                 COLUMN("\1grid", "", .text = grid_cell),
	                                 COLUMN("\1block", "", .text = block_cell),
	                                 NUMBER("\1registers", "registers", "%.0f", 1),
	                                 COLUMN("\1shared", "", .text = shared_cell),
	                                 NUMBER("\1occupancy", "occupancy", "%.0f %%", 100),
	                                 {0}};
	js_auto json_t *shown = json_array();
	bool varies = false;
	js_each (row, rows) {
		if (row_at >= SHOWN)
			break;
		json_array_append(shown, row);
		varies = varies || js_bool_or(row, "grid_varies", false) || js_bool_or(row, "block_varies", false);
	}
	putchar('\n');
	columns_print(ui, columns, shown, stdout);
	if (json_array_size(rows) > SHOWN)
		printf("%zu shorter kernels are in --json.\n", json_array_size(rows) - SHOWN);
	if (varies)
		printf("* of the longest call; other calls differ in size\n");
}

/* The portable name of a metric: that of the counter whose source it is. */
static const char *name_of(const json_t *counters, const char *metric) {
	js_each (one, counters) {
		const char *source = strchr(js_string_or(one, "source", ""), ':');
		if (source && strcmp(source + 1, metric) == 0)
			return js_string_or(one, "name", metric);
	}
	return metric;
}

static void spread_row(struct table *table, const char *kernel, const json_t *row, const json_t *counters) {
	const char *unit = js_string_or(row, "unit", "");
	table_add(table, kernel, name_of(counters, js_string_or(row, "name", "?")),
	          counters_value(js_real_or(row, "least", NAN), unit).text,
	          counters_value(js_real_or(row, "mean", NAN), unit).text,
	          counters_value(js_real_or(row, "most", NAN), unit).text);
}

/* Up to 13 rows tell what warps wait for, most of them near 0. */
static bool is_stall(const char *name) {
	return strstr(name, "_stall_") || strstr(name, "issue_stalled_");
}

static double stall_most(const json_t *rows, const json_t *counters) {
	double most = 0;
	js_each (row, rows)
		if (is_stall(name_of(counters, js_string_or(row, "name", ""))))
			most = fmax(most, js_real_or(row, "mean", 0));
	return most;
}

/* Metrics if there are any, else the counters themselves. Returns the number of small stalls that are left out. */
static size_t function_counts(struct table *table, const json_t *function, const json_t *counters) {
	static const double SMALL = 0.05;
	const json_t *rows = json_object_get(function, "metrics");
	char name[NAME];
	size_t left = 0;
	if (json_array_size(rows) == 0)
		rows = json_object_get(function, "counters");
	double most = stall_most(rows, counters);
	snprintf(name, sizeof name, "%s (%lld of %lld)", js_string_or(function, "name", "?"),
	         (long long)js_int_or(function, "counted", 0), (long long)js_int_or(function, "launches", 0));
	js_each (row, rows) {
		bool small =
			is_stall(name_of(counters, js_string_or(row, "name", ""))) && js_real_or(row, "mean", 0) < SMALL * most;
		if (!small)
			spread_row(table, row_at ? "" : name, row, counters);
		left += small;
	}
	return left;
}

/* As Nsight Compute's "estimated speedup". */
static void hottest_print(const json_t *functions) {
	struct gpu_hot hot;
	char words[GPU_HOT_WORDS], gain[64] = "";
	if (!gpu_hot_find(functions, &hot))
		return;
	gpu_hot_words(&hot, words, sizeof words);
	if (hot.gain > 1.005)
		snprintf(gain, sizeof gain, "; without that, the GPU's work would be at most %.2fx faster", hot.gain);
	ui_wrap(stdout, 0, 2, "%.*s takes %.0f %% of the kernels' time and %s%s", NAME, hot.name, 100 * hot.share, words,
	        gain);
}

void gpu_counts_print(struct ui *ui, const json_t *functions, const json_t *counters) {
	struct table *table = table_titled("kernel (launches counted)", "metric", "\1least", "\1mean", "\1most", NULL);
	bool any = false;
	size_t left = 0;
	js_each (function, functions) {
		if (function_at >= COUNTED_SHOWN || js_int_or(function, "counted", 0) == 0)
			continue;
		left += function_counts(table, function, counters);
		any = true;
	}
	if (any) {
		putchar('\n');
		hottest_print(functions);
		table_print(table, ui, stdout);
		if (left > 0)
			printf("%zu smaller stalls are in --json\n", left);
	}
	table_free(table);
}

static char *rate_cell(const json_t *row) {
	double seconds = js_real_or(row, "seconds", NAN);
	return seconds > 0 ? mem_printf("%s/s", ui_bytes((double)js_int_or(row, "bytes", 0) / seconds).text)
	                   : mem_strdup("-");
}

static char *pageable_cell(const json_t *count) {
	return json_integer_value(count) ? mem_printf("%lld", (long long)json_integer_value(count)) : mem_strdup("-");
}

static void copies_print(struct ui *ui, const json_t *rows) {
	static const struct column columns[] = {COLUMN("copies", "way", .absent = "?"),
	                                        COLUMN("\1time", "seconds", .text = column_seconds),
	                                        NUMBER("\1count", "count", "%.0f", 1),
	                                        COLUMN("\1bytes", "bytes", .text = column_bytes),
	                                        COLUMN("\1bytes/s", "", .text = rate_cell),
	                                        COLUMN("\1pageable", "pageable", .text = pageable_cell),
	                                        {0}};
	if (json_array_size(rows))
		putchar('\n');
	columns_print(ui, columns, rows, stdout);
}

static void gaps_print(const json_t *device) {
	double span = js_real_or(device, "span_s", NAN);
	js_each (gap, json_object_get(device, "gaps")) {
		if (gap_at >= GAPS_SHOWN || js_real_or(gap, "seconds", 0) < GAP_SHOWN * span)
			break;
		printf("  idle %s at %s, from %.*s to %.*s\n", ui_seconds(js_real_or(gap, "seconds", NAN)).text,
		       ui_seconds(js_real_or(gap, "at", NAN)).text, NAME, js_string_or(gap, "after", "?"), NAME,
		       js_string_or(gap, "before", "?"));
	}
}

/* The copies that no kernel hides are the part of the busy time without one. */
static void devices_print(const json_t *devices) {
	js_each (device, devices) {
		double span = js_real_or(device, "span_s", NAN), busy = js_real_or(device, "busy_s", NAN);
		double kernels = js_real_or(device, "kernels_s", NAN);
		printf("%s%s (cuda:%lld): %s from the first to the last of its work; kernels %s, copies alone %s, idle %s\n",
		       device_at ? "" : "\n", js_string_or(device, "name", "GPU"), (long long)js_int_or(device, "device", 0),
		       ui_seconds(span).text, share_text(kernels / span).text, share_text((busy - kernels) / span).text,
		       share_text((span - busy) / span).text);
		gaps_print(device);
	}
}

static void gpu_work_print(struct ui *ui, const json_t *work) {
	const json_t *functions = json_object_get(work, "functions");
	if (json_array_size(functions) > 0)
		functions_print(ui, functions);
	copies_print(ui, json_object_get(work, "copies"));
	devices_print(json_object_get(work, "devices"));
	gpu_counts_print(ui, functions, NULL);
	js_each (note, json_object_get(work, "notes")) {
		if (note_at == 0)
			putchar('\n');
		ui_wrap(stdout, 0, 2, "%s", json_string_value(note) ? json_string_value(note) : "");
	}
}

enum { SAMPLES = 3 };

struct watched {
	struct program *program;
	json_t *config; /* empty: nothing is tuned */
	char *const *words;
	size_t count;
	double timeout_s;
	long long samples;
	struct counters_words counters;
};

static bool is_traced(struct app *app) {
	return strcmp(app_device(app) ? app_device_kind(app) : "cpu", "cuda") == 0;
}

bool gpu_command_suits(struct app *app, const struct opt_args *args) {
	const char *kind = app_device(app) ? app_device_kind(app) : "cpu";
	bool counted = opt_has(args, "counters") && opt_words(args) == 0 && strcmp(kind, "cpu") == 0;
	return opt_dashes(args) && (is_traced(app) || counted);
}

static int watched_open(struct watched *watched, struct app *app, const struct opt_args *args, struct err *err) {
	*watched = (struct watched){.config = json_object(), .timeout_s = 600};
	watched->words = opt_rest(args, &watched->count);
	if (watched->count == 0 || opt_words(args))
		return err_set(err, ERR_USAGE, "sweetspot run --counters CACHE -- ./app in.dat",
		               "write the program after two dashes, and nothing but options before them");
	if (opt_int(args, "samples", 1, 10000, SAMPLES, &watched->samples, err) ||
	    opt_limit(args, "timeout", &watched->timeout_s, err) || counters_words_read(args, &watched->counters, err))
		return -1;
	const struct program_spec spec = {.argv = (const char *const *)watched->words,
	                                  .input = opt_get(args, "input", NULL),
	                                  .baseline = watched->config};
	struct worker *worker = app_worker(app, err);
	watched->program = worker ? program_new(&spec, worker, err) : NULL;
	return watched->program ? 0 : -1;
}

static void watched_close(struct watched *watched) {
	program_free(watched->program);
	counters_words_free(&watched->counters);
	json_decref(watched->config);
}

static json_t *words_json(const struct watched *watched) {
	json_t *words = json_array();
	for (size_t i = 0; i < watched->count; i++)
		json_array_append_new(words, js_text(watched->words[i]));
	return words;
}

static json_t *document(const struct watched *watched, const char *device, const struct trial_result *result) {
	double ci[2];
	stats_median_ci(result->samples, result->sample_count, 0.95, ci);
	return json_pack("{s:s, s:o, s:s, s:s, s:o, s:o, s:[o, o], s:s, s:O*}", "schema", "sweetspot-run/1", "argv",
	                 words_json(watched), "device", device, "status", trial_status_word(result->status), "samples",
	                 js_reals(result->samples, result->sample_count), "median", js_number(result->value), "ci",
	                 js_number(ci[0]), js_number(ci[1]), "unit", "s", "gpu_work",
	                 json_object_get(result->reply, "gpu_work"));
}

static void people_print(struct app *app, const struct watched *watched, const json_t *json) {
	struct ui *ui = app_ui(app);
	const json_t *work = json_object_get(json, "gpu_work"), *ci = json_object_get(json, "ci");
	mem_auto char *line = program_join((const char *const *)watched->words, true);
	struct shown median = ui_seconds(js_real_or(json, "median", NAN));
	printf("%s%s%s\n", ui_style(ui, UI_BOLD), line, ui_style(ui, UI_PLAIN));
	if (json_array_size(json_object_get(json, "samples")) > 1)
		printf("median %s [%s, %s], %zu runs", median.text, ui_seconds(json_number_value(json_array_get(ci, 0))).text,
		       ui_seconds(json_number_value(json_array_get(ci, 1))).text,
		       json_array_size(json_object_get(json, "samples")));
	else
		printf("%s", median.text);
	printf(work ? "; %s in the traced run\n" : "\n", ui_seconds(js_real_or(work, "seconds", NAN)).text);
	if (work)
		gpu_work_print(ui, work);
	else
		counters_print(ui, json, counters_sources(app), stdout);
}

/* The worker could not watch it, or it did nothing that could be seen. */
static int nothing_seen(const json_t *work, struct err *err) {
	const json_t *notes = json_object_get(work, "notes");
	const char *first = json_string_value(json_array_get(notes, 0)),
			   *hint = json_string_value(json_array_get(notes, 1));
	if (!json_object_get(work, "processes"))
		return err_set(err, ERR_UNAVAILABLE, hint, "%.300s", first ? first : "the program was not traced");
	return err_set(
		err, ERR_UNAVAILABLE,
		js_int_or(work, "processes", 0) ? NULL : "setuid programs and those for OpenCL or HIP cannot be traced",
		"no work on a GPU was seen: %.300s", first ? first : "the program launched no kernel and copied nothing");
}

static int show(struct app *app, const struct opt_args *args, const struct watched *watched,
                const struct trial_result *result, struct err *err) {
	const json_t *work = json_object_get(result->reply, "gpu_work");
	if (result->status != TRIAL_CORRECT)
		return err_set(err, ERR_NOTHING, *result->message ? result->message : NULL, "the program %s",
		               trial_status_text(result->status));
	if (!work && is_traced(app))
		return err_set(err, ERR_FAILED, NULL, "the worker did not report the program's work on GPUs");
	if (work &&
	    json_array_size(json_object_get(work, "functions")) + json_array_size(json_object_get(work, "copies")) == 0)
		return nothing_seen(work, err);
	js_auto json_t *json = document(watched, app_device(app) ? app_device(app) : "cpu", result);
	int failed = 0;
	if (!work) {
		json_object_set_new(json, "counters", json_array());
		trial_counters_add(json, result);
	}
	if (opt_has(args, "json"))
		failed = js_write(json, stdout);
	else
		people_print(app, watched, json);
	if (!work && failed == 0 && trial_counters_known(json_object_get(json, "counters")) == 0)
		return counters_unavailable(watched->counters.names, NULL, err);
	return failed;
}

static int measure(struct app *app, const struct opt_args *args, struct watched *watched, struct err *err) {
	struct runner runner = program_runner(watched->program);
	const struct trial_request request = {.config = watched->config,
	                                      .device = app_device(app),
	                                      .watch = is_traced(app),
	                                      .samples = (int)watched->samples,
	                                      .whole_program = true,
	                                      .counters = watched->counters.names,
	                                      .timeout_s = watched->timeout_s};
	struct trial_result result = {0};
	int lock = lock_take(app_ui(app), app_interrupt(app), err);
	if (lock < 0)
		return -1;
	ui_progress(app_ui(app), "%s  measuring and %s", watched->words[0], is_traced(app) ? "tracing" : "counting");
	int failed = runner.run(runner.ctx, &request, &result, err);
	ui_progress_end(app_ui(app));
	lock_release(lock);
	failed = failed || show(app, args, watched, &result, err);
	trial_result_clear(&result);
	return failed ? -1 : 0;
}

int gpu_command_run(struct app *app, const struct opt_args *args, struct err *err) {
	struct watched watched;
	int failed = watched_open(&watched, app, args, err) || measure(app, args, &watched, err);
	watched_close(&watched);
	return failed ? -1 : 0;
}
