/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/stats.h"
#include "src/cmd/gpu/gpu.h"
#include "src/cmd/regions/regions.h"
#include "src/cmd/run/run_impl.h"
#include "src/plan/kokkos_program.h"
#include "src/show/columns.h"
#include "src/show/results.h"
#include "tuner/race/unsafe.h"
#include "src/cmd/machine/ceilings.h"

/* The serial code of a sweep, which speedups are given over: once for each problem, on the CPU. */
enum { SAMPLES = 5 };
/* Limits of a trial: a serial run may take this many times longer than the configuration under test before we stop
 * waiting. */
static const double TIMEOUT_MIN_S = 20, TIMEOUT_MAX_S = 120, TIMEOUT_RUNS = 500;

/* Runs a reference with few samples; one that takes 500 times `median` (at least 20 s, at most 120 s) is stopped.
 * INFINITY: the time to compare with is not known yet. */
static int references_trial(const struct manual *manual, const json_t *config, double median,
                            struct trial_result *result, struct err *err) {
	struct trial_request request = manual_request(manual, config);
	request.samples = manual->samples < SAMPLES ? manual->samples : SAMPLES;
	request.timeout_s = fmin(manual->timeout_s, fmin(TIMEOUT_MAX_S, fmax(TIMEOUT_MIN_S, TIMEOUT_RUNS * median)));
	return manual->runner.run(manual->runner.ctx, &request, result, err);
}

static json_t *reference_json(const json_t *config, const struct trial_result *result, double median) {
	bool right = result->status == TRIAL_CORRECT;
	return json_pack("{s:O,s:s,s:o,s:o}", "config", config, "status", trial_status_word(result->status), "median",
	                 js_number(right ? result->value : NAN), "speedup",
	                 js_number(right ? result->value / median : NAN));
}

/* Returns NULL with err on failure. A reference that equals the configuration under test is not measured again. */
static json_t *against(struct manual *manual, const json_t *config, const json_t *reference, double median,
                       struct err *err) {
	struct trial_result result = {.status = TRIAL_CORRECT, .value = median};
	json_t *json = NULL;
	if (json_equal(config, reference) || references_trial(manual, reference, median, &result, err) == 0)
		json = reference_json(reference, &result, median);
	trial_result_clear(&result);
	return json;
}

static json_t *one_thread_config(struct manual *manual, struct err *err) {
	js_auto json_t *over = json_pack("{s:i}", "threads", 1);
	return manual_config(manual, manual->problem, over, err);
}

/* The kernel's serial settings with one thread, completed. New reference. */
static json_t *references_serial_config(struct manual *manual, struct err *err) {
	js_auto json_t *words = json_pack("{s:i}", "threads", 1);
	if (manual->kernel->serial && params_words(&manual->params, manual->kernel->serial, NULL, words, err))
		return NULL;
	return params_complete(&manual->params, manual->problem, words, err);
}

/* Takes ownership of `reference`. */
static int add(json_t *references, const char *name, struct manual *manual, const json_t *config, json_t *reference,
               double median, struct err *err) {
	json_t *json = reference ? against(manual, config, reference, median, err) : NULL;
	json_decref(reference);
	if (json)
		json_object_set_new(references, name, json);
	return json ? 0 : -1;
}

/* The kernel of the CPU may lack a value that the kernel of a GPU has. */
static bool member_take(const struct manual *host, const char *name, const json_t *value) {
	mem_auto char *text = json_is_string(value) ? mem_strdup(json_string_value(value)) : js_canonical(value);
	mem_auto char *word = mem_printf("%s=%s", name, text);
	return params_word(&host->params, word, host->problem, NULL, NULL) == 0;
}

/* The same kernel on the CPU, on that problem as far as it has the same parts. False if there is none, or if it lacks
 * one of the problem's values; otherwise close it. */
static bool manual_host(struct manual *host, const struct manual *manual, const json_t *problem) {
	struct err ignored = {0};
	const struct kernel_list *kernels = manual->device ? app_kernels(manual->app, &ignored) : NULL;
	const struct kernel_desc *kernel = manual->kernel;
	struct topo *topo = app_topo(manual->app, &ignored);
	if (manual->device)
		kernel = kernels && !kernel->library ? kernel_list_find(kernels, kernel->name, "cpu", &ignored) : NULL;
	if (!kernel || !topo)
		return false;
	*host = *manual;
	host->kernel = kernel;
	host->device = NULL;
	host->config = json_object();
	params_init(&host->params, kernel, topo, false);
	host->problem = params_problem(&host->params);
	bool same = true;
	js_members (name, value, problem)
		if (json_object_get(host->problem, name))
			same = same && member_take(host, name, value);
	if (!same)
		manual_close(host);
	return same;
}

/* A kernel of a GPU is compared with the serial code of the CPU's kernel. */
static json_t *host_measure(json_t *references, struct manual *manual, const json_t *config, double median,
                            struct err *err) {
	struct manual host;
	if (!manual->device || !manual_host(&host, manual, manual->problem))
		return references;
	int failed = host.kernel->serial &&
	             add(references, "serial", &host, config, references_serial_config(&host, err), median, err);
	manual_close(&host);
	if (!failed)
		return references;
	json_decref(references);
	return NULL;
}

/* Measures
 * {"one_thread":{"config","status","median","speedup","efficiency"},"serial":{"config","status","median","speedup"}}
 * with few samples. Members that do not apply to this kernel are absent; median and speedup are null if the reference
 * failed or took too long. config is the complete configuration under test, and median its time. New reference; NULL
 * with err if nothing more can be measured. */
static json_t *references_measure(struct manual *manual, const json_t *config, double median, struct err *err) {
	json_t *references = json_object();
	bool has_serial = manual->kernel->serial || !manual->kernel->team_given;
	if (!manual->kernel->openmp)
		return host_measure(references, manual, config, median, err);
	if (add(references, "one_thread", manual, config, one_thread_config(manual, err), median, err) ||
	    (has_serial && add(references, "serial", manual, config, references_serial_config(manual, err), median, err))) {
		json_decref(references);
		return NULL;
	}
	json_t *one = json_object_get(references, "one_thread");
	double threads = (double)js_int_or(config, "threads", 1);
	json_object_set_new(one, "efficiency", js_number(js_real_or(one, "speedup", NAN) / threads));
	return references;
}

static void line_print(const json_t *reference, const char *what, FILE *out) {
	double speedup = js_real_or(reference, "speedup", NAN), efficiency = js_real_or(reference, "efficiency", NAN);
	if (!reference)
		return;
	if (!isfinite(speedup)) {
		fprintf(out, "speedup over %s: unknown (%s)\n", what, js_string_or(reference, "status", "?"));
		return;
	}
	fprintf(out, speedup < 0.1 ? "speedup over %s: %.2gx (%s)" : "speedup over %s: %.2fx (%s)", what, speedup,
	        ui_seconds(js_real_or(reference, "median", NAN)).text);
	if (isfinite(efficiency))
		fprintf(out, ", efficiency %.*f %%", efficiency < 0.1 ? 2 : 0, 100 * efficiency);
	fputc('\n', out);
}

static void references_print(const json_t *references, FILE *out) {
	line_print(json_object_get(references, "one_thread"), "one thread", out);
	line_print(json_object_get(references, "serial"), "serial code", out);
}

static bool holds(const json_t *list, const json_t *problem) {
	js_each (one, list)
		if (json_equal(json_object_get(one, "problem"), problem))
			return true;
	return false;
}

/* The results of a GPU are those of another machine, so the CPU's have a session of their own. */
static int store_apart(struct sweep *sweep, struct manual *host, const json_t *config,
                       const struct trial_result *result, struct err *err) {
	struct manual_store kept = {.strategy = "sweep", .total = 1};
	mem_auto char *device = mem_strdup(app_device(sweep->app));
	int failed = app_device_change(sweep->app, "cpu", err) || manual_store_begin(&kept, host, sweep->args, err) ||
	             manual_store_trial(&kept, "sweep", 0, host->problem, config, result, err);
	failed = manual_store_end(&kept, failed, err);
	return app_device_change(sweep->app, device, err) || failed ? -1 : 0;
}

static int measure(struct sweep *sweep, struct sweep_device *device, struct manual *host, const json_t *config,
                   struct err *err) {
	struct trial_result result = {0};
	int failed = references_trial(host, config, INFINITY, &result, err);
	if (!failed)
		failed = device->manual.device
		             ? store_apart(sweep, host, config, &result, err)
		             : manual_store_trial(&sweep->kept, "sweep", 0, host->problem, config, &result, err);
	if (!failed)
		json_array_append_new(sweep->serials, sweep_row_json(host, host->problem, config, &result));
	trial_result_clear(&result);
	return failed ? -1 : 0;
}

int sweep_serial(struct sweep *sweep, struct sweep_device *device, const json_t *problem, struct err *err) {
	struct manual host;
	if (sweep->alone || !manual_host(&host, &device->manual, problem))
		return 0;
	int failed = 0;
	if (host.kernel->serial && !holds(sweep->serials, host.problem)) {
		js_auto json_t *config = references_serial_config(&host, err);
		failed = config ? measure(sweep, device, &host, config, err) : -1;
	}
	manual_close(&host);
	return failed;
}

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
	for (size_t i = 0; i < sizeof extras / sizeof *extras; i++)
		json_object_set(json, extras[i], json_object_get(result->reply, extras[i]));
	bool unsafe;
	if (unsafe_holds(manual->kernel->unsafe, request->problem, request->config, &unsafe, NULL) == 0)
		json_object_set_new(json, "unsafe", json_boolean(unsafe));
	json_object_set_new(json, "counters", json_array());
	trial_counters_add(json, result);
	json_object_update_new(json, json_pack("{s:s,s:s*,s:s*}", "device", request->device ? request->device : "cpu",
	                                       "disturbance", *result->disturbance ? result->disturbance : NULL, "message",
	                                       *result->message ? result->message : NULL));
	return json;
}

/* Places a run below the machine's ceilings, as src/cmd/explain/result.c does. */

/* Other groups have metrics of the same name for the traffic between cache levels. */
static bool is_memory_volume(const json_t *metric) {
	const char *group = js_string_or(metric, "group", "");
	bool cpu = strcmp(group, "MEM") == 0 || strcmp(group, "SIMULATED") == 0;
	return (cpu || strcmp(group, "GPU") == 0) &&
	       strcmp(js_string_or(metric, "name", ""), cpu ? "read_volume" : "dram_volume") == 0 &&
	       strcmp(js_string_or(metric, "unit", ""), "B") == 0;
}

/* Adds the bytes moved between caches and memory, if a counter group measured them. */
static void traffic_add(json_t *roofline, const json_t *metrics) {
	double bytes = NAN;
	json_t *by = NULL;
	js_each (metric, metrics) {
		bytes = is_memory_volume(metric) ? js_real_or(metric, "value", NAN) : NAN;
		if (isfinite(bytes)) {
			by = json_sprintf("%s: %s", js_string_or(metric, "group", "?"), js_string_or(metric, "name", "?"));
			break;
		}
	}
	json_object_set_new(roofline, "measured_bytes", js_number(bytes));
	json_object_set_new(roofline, "measured_by", by ? by : json_null());
}

/* The largest team, up to `threads`, for which ceilings were measured. */
static int team_of(const json_t *ceilings, int threads) {
	int most = 0;
	js_each (one, ceilings) {
		int team = (int)js_int_or(one, "threads", 0);
		most = team <= threads && team > most ? team : most;
	}
	return most;
}

static bool is_roof(const json_t *ceiling) {
	const char *name = js_string_or(ceiling, "name", "");
	const struct ceiling_gpu *gpu =
		json_object_get(ceiling, "device") ? ceiling_gpu_find(name, js_string_or(ceiling, "level", NULL)) : NULL;
	const struct ceiling_kind *kind = gpu ? &gpu->kind : ceiling_kind_find(name);
	return kind && (kind->group == CEILING_BANDWIDTH || kind->group == CEILING_PEAK);
}

/* {"threads" or "device", "roofs":[{"name","level"?,"value","unit"}]}, new reference; null if no ceilings were measured
 * on this machine. */
static json_t *ceilings_json(struct app *app, int threads) {
	js_auto json_t *ceilings = ceilings_load(app, NULL);
	js_auto json_t *roofs = json_array();
	int team = team_of(ceilings, threads);
	js_each (one, ceilings) {
		if ((!app_device(app) && js_int_or(one, "threads", 0) != team) || !is_roof(one))
			continue;
		json_array_append_new(roofs, json_pack("{s:O,s:O,s:O,s:O*}", "name", json_object_get(one, "name"), "value",
		                                       json_object_get(one, "value"), "unit", json_object_get(one, "unit"),
		                                       "level", json_object_get(one, "level")));
	}
	return !json_array_size(roofs) ? json_null()
	       : app_device(app)       ? json_pack("{s:s,s:O}", "device", app_device(app), "roofs", roofs)
	                               : json_pack("{s:i,s:O}", "threads", team, "roofs", roofs);
}

static json_t *roofline_json(struct app *app, const json_t *document, double seconds) {
	const json_t *work = json_object_get(document, "work"), *config = json_object_get(document, "config");
	double ops = js_real_or(work, "ops", NAN), bytes = js_real_or(work, "bytes", NAN);
	if (!(ops > 0) || !(seconds > 0))
		return NULL;
	bytes = bytes > 0 ? bytes : NAN;
	json_t *roofline =
		json_pack("{s:o,s:s,s:o,s:o,s:o,s:o,s:o}", "ops", js_number(ops), "op", js_string_or(work, "op", "operation"),
	              "bytes", js_number(bytes), "seconds", js_number(seconds), "ops_per_s", js_number(ops / seconds),
	              "bytes_per_s", js_number(bytes / seconds), "intensity", js_number(ops / bytes));
	traffic_add(roofline, json_object_get(document, "metrics"));
	json_object_set_new(roofline, "ceilings", ceilings_json(app, (int)js_int_or(config, "threads", 1)));
	return roofline;
}

static void roof_print(const json_t *ceilings, FILE *out) {
	js_each (roof, json_object_get(ceilings, "roofs")) {
		if (strcmp(js_string_or(roof, "level", ""), "dram") != 0 || strcmp(js_string_or(roof, "name", ""), "read") != 0)
			continue;
		struct shown value = counters_value(js_real_or(roof, "value", NAN), js_string_or(roof, "unit", ""));
		if (json_object_get(ceilings, "device"))
			fprintf(out, "memory read bandwidth of this GPU (measured ceiling): %s\n", value.text);
		else
			fprintf(out, "memory read bandwidth of %d thread%s (measured ceiling): %s\n",
			        (int)js_int_or(ceilings, "threads", 1), js_int_or(ceilings, "threads", 1) == 1 ? "" : "s",
			        value.text);
	}
}

/* Document: of `run`, with "work", "config" and perhaps "metrics". New reference; NULL if the kernel does not declare
 * its work. */
static void roofline_print(const json_t *roofline, FILE *out) {
	double bytes = js_real_or(roofline, "bytes", NAN), measured = js_real_or(roofline, "measured_bytes", NAN);
	double seconds = js_real_or(roofline, "seconds", NAN);
	const char *op = js_string_or(roofline, "op", "operation");
	if (!json_is_object(roofline) || !(seconds > 0))
		return;
	fprintf(out, "%.4g %ss/s", js_real_or(roofline, "ops_per_s", NAN), op);
	if (bytes > 0)
		fprintf(out, ", at least %s of memory traffic (%.3g %ss per byte)", counters_value(bytes / seconds, "B/s").text,
		        js_real_or(roofline, "intensity", NAN), op);
	bool simulated = strncmp(js_string_or(roofline, "measured_by", ""), "SIMULATED", 9) == 0;
	if (measured >= 0)
		fprintf(out, ", %s %s", counters_value(measured / seconds, "B/s").text, simulated ? "simulated" : "counted");
	fputc('\n', out);
	roof_print(json_object_get(roofline, "ceilings"), out);
}

static void people_print(struct ui *ui, const json_t *json, const json_t *sources, const struct trial_result *result) {
	const json_t *ci = json_object_get(json, "ci");
	const json_t *figures = json_object_get(json, "figures");
	mem_auto char *config = results_config(json_object_get(json, "config"), NULL);
	mem_auto char *problem = results_config(json_object_get(json, "problem"), NULL);
	printf("%s%s%s %s\n%s\n", ui_style(ui, UI_BOLD), js_string_or(json, "kernel", "?"), ui_style(ui, UI_PLAIN), problem,
	       config);
	printf("median %s [%s, %s], %zu samples, result %s\n", ui_seconds(result->value).text,
	       ui_seconds(json_number_value(json_array_get(ci, 0))).text,
	       ui_seconds(json_number_value(json_array_get(ci, 1))).text, result->sample_count,
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
	gpu_counts_print(ui, js_at(json, "counting.functions"), json_object_get(json, "counters"));
	counters_print(ui, json, sources, stdout);
	figures_series_print(json_object_get(json, "series"), stdout);
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
	js_auto json_t *json = document(manual, &request, &result);
	json_t *roofline = roofline_json(manual->app, json, result.value);
	if (roofline)
		json_object_set_new(json, "roofline", roofline);
	failed = look_around(manual, args, &result, json, err) || show(manual, args, &request, &result, json, err) ? -1 : 0;
	trial_result_clear(&result);
	return failed;
}

static const struct opt *const tables[] = {manual_what_options, cmd_device_options, options, manual_options, NULL};

/* Its kernels are what there is to see. */
static bool is_kokkos(const struct opt_args *args) {
	size_t count;
	char *const *words = opt_rest(args, &count);
	return opt_dashes(args) && opt_words(args) == 0 &&
	       kokkos_program_find((const char *const *)words, count, NULL) != KOKKOS_PROGRAM_NONE;
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_has(args, "regions"))
		return regions_command_run(app, args, tables, err);
	if (gpu_command_suits(app, args))
		return gpu_command_run(app, args, err);
	if (is_kokkos(args))
		return regions_command_run(app, args, tables, err);
	if (opt_dashes(args) && opt_words(args) == 0)
		return err_set(err, ERR_USAGE,
		               "`run --counters CACHE -- ./app`, `run --regions -- ./app` for OpenMP, `run --device cuda -- "
		               "./app` for CUDA",
		               "choose what to show about the program");
	struct manual manual = {0};
	js_auto json_t *config = NULL;
	struct counters_words words = {0};
	int failed =
		manual_open(&manual, app, args, opt_words(args), err) || manual_counters(&manual, args, &words, err) ? -1 : 0;
	if (!failed)
		config = manual_config(&manual, manual.problem, NULL, err);
	failed = config ? trial(&manual, args, config, words.names, err) : -1;
	counters_words_free(&words);
	manual_close(&manual);
	return failed;
}

const struct cmd cmd_run = {
	.name = "run",
	.summary = "measure one configuration",
	.usage = "run KERNEL [P=V...] [OPTION...]\n"
			 "run [OPTION...] --regions -- PROGRAM [ARG...]\n"
			 "run [OPTION...] --device cuda -- PROGRAM [ARG...]\n"
			 "run [OPTION...] --counters NAME,.. -- PROGRAM [ARG...]",
	.options = tables,
	.notes = "Parameters that are not given have the value of the baseline. Nothing is stored.",
	.examples = "sweetspot run fw n=512 variant=tiled block=64 threads=2\n"
				"sweetspot run gol n=1024 --counters SOFTWARE",
	.run = run,
};
