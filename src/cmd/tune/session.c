/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/app/lock.h"
#include "src/cmd/tune/tune_impl.h"
#include "src/plan/hints.h"
#include "src/plan/narrow.h"
#include "src/show/results.h"
#include "tuner/profile/profile.h"

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
	ui_progress_end(description->ui);
	if (!result)
		return;
	size_t sources = json_array_size(json_object_get(result, "sources"));
	js_each (source, json_object_get(result, "sources"))
		ui_step(description->ui, "search: uses %lld configurations of %s",
		        (long long)js_int_or(source, "configurations", 0), js_string_or(source, "name", "?"));
	ui_step(
		description->ui,
		"search: %s measured %lld of %lld configurations, %lld failed, %lld cut short, %zu earlier searches used; %s",
		js_string_or(result, "strategy", "?"), (long long)js_int_or(result, "evaluations", 0),
		(long long)js_int_or(json_object_get(result, "space"), "valid", 0), failures_of(result),
		(long long)js_int_or(json_object_get(result, "failures"), "censored", 0), sources,
		end_of(js_string_or(result, "stopped", "")));
}

static int session_open(struct tuning *t, struct err *err) {
	const json_t *machine = app_machine(t->app, err);
	if (!machine)
		return -1;
	t->store = store_open(opt_get(t->what->args, "store", NULL), STORE_WRITE, err);
	return t->store ? 0 : -1;
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
	asked.goal.objective = t->what->settings.objective;
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

/* left: the items that have not had their share yet. */
static struct tune_budget share(const struct tuning *t, size_t left) {
	struct tune_budget budget = t->what->settings.budget;
	if (budget.evaluations) {
		budget.evaluations = budget.evaluations / t->what->count;
		if (budget.evaluations == 0)
			budget.evaluations = 1;
	}
	if (budget.seconds > 0) {
		double remaining = t->what->settings.budget.seconds - (sys_now() - t->begun);
		double least = 0.1 * t->what->settings.budget.seconds / (double)t->what->count;
		budget.seconds = remaining / (double)left > least ? remaining / (double)left : least;
	}
	if (budget.node_seconds > 0) {
		const struct pool *pool = tune_nodes_pool(t->what->nodes);
		double all = budget.node_seconds, remaining = all - pool->held(pool->ctx).seconds;
		budget.node_seconds = fmax(remaining / (double)left, 0.1 * all / (double)t->what->count);
	}
	return budget;
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
	task.goal.objective = t->what->settings.objective;
	task.goal.second = t->what->settings.second;
	task.goal.pareto = t->what->settings.pareto;
	task.budget = *budget;
	task.limits.sharers = t->last_turn ? 1 : t->what->count;
	task.limits.timeout_s = t->what->settings.timeout_s;
	task.limits.build_timeout_s = t->what->settings.build_timeout_s;
	task.counters = item->counters;
	task.device_name = task.device ? js_string_or(app_gpu(t->app, err), "name", NULL) : NULL;
	task.runner = &runner;
	task.store = t->store;
	task.session = t->session;
	task.resume = search;
	task.fingerprint = app_fingerprint(t->app, err);
	task.prior.transfer = t->what->settings.transfer;
	task.limits.complete = t->what->settings.complete;
	task.limits.stop_gain = t->what->settings.stop_gain;
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

/* Was its share too short for its baseline? */
static bool is_postponed(const struct tuning *t, const json_t *result) {
	return !t->last_turn && result && strcmp(js_string_or(result, "stopped", ""), "share") == 0;
}

/* Keeps the first error, and prints those after it. */
static void failure_note(const struct tuning *t, const struct tune_item *item, struct err *nothing, struct err *err) {
	if (t->what->count > 1)
		err_prefix(err, "%s", item->task.kernel);
	if (nothing->code != ERR_OK)
		ui_error(stderr, err);
	else
		*nothing = *err;
	*err = (struct err){0};
}

/* Returns -1 to stop. *late: its share is too short, and why. */
static int item_turn(struct tuning *t, struct tune_item *item, const struct tune_budget *budget, struct err *nothing,
                     struct err *late, struct err *err) {
	json_t *kept;
	if (!tuning_item(t, item, budget, &kept, err))
		return 0;
	if (is_postponed(t, kept)) {
		json_array_remove(t->results, json_array_size(t->results) - 1);
		ui_note(app_ui(t->app), "%s is tuned last, with what the others leave: %s", item->task.kernel, err->what);
		*late = *err;
		*err = (struct err){0};
		return 0;
	}
	if (err->code != ERR_NOTHING && !(t->last_turn && err->code == ERR_USAGE))
		return -1;
	failure_note(t, item, nothing, err);
	return 0;
}

/* Those whose share was too short, with what is left if that is more than their share was. */
static int items_late(struct tuning *t, struct err *late, struct err *nothing, struct err *err) {
	size_t left = 0;
	t->last_turn = true;
	for (size_t i = 0; i < t->what->count; i++)
		left += late[i].code != ERR_OK;
	for (size_t i = 0; i < t->what->count; i++) {
		if (late[i].code == ERR_OK)
			continue;
		const struct tune_budget budget = share(t, left--);
		bool more = budget.seconds * (double)t->what->count > t->what->settings.budget.seconds;
		if (!more)
			failure_note(t, t->what->items[i], nothing, &late[i]);
		else if (item_turn(t, t->what->items[i], &budget, nothing, NULL, err))
			return -1;
	}
	return 0;
}

/* Continues with the other items if none of the configurations of one item worked. */
static int items_tune(struct tuning *t, struct err *err) {
	struct err nothing = {0}, *late = mem_alloc(t->what->count + 1, sizeof *late);
	int failed = 0;
	for (size_t i = 0; i < t->what->count && !failed; i++) {
		const struct tune_budget budget = share(t, t->what->count - i);
		failed = item_turn(t, t->what->items[i], &budget, &nothing, &late[i], err);
	}
	if (!failed)
		failed = items_late(t, late, &nothing, err);
	free(late);
	if (failed)
		return -1;
	*err = nothing;
	if (err->code == ERR_USAGE && json_array_size(t->results))
		err->code = ERR_NOTHING; /* the others have results */
	return nothing.code == ERR_OK ? 0 : -1;
}

/* The profile is kept beside the store. */
static char *profile_path(const struct tuning *t, const char *fingerprint) {
	const char *store = store_path(t->store), *slash = strrchr(store, '/');
	mem_auto char *folder = mem_printf("%.*s", slash ? (int)(slash + 1 - store) : 0, store);
	return profile_file_name(folder, fingerprint);
}

static char *profile_write(struct tuning *t, struct err *err) {
	const char *fingerprint = app_fingerprint(t->app, err);
	struct err none = {0};
	js_auto json_t *profile = profile_from_store(t->store, fingerprint, NULL, NULL, NULL, &none);
	if (!profile && none.code != ERR_NOTHING)
		*err = none;
	if (!profile)
		return NULL;
	char *path = profile_path(t, fingerprint);
	if (profile_save(profile, path, err)) {
		free(path);
		path = NULL;
	}
	return path;
}

static int show(struct tuning *t, const char *profile, struct err *err) {
	if (t->what->settings.format)
		return tune_trials_export(t->store, t->results, t->what->settings.format, err);
	if (!opt_has(t->what->args, "json")) {
		results_print(app_ui(t->app), t->results, t->noise_floor, profile, store_path(t->store));
		results_sizes_print(app_ui(t->app), t->sizes);
		return 0;
	}
	json_t *document =
		json_pack("{s:s,s:O,s:o,s:O,s:s,s:o}", "schema", "sweetspot-tune/1", "machine", app_machine(t->app, err),
	              "noise_floor", js_number(t->noise_floor), "results", t->results, "store", store_path(t->store),
	              "profile", profile ? json_string(profile) : json_null());
	if (t->sizes)
		json_object_set(document, "sizes", t->sizes);
	if (t->what->nodes)
		json_object_set_new(document, "fleet", tune_nodes_json(t->what->nodes));
	js_print(document);
	return 0;
}

/* Is there a result with a best configuration that is proven, or not? */
static bool has_best(const struct tuning *t, bool proven) {
	js_each (result, t->results)
		if (json_is_object(json_object_get(result, "best")) && js_bool_or(result, "proven", true) == proven)
			return true;
	return false;
}

/* Is there a result that was decided? An interruption may come before anything was. */
static bool has_decided(const struct tuning *t) {
	js_each (result, t->results)
		if (json_is_object(json_object_get(result, "best")) && ssp_use_of(result) != SSP_OPEN)
			return true;
	return false;
}

/* Is there a best configuration, not yet proven, that is not what the user runs today? */
static bool has_other(const struct tuning *t) {
	js_each (result, t->results) {
		const json_t *best = json_object_get(result, "best"), *today = json_object_get(result, "baseline");
		if (json_is_object(best) && !js_bool_or(result, "proven", true) &&
		    !json_equal(json_object_get(best, "config"), json_object_get(today, "config")))
			return true;
	}
	return false;
}

/* The command line once more, with --resume after its first two words. An interruption that only ended counting, or
 * came before the next kernel, leaves nothing to prove. */
static void resume_hint(const struct tuning *t, bool unproven) {
	const char *line = app_command_line(t->app), *tune = strstr(line, " tune");
	size_t first = tune ? (size_t)(tune - line) + strlen(" tune") : strcspn(line, " ");
	bool given = opt_has(t->what->args, "resume");
	const char *what =
		!unproven && has_decided(t) ? "the results so far are proven and in the profile; to go on"
		: !unproven                 ? "nothing is decided yet; to begin again"
		: has_other(t) ? "the best setting so far is in the profile, but it is not yet proven; to go on and prove it"
					   : "it is not yet decided whether another setting is faster; to go on";
	ui_inform(app_ui(t->app), "%s: %.*s%s%s", what, (int)first, line, given ? "" : " --resume", line + first);
}

static int tune_and_show(struct tuning *t, struct err *err) {
	/* The scheduler of the cluster keeps nodes apart, and this machine does not measure then, so no lock is needed. */
	bool here = tune_nodes_here(t->what->nodes);
	int lock = here ? lock_take(app_ui(t->app), app_interrupt(t->app), err) : -1;
	if (lock < 0 && here)
		return -1;
	t->begun = sys_now();
	int failed = t->what->sizes ? tune_sizes_run(t, err) : items_tune(t, err);
	if (lock >= 0)
		lock_release(lock);
	bool interrupted = failed && err->code == ERR_INTERRUPTED, open = has_best(t, false);
	const char *state = interrupted || (!failed && open)      ? "interrupted"
	                    : !failed || err->code == ERR_NOTHING ? "done"
	                                                          : "failed";
	struct err second = {0};
	if (t->session && store_session_end(t->store, t->session, state, t->noise_floor, &second) && !failed) {
		*err = second;
		failed = -1;
	}
	if (store_check_lost(t->store, &second) && (!failed || err->code == ERR_NOTHING)) {
		*err = second;
		failed = -1;
	}
	if (json_array_size(t->results)) {
		struct err unwritten = {0};
		mem_auto char *profile =
			failed && err->code != ERR_NOTHING && !interrupted ? NULL : profile_write(t, &unwritten);
		failed = show(t, profile, &unwritten) || failed ? -1 : 0;
		if (open || interrupted)
			resume_hint(t, open);
		if (unwritten.code != ERR_OK && (!failed || err->code == ERR_NOTHING)) {
			*err = unwritten;
			failed = -1;
		}
	}
	return failed;
}

int tune_session_run(const struct tune_session *session, struct err *err) {
	struct tuning t = {.what = session,
	                   .app = session->app,
	                   .seed = session->settings.seed,
	                   .noise_floor = NAN,
	                   .results = json_array()};
	const char *page = opt_get(session->args, "watch", NULL);
	int failed =
		session_open(&t, err) || (page && !(t.watch = watch_new(page, err))) || tune_and_show(&t, err) ? -1 : 0;
	struct err unwritten = {0};
	if (watch_end(t.watch, t.results, failed ? err->what : NULL, failed ? &unwritten : err))
		failed = -1;
	watch_free(t.watch);
	store_close(t.store);
	json_decref(t.results);
	json_decref(t.sizes);
	return failed;
}
