/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/stats.h"
#include "base/sys.h"
#include "src/cmd/tune/tune_impl.h"
#include "src/plan/plan.h"
#include "src/show/results.h"
#include <sched.h>

/* `tune --export`: every trial of the searches that have just ended. */
struct rows {
	json_t *rows;
	const json_t *result;
	bool maximize; /* values are stored as 1 / rate */
};

static json_t *shown(const struct rows *rows, double value) {
	return js_number(rows->maximize ? 1 / value : value);
}

static int row_add(void *ctx, const struct store_trial *trial) {
	struct rows *rows = ctx;
	double ci[2];
	json_t *row = json_pack("{s:O,s:s,s:i}", "name", json_object_get(rows->result, "kernel"), "phase", trial->phase,
	                        "block", trial->block);
	js_auto json_t *config = js_parse(trial->config, strlen(trial->config), "the store", NULL);
	stats_median_ci(trial->samples, trial->sample_count, 0.95, ci);
	json_object_update(row, config);
	json_object_update_new(row,
	                       json_pack("{s:o,s:o,s:O*,s:o,s:o,s:i,s:b,s:o*}", "status", js_text(trial->status), "median",
	                                 shown(rows, trial->value), "unit", js_at(rows->result, "baseline.unit"), "low",
	                                 shown(rows, ci[rows->maximize]), "high", shown(rows, ci[!rows->maximize]), "runs",
	                                 (int)trial->sample_count, "disturbed", trial->disturbed, "message",
	                                 trial->message && *trial->message ? js_text(trial->message) : NULL));
	json_array_append_new(rows->rows, row);
	return 0;
}

int tune_trials_export(struct store *store, const json_t *results, enum measured_format format, struct err *err) {
	struct rows rows = {.rows = json_array()};
	int failed = 0;
	js_each (result, results) {
		rows.result = result;
		rows.maximize = js_bool_or(json_object_get(result, "program"), "maximize", false);
		failed = failed || store_trials_each(store, js_int_or(result, "search", 0), NULL, row_add, &rows, err);
	}
	if (!failed)
		measured_write(format, rows.rows, stdout);
	json_decref(rows.rows);
	return failed ? -1 : 0;
}

struct tune_description {
	struct ui *ui;
	struct watch *watch; /* follows the progress, too; may be NULL */
	const char *name;    /* shown instead of the kernel's name; may be NULL */
	char phase[512];     /* the last one that was printed */
};

/* The messages of `tune` while it works: progress and, with --verbose, what the search does and why. */

static void tune_describe_progress(void *ctx, const struct tune_progress *progress) {
	struct tune_description *description = ctx;
	char phase[sizeof description->phase];
	snprintf(phase, sizeof phase, "%s", progress->note && progress->phase == TUNE_SEARCH ? progress->note : "");
	if (*phase && strcmp(phase, description->phase) != 0) {
		snprintf(description->phase, sizeof description->phase, "%s", phase);
		ui_step(description->ui, "search: %s", phase);
	}
	struct tune_progress shown = *progress;
	shown.kernel = description->name ? description->name : shown.kernel;
	results_progress(description->ui, &shown);
	watch_progress(description->watch, &shown);
}

static void tune_describe_warning(void *ctx, const char *text) {
	struct tune_description *description = ctx;
	ui_progress_end(description->ui);
	ui_warn(description->ui, NULL, "%s", text);
}

static void tune_describe_found(void *ctx, const json_t *config, const json_t *baseline, double gain) {
	struct tune_description *description = ctx;
	mem_auto char *words = results_config(config, baseline);
	ui_progress_end(description->ui);
	ui_inform(description->ui, "%.2fx so far with %s, not yet proven; Ctrl-C ends the search and keeps it", gain,
	          words);
}

static long long failures_of(const json_t *result) {
	long long sum = 0;
	js_members (type, count, json_object_get(result, "failures"))
		if (strcmp(type, "censored") != 0)
			sum += json_integer_value(count);
	return sum;
}

static const char *end_of(const char *stopped) {
	static const char *const words[][2] = {{"budget", "the budget is used up"},
	                                       {"space", "all configurations have been tried"},
	                                       {"gain", "the expected gain is too small"},
	                                       {"baseline", "the program fails as it is run today"}};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(stopped, words[i][0]) == 0)
			return words[i][1];
	return "interrupted";
}

/* Prints a summary of the search; result may be NULL. */
static void tune_describe_end(struct tune_description *description, const json_t *result) {
	const json_t *sources = json_object_get(result, "sources");
	ui_progress_end(description->ui);
	if (!result)
		return;
	js_each (source, sources)
		ui_step(description->ui, "search: uses %lld configurations of %s",
		        (long long)js_int_or(source, "configurations", 0), js_string_or(source, "name", "?"));
	ui_step(
		description->ui,
		"search: %s measured %lld of %lld configurations, %lld failed, %lld cut short, %zu earlier searches used; %s",
		js_string_or(result, "strategy", "?"), (long long)js_int_or(result, "evaluations", 0),
		(long long)js_int_or(json_object_get(result, "space"), "valid", 0), failures_of(result),
		(long long)js_int_or(json_object_get(result, "failures"), "censored", 0), json_array_size(sources),
		end_of(js_string_or(result, "stopped", "")));
}

static int session_begin(struct tuning *t, struct err *err) {
	if (t->session)
		return 0;
	struct store_session session = {
		.fingerprint = app_fingerprint(t->app, err),
		.machine = app_machine(t->app, err),
		.command = app_command_line(t->app),
		.seed = t->seed,
		.started = sys_wall(),
	};
	if (store_session_begin(t->store, &session, err))
		return -1;
	t->session = session.id;
	return 0;
}

/* Finds an interrupted search to continue (*search) or a finished result to reuse (*result). */
static int resume(struct tuning *t, const struct tune_task *task, int64_t *search, json_t **result, struct err *err) {
	mem_auto char *problem = js_canonical(task->problem), *hash = space_hash(task->space);
	struct tune_task asked = *task;
	asked.goal.objective = t->what->settings.goal.objective;
	mem_auto char *objective = tune_objective(&asked);
	const struct store_search wanted = {.kernel = task->kernel,
	                                    .source = task->source,
	                                    .problem = problem,
	                                    .objective = objective,
	                                    .strategy = t->what->settings.strategy->name,
	                                    .space_hash = hash};
	struct store_resumed earlier;
	int found = store_resume_find(t->store, app_fingerprint(t->app, err), &wanted, &earlier, err);
	*result = earlier.result;
	*search = earlier.result ? 0 : earlier.search;
	/* One of several may just not have begun. */
	if (found == 0 && t->what->count == 1)
		ui_inform(app_ui(t->app), "there is no interrupted search of %s like this to resume, so a new one begins",
		          task->kernel);
	if (found <= 0)
		return found;
	t->session = earlier.session;
	t->seed = earlier.seed;
	ui_note(app_ui(t->app), "%s: %s", task->kernel, *result ? "finished earlier" : "continuing the interrupted search");
	return 0;
}

struct annotation {
	const struct tune_task *task; /* of the item */
	const struct topo *topo;
};

static void annotate(void *ctx, json_t *result) {
	const struct annotation *annotation = ctx;
	if (annotation->task->hooks.annotate)
		annotation->task->hooks.annotate(annotation->task->hooks.annotate_ctx, result);
	plan_narrower_add(annotation->topo, result);
}

enum { LOGIN_JOBS_MAX = 4 };

/* The processors that this process may use. */
static unsigned processors(void) {
	cpu_set_t set;
	CPU_ZERO(&set);
	int count = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
	return count > 0 ? (unsigned)count : 1;
}

/* Nothing else runs while something is measured on a CPU, so that builds have all processors between the measurements.
 * A GPU is measured undisturbed if one processor is left to the process that drives it. If others measure, this host is
 * perhaps a login node, where everybody works. */
static unsigned jobs_of(const struct tuning *t, bool beside) {
	unsigned all = processors(), used = 0;
	if (t->what->settings.jobs)
		return (unsigned)t->what->settings.jobs;
	if (!tune_nodes_here(t->what->nodes))
		return all < LOGIN_JOBS_MAX ? all : LOGIN_JOBS_MAX;
	if (beside)
		used = t->what->nodes ? (unsigned)tune_nodes_pool(t->what->nodes)->count : 1;
	return all > used ? all - used : 1;
}

/* Starts the helpers that build for this task, if anything is built. */
static int tune_builds_begin(struct tuning *t, const struct tune_task *task, struct err *err) {
	struct ui *ui = app_ui(t->app);
	bool beside = task->device;
	if (!task->builder)
		return 0;
	unsigned jobs = jobs_of(t, beside);
	if (builder_help(task->builder, jobs, beside, err))
		return -1;
	if (jobs == 1)
		ui_step(ui, t->what->nodes ? "builds: by the nodes" : "builds: one by one");
	else
		ui_step(ui, "builds: up to %u at the same time, %s", jobs,
		        !tune_nodes_here(t->what->nodes) ? "on this host for all nodes"
		        : beside                         ? "beside the measurements, because these need one processor"
		                                         : "between the measurements, because they would disturb these");
	return 0;
}

/* Expects that the store exists, so that realpath can resolve it. */
static char *build_folder(const char *store) {
	mem_auto char *path = realpath(store, NULL);
	const char *slash = path ? strrchr(path, '/') : NULL;
	return slash ? mem_printf("%.*s/sweetspot-build", (int)(slash - path), path) : NULL;
}

/* Prepares the nodes for the trials of an item. Its builds go beside the store, where all nodes see them. ERR_USAGE if
 * the item cannot be measured on nodes. */
static int tune_nodes_use(struct tune_nodes *nodes, struct tune_item *item, const char *store, struct err *err) {
	if (!item->work.open)
		return err_set(err, ERR_USAGE, "leave --gpus out", "%s does not run on a GPU", item->task.kernel);
	if (!item->folder)
		item->folder = build_folder(store);
	pool_workers_use(nodes->workers, &item->work);
	return 0;
}

static int item_measure(struct tuning *t, struct tune_item *item, const struct tune_budget *budget, int64_t search,
                        json_t **result, struct err *err) {
	struct tune_description description = {.ui = app_ui(t->app), .watch = t->watch, .name = t->name};
	bool is_quiet = opt_has(t->what->args, "quiet") || opt_has(t->what->args, "json");
	const struct tune_observer observer = {.ctx = &description,
	                                       .progress = tune_describe_progress,
	                                       .warn = tune_describe_warning,
	                                       .found = is_quiet ? NULL : tune_describe_found};
	uint64_t hints[PLAN_HINTS_MAX];
	struct runner runner = item->runner;
	struct tune_task task = item->task;
	struct tune_nodes *nodes = t->what->nodes;
	if (session_begin(t, err) || (nodes && tune_nodes_use(nodes, item, store_path(t->store), err)))
		return -1;
	if (nodes && !item->shares_builds)
		task.builder = NULL;
	if (tune_builds_begin(t, &task, err))
		return -1;
	task.pool = nodes ? tune_nodes_pool(nodes) : NULL;
	task.strategy = t->what->settings.strategy;
	task.seed = t->seed;
	task.goal = t->what->settings.goal;
	task.goal.metric = item->task.goal.metric;
	task.goal.maximize = item->task.goal.maximize;
	task.budget = *budget;
	task.limits = t->what->settings.limits;
	task.limits.sharers = t->last_turn ? 1 : t->what->count;
	task.counters = item->counters;
	task.device_name = task.device ? js_string_or(app_gpu(t->app, err), "name", NULL) : NULL;
	task.runner = &runner;
	task.store = t->store;
	task.session = t->session;
	task.resume = search;
	task.fingerprint = app_fingerprint(t->app, err);
	task.prior.transfer = t->what->settings.transfer;
	task.prior.hints = hints;
	const struct topo *topo = app_topo(t->app, err);
	task.prior.hint_count = task.whole_programs ? plan_team_hints(task.space, task.start, topo, hints)
	                                            : plan_hints(task.space, task.start, topo, task.device != NULL, hints);
	struct annotation annotation = {.task = &item->task, .topo = topo};
	task.hooks.annotate = annotate;
	task.hooks.annotate_ctx = &annotation;
	task.command = app_command_line(t->app);
	task.hooks.interrupt = app_interrupt(t->app);
	int failed = tune_run(&task, &observer, result, err);
	tune_describe_end(&description, *result);
	return failed;
}

/* Records in a result whether its counters could have come from hardware. */
static void tune_counters_annotate(struct app *app, bool watch, json_t *result) {
	json_t *counting = json_object_get(result, "counting");
	const char *why, *fix;
	if (!counting)
		return;
	const json_t *sources = counters_sources(app);
	bool hardware = watch || (app_device(app) ? js_bool_or(js_named(sources, "cupti"), "usable", false)
	                                          : counters_hardware(sources, &why, &fix));
	json_object_set_new(counting, "hardware", json_boolean(hardware));
}

int tuning_item(struct tuning *t, struct tune_item *item, const struct tune_budget *budget, json_t **kept,
                struct err *err) {
	int64_t search = 0;
	json_t *result = NULL;
	int failed = item->open ? item->open(item, t->app, err) : 0;
	for (const char *const *note = item->notes; note && *note; note++)
		ui_note(app_ui(t->app), "%s", *note);
	if (!failed && opt_has(t->what->args, "resume"))
		failed = resume(t, &item->task, &search, &result, err);
	if (!failed && !result)
		failed = item_measure(t, item, budget, search, &result, err);
	if (result)
		tune_counters_annotate(t->app, item->counters.watch, result);
	double floor = result ? js_real_or(result, "noise_floor", NAN) : NAN;
	if (!(t->noise_floor >= floor) && !isnan(floor))
		t->noise_floor = floor;
	if (result)
		json_array_append_new(t->results, result);
	*kept = result;
	return failed;
}
