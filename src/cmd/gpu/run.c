/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/app/app.h"
#include "src/app/lock.h"
#include "base/json/js.h"
#include "base/stats.h"
#include "src/cmd/gpu/gpu.h"
#include "src/cmd/gpu/show.h"
#include "src/show/counters_words.h"
#include "tuner/program/program.h"

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

bool gpu_command_suits(struct app *app, const struct opt_args *args) {
	const char *kind = app_device(app) ? app_device_kind(app) : "cpu";
	return opt_dashes(args) && strcmp(kind, "cuda") == 0;
}

static int watched_open(struct watched *watched, struct app *app, const struct opt_args *args, struct err *err) {
	const char *timeout = opt_get(args, "timeout", NULL);
	*watched = (struct watched){.config = json_object(), .timeout_s = 600};
	watched->words = opt_rest(args, &watched->count);
	if (watched->count == 0 || opt_words(args))
		return err_set(err, ERR_USAGE, "sweetspot run --device cuda -- ./app in.dat",
		               "write the program after two dashes, and nothing but options before them");
	if (opt_int(args, "samples", 1, 10000, SAMPLES, &watched->samples, err) ||
	    (timeout && opt_limit(timeout, "timeout", &watched->timeout_s, err)) ||
	    counters_words_read(args, &watched->counters, err))
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
	return json_pack("{s:s, s:o, s:s, s:s, s:o, s:o, s:[o, o], s:s, s:O}", "schema", "sweetspot-run/1", "argv",
	                 words_json(watched), "device", device, "status", trial_status_word(result->status), "samples",
	                 js_reals(result->samples, result->sample_count), "median", js_number(result->value), "ci",
	                 js_number(ci[0]), js_number(ci[1]), "unit", "s", "gpu_work",
	                 json_object_get(result->reply, "gpu_work"));
}

static void people_print(struct ui *ui, const struct watched *watched, const json_t *json) {
	const json_t *work = json_object_get(json, "gpu_work"), *ci = json_object_get(json, "ci");
	char *line = program_join((const char *const *)watched->words, true), median[32], low[32], high[32], seen[32];
	ui_seconds(js_real_or(json, "median", NAN), median, sizeof median);
	ui_seconds(json_number_value(json_array_get(ci, 0)), low, sizeof low);
	ui_seconds(json_number_value(json_array_get(ci, 1)), high, sizeof high);
	ui_seconds(js_real_or(work, "seconds", NAN), seen, sizeof seen);
	printf("%s%s%s\n", ui_style(ui, UI_BOLD), line, ui_style(ui, UI_PLAIN));
	if (json_array_size(json_object_get(json, "samples")) > 1)
		printf("median %s [%s, %s], %zu runs", median, low, high, json_array_size(json_object_get(json, "samples")));
	else
		printf("%s", median);
	printf("; %s in the traced run\n", seen);
	gpu_work_print(ui, work);
	free(line);
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
	if (!work)
		return err_set(err, ERR_FAILED, NULL, "the worker did not report the program's work on GPUs");
	if (json_array_size(json_object_get(work, "functions")) + json_array_size(json_object_get(work, "copies")) == 0)
		return nothing_seen(work, err);
	json_t *json = document(watched, app_device(app), result);
	int failed = 0;
	if (opt_has(args, "json"))
		failed = js_write(json, stdout);
	else
		people_print(app_ui(app), watched, json);
	json_decref(json);
	return failed;
}

static int measure(struct app *app, const struct opt_args *args, struct watched *watched, struct err *err) {
	struct runner runner = program_runner(watched->program);
	const struct trial_request request = {.config = watched->config,
	                                      .device = app_device(app),
	                                      .watch = true,
	                                      .samples = (int)watched->samples,
	                                      .whole_program = true,
	                                      .counters = watched->counters.names,
	                                      .timeout_s = watched->timeout_s};
	struct trial_result result = {0};
	int lock = lock_take(app_ui(app), app_interrupt(app), err);
	if (lock < 0)
		return -1;
	ui_progress(app_ui(app), "%s  measuring and tracing", watched->words[0]);
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
