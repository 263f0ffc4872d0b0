/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/stats.h"
#include "src/cmd/gpu/gpu.h"
#include "src/cmd/gpu/show.h"
#include "src/cmd/run/manual.h"
#include "src/show/counters.h"
#include "src/show/counters_ask.h"
#include "src/show/figures.h"
#include "src/cmd/run/references.h"
#include "src/cmd/regions/regions.h"
#include "src/show/results.h"
#include "src/cmd/explain/roofline.h"
#include "tuner/trial/counters.h"
#include "tuner/race/unsafe.h"

static const struct opt options[] = {
	OPT_GROUP("What to measure"),
	{"regions", 0, NULL, "show the parallel regions of the program after --", 0},
	{"input", 0, "FILE", "with a program: its standard input (empty)", 0},
	OPT_GROUP("Measuring"),
	{"alone", 0, NULL, "do not measure one thread and the serial code", 0},
	{"series", 0, NULL, "show each step of the last run, if it has steps", 0},
	{"counters", 'c', "NAME,..", "counters or groups, counted in separate runs", OPT_REPEAT},
	OPT_GROUP("Results"),
	{"no-store", 0, NULL, "no effect: run never stores its results", 0},
	{0},
};

/* Makes the document of `run --json`, including additional members of the worker's reply. */
static json_t *document(const struct manual *manual, const struct trial_request *request,
                        const struct trial_result *result) {
	static const char *const extras[] = {"work",  "figures", "series",   "placement", "noise",
	                                     "batch", "setup_s", "verify_s", "gpu",       "energy_j"};
	double ci[2];
	stats_median_ci(result->samples, result->sample_count, 0.95, ci);
	json_t *json = json_pack("{s:s,s:s,s:O,s:O,s:s,s:o,s:o,s:[o,o],s:s,s:b}", "schema", "sweetspot-run/1", "kernel",
	                         manual->kernel->name, "problem", request->problem, "config", request->config, "status",
	                         trial_status_word(result->status), "samples",
	                         js_reals(result->samples, result->sample_count), "median", js_number(result->value), "ci",
	                         js_number(ci[0]), js_number(ci[1]), "unit", "s", "disturbed", result->disturbed);
	for (size_t i = 0; i < sizeof extras / sizeof *extras; i++) {
		json_t *extra = json_object_get(result->reply, extras[i]);
		if (extra)
			json_object_set(json, extras[i], extra);
	}
	bool unsafe;
	if (unsafe_holds(manual->kernel->unsafe, request->problem, request->config, &unsafe, NULL) == 0)
		json_object_set_new(json, "unsafe", json_boolean(unsafe));
	json_object_set_new(json, "counters", json_array());
	trial_counters_add(json, result);
	json_object_set_new(json, "device", json_string(request->device ? request->device : "cpu"));
	if (*result->disturbance)
		json_object_set_new(json, "disturbance", json_string(result->disturbance));
	if (*result->message)
		json_object_set_new(json, "message", json_string(result->message));
	return json;
}

static void people_print(struct ui *ui, const json_t *json, const json_t *sources, const struct trial_result *result) {
	char median[32], low[32], high[32];
	const json_t *ci = json_object_get(json, "ci");
	const json_t *figures = json_object_get(json, "figures");
	char *config = results_config(json_object_get(json, "config"), NULL);
	char *problem = results_config(json_object_get(json, "problem"), NULL);
	ui_seconds(result->value, median, sizeof median);
	ui_seconds(json_number_value(json_array_get(ci, 0)), low, sizeof low);
	ui_seconds(json_number_value(json_array_get(ci, 1)), high, sizeof high);
	printf("%s%s%s %s\n%s\n", ui_style(ui, UI_BOLD), js_string_or(json, "kernel", "?"), ui_style(ui, UI_PLAIN), problem,
	       config);
	printf("median %s [%s, %s], %zu samples, result %s\n", median, low, high, result->sample_count,
	       trial_status_word(result->status));
	roofline_print(json_object_get(json, "roofline"), stdout);
	references_print(json_object_get(json, "references"), stdout);
	if (js_bool_or(json, "unsafe", false))
		printf("unsafe: never recommended, measured only for comparison\n");
	if (result->disturbed)
		printf("disturbed: %s\n",
		       *result->disturbance ? result->disturbance : "something else ran on these processors at the same time");
	figures_print(figures, stdout);
	results_device_print(ui, json_object_get(json, "gpu"), stdout);
	counters_print(ui, json, sources, stdout);
	gpu_counts_print(ui, json_object_get(json_object_get(json, "counting"), "functions"),
	                 json_object_get(json, "counters"));
	figures_series_print(json_object_get(json, "series"), stdout);
	free(config);
	free(problem);
}

/* A missing series is an error because the user asked for one. */
static int series_check(const struct manual *manual, const struct trial_request *request,
                        const struct trial_result *result, struct err *err) {
	if (!request->series || result->status != TRIAL_CORRECT || json_object_get(result->reply, "series"))
		return 0;
	return err_set(err, ERR_USAGE, "leave --series out", "%s does not report its steps", manual->kernel->name);
}

/* Adds the references, unless the trial failed or --alone is given. */
static int look_around(struct manual *manual, const struct opt_args *args, const struct trial_result *result,
                       json_t *json, struct err *err) {
	if (result->status != TRIAL_CORRECT || opt_has(args, "alone"))
		return 0;
	ui_progress(app_ui(manual->app), "%s  one thread and the serial code", manual->kernel->name);
	json_t *references = references_measure(manual, json_object_get(json, "config"), result->value, err);
	ui_progress_end(app_ui(manual->app));
	if (!references)
		return -1;
	json_object_set_new(json, "references", references);
	return 0;
}

/* Prints the result, and fails if the trial failed or a requested counter is missing. */
static int show(struct manual *manual, const struct opt_args *args, const struct trial_request *request,
                const struct trial_result *result, const json_t *json, struct err *err) {
	const json_t *counters = json_object_get(json, "counters");
	bool asked = request->counters && request->counters[0];
	if (opt_has(args, "json"))
		js_write(json, stdout);
	else if (result->status == TRIAL_CORRECT)
		people_print(app_ui(manual->app), json, counters_sources(manual->app), result);
	if (result->status != TRIAL_CORRECT)
		return err_set(err, ERR_NOTHING, *result->message ? result->message : NULL, "%s %s", manual->kernel->name,
		               trial_status_text(result->status));
	if (asked && trial_counters_known(counters) == 0)
		return counters_unavailable(request->counters, NULL, err);
	return 0;
}

static int trial(struct manual *manual, const struct opt_args *args, const json_t *config, const char *const *counters,
                 struct err *err) {
	struct trial_request request = manual_request(manual, config);
	struct trial_result result = {0};
	request.counters = counters;
	request.series = opt_has(args, "series");
	if (counters[0])
		ui_progress(app_ui(manual->app), "%s  measuring and counting", manual->kernel->name);
	int failed = manual->runner.run(manual->runner.ctx, &request, &result, err);
	ui_progress_end(app_ui(manual->app));
	if (failed || series_check(manual, &request, &result, err)) {
		trial_result_clear(&result);
		return -1;
	}
	json_t *json = document(manual, &request, &result);
	json_t *roofline = roofline_json(manual->app, json, result.value);
	if (roofline)
		json_object_set_new(json, "roofline", roofline);
	failed = look_around(manual, args, &result, json, err) || show(manual, args, &request, &result, json, err) ? -1 : 0;
	json_decref(json);
	trial_result_clear(&result);
	return failed;
}

static const struct opt *const tables[] = {manual_what_options, cmd_device_options, options, manual_options, NULL};

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_has(args, "regions"))
		return regions_command_run(app, args, tables, err);
	if (gpu_command_suits(app, args))
		return gpu_command_run(app, args, err);
	if (opt_dashes(args) && opt_words(args) == 0)
		return err_set(err, ERR_USAGE, "`run --regions -- ./app` for OpenMP, `run --device cuda -- ./app` for CUDA",
		               "choose what to show about the program");
	struct manual manual = {0};
	json_t *config = NULL;
	struct counters_words words = {0};
	int failed =
		manual_open(&manual, app, args, opt_words(args), err) || manual_counters(&manual, args, &words, err) ? -1 : 0;
	if (!failed)
		config = manual_config(&manual, NULL, err);
	failed = config ? trial(&manual, args, config, words.names, err) : -1;
	json_decref(config);
	counters_words_free(&words);
	manual_close(&manual);
	return failed;
}

const struct cmd cmd_run = {
	.name = "run",
	.summary = "measure one configuration",
	.usage = "run KERNEL [P=V...] [OPTION...]\n"
			 "run [OPTION...] --regions -- PROGRAM [ARG...]\n"
			 "run [OPTION...] --device cuda -- PROGRAM [ARG...]",
	.options = tables,
	.notes = "Parameters that are not given have the value of the baseline. Nothing is stored.",
	.examples = "sweetspot run fw n=512 variant=tiled block=64 threads=2\n"
				"sweetspot run gol n=1024 --counters SOFTWARE",
	.run = run,
};
