/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/js.h"
#include "src/base/stats.h"
#include "src/byhand.h"
#include "src/figures.h"
#include "src/references.h"
#include "src/results.h"
#include "tuner/unsafe.h"

enum { COUNTERS_MAX = 32 };

static const struct opt options[] = {
	{"alone", 0, NULL, "measure neither the serial code nor one thread beside it", 0},
	{"series", 0, NULL, "show each step of the last run, where the kernel tells of them", 0},
	{"counters", 'c', "NAME,..", "counter backends, in runs of their own (`sweetspot list counters`)", OPT_REPEAT},
	{0},
};

/* The document of `run --json`; the worker's extras ride along. */
static json_t *document(const struct byhand *hand, const struct trial_request *request,
                        const struct trial_result *result) {
	static const char *const extras[] = {"work",  "counters", "figures", "series",  "placement",
	                                     "noise", "batch",    "setup_s", "verify_s"};
	double ci[2];
	stats_median_ci(result->samples, result->sample_count, 0.95, ci);
	json_t *json = json_pack("{s:s,s:s,s:O,s:O,s:s,s:o,s:o,s:[o,o],s:s,s:b}", "schema", "sweetspot-run/1", "kernel",
	                         hand->kernel->name, "problem", request->problem, "config", request->config, "status",
	                         trial_status_word(result->status), "samples",
	                         js_reals(result->samples, result->sample_count), "median", js_number(result->value), "ci",
	                         js_number(ci[0]), js_number(ci[1]), "unit", "s", "disturbed", result->disturbed);
	for (size_t i = 0; i < sizeof extras / sizeof *extras; i++) {
		json_t *extra = json_object_get(result->reply, extras[i]);
		if (extra)
			json_object_set(json, extras[i], extra);
	}
	bool unsafe;
	if (unsafe_holds(hand->kernel->unsafe, request->problem, request->config, &unsafe, NULL) == 0)
		json_object_set_new(json, "unsafe", json_boolean(unsafe));
	if (!json_object_get(json, "counters"))
		json_object_set_new(json, "counters", json_array());
	if (*result->message)
		json_object_set_new(json, "message", json_string(result->message));
	return json;
}

static void counters_print(struct ui *ui, const json_t *counters) {
	static const char *const titles[] = {"counter", "value", "unit", "status", "reason"};
	size_t i;
	json_t *counter;
	if (json_array_size(counters) == 0)
		return;
	struct table *table = table_new(5, titles);
	table_right(table, 1);
	json_array_foreach((json_t *)counters, i, counter) {
		char value[40] = "-";
		if (json_is_number(json_object_get(counter, "value")))
			snprintf(value, sizeof value, "%.6g", js_real_or(counter, "value", NAN));
		table_add(table, js_string_or(counter, "name", "?"), value, js_string_or(counter, "unit", ""),
		          js_string_or(counter, "status", "?"), js_string_or(counter, "reason", ""));
	}
	putchar('\n');
	table_print(table, ui, stdout);
	table_free(table);
}

static void work_print(const json_t *work, double seconds) {
	double ops = js_real_or(work, "ops", 0), bytes = js_real_or(work, "bytes", 0);
	if (!(ops > 0))
		return;
	printf("%.4g %ss/s", ops / seconds, js_string_or(work, "op", "operation"));
	if (bytes > 0)
		printf(", at least %.4g bytes/s of memory traffic", bytes / seconds);
	putchar('\n');
}

static void people_print(struct ui *ui, const json_t *json, const struct trial_result *result) {
	char median[32], low[32], high[32];
	const json_t *work = json_object_get(json, "work"), *ci = json_object_get(json, "ci");
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
	work_print(work, result->value);
	references_print(json_object_get(json, "references"), stdout);
	if (js_bool_or(json, "unsafe", false))
		printf("unsafe: measured for comparison, never recommended\n");
	if (result->disturbed)
		printf("disturbed: something else ran on these processors meanwhile\n");
	figures_print(figures, stdout);
	counters_print(ui, json_object_get(json, "counters"));
	figures_series_print(json_object_get(json, "series"), stdout);
	free(config);
	free(problem);
}

/* "a,b" and repeated options; the names live in `store`, which the caller frees. */
static void counters_read(const struct opt_args *args, const char *names[COUNTERS_MAX + 1], char *store, size_t size) {
	size_t count = 0, used = 0;
	for (size_t i = 0; i < opt_count(args, "counters") && used < size; i++)
		used += (size_t)snprintf(store + used, size - used, "%s%s", i ? "," : "", opt_at(args, "counters", i));
	char *rest = NULL;
	for (char *name = strtok_r(store, ",", &rest); name && count < COUNTERS_MAX; name = strtok_r(NULL, ",", &rest))
		names[count++] = name;
	names[count] = NULL;
}

/* Series are shown only where asked for: that a kernel has none is said, too. */
static int series_check(const struct byhand *hand, const struct trial_request *request,
                        const struct trial_result *result, struct err *err) {
	if (!request->series || result->status != TRIAL_CORRECT || json_object_get(result->reply, "series"))
		return 0;
	return err_set(err, ERR_USAGE, "leave --series out", "%s tells nothing of its steps", hand->kernel->name);
}

/* What is found beside the trial itself. */
static int look_around(struct byhand *hand, const struct opt_args *args, const struct trial_result *result,
                       json_t *json, struct err *err) {
	if (result->status != TRIAL_CORRECT || opt_has(args, "alone"))
		return 0;
	ui_progress(app_ui(hand->app), "%s  one thread and the serial code", hand->kernel->name);
	json_t *references = references_measure(hand, json_object_get(json, "config"), result->value, err);
	ui_progress_end(app_ui(hand->app));
	if (!references)
		return -1;
	json_object_set_new(json, "references", references);
	return 0;
}

static int trial(struct byhand *hand, const struct opt_args *args, const json_t *config, struct err *err) {
	char store[1024] = "";
	const char *counters[COUNTERS_MAX + 1];
	struct trial_request request = byhand_request(hand, config);
	struct trial_result result = {0};
	counters_read(args, counters, store, sizeof store);
	request.counters = counters;
	request.series = opt_has(args, "series");
	if (hand->runner.run(hand->runner.ctx, &request, &result, err) || series_check(hand, &request, &result, err)) {
		trial_result_clear(&result);
		return -1;
	}
	json_t *json = document(hand, &request, &result);
	int failed = look_around(hand, args, &result, json, err);
	if (failed)
		goto done;
	if (opt_has(args, "json"))
		js_write(json, stdout);
	else if (result.status == TRIAL_CORRECT)
		people_print(app_ui(hand->app), json, &result);
	if (result.status != TRIAL_CORRECT)
		failed = err_set(err, ERR_NOTHING, *result.message ? result.message : NULL, "%s %s", hand->kernel->name,
		                 trial_status_text(result.status));
done:
	json_decref(json);
	trial_result_clear(&result);
	return failed;
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	struct byhand hand;
	int failed = byhand_open(&hand, app, args, opt_words(args), err);
	json_t *config = failed ? NULL : byhand_config(&hand, NULL, err);
	if (config)
		failed = trial(&hand, args, config, err);
	json_decref(config);
	byhand_close(&hand);
	return config ? failed : -1;
}

static const struct opt *const tables[] = {options, byhand_options, NULL};

const struct cmd cmd_run = {
	.name = "run",
	.summary = "measure one configuration",
	.usage = "KERNEL [P=V...] [OPTION...]",
	.options = tables,
	.notes = "What is not given has the baseline's value. Nothing is kept in the store.",
	.run = run,
};
