/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/js.h"
#include "src/base/mem.h"
#include "src/base/sys.h"
#include "src/cmd.h"
#include "src/lock.h"
#include "src/plan.h"
#include "src/results.h"
#include "src/tune_options.h"
#include "tuner/profile.h"
#include "tuner/tune.h"

struct tuning {
	struct app *app;
	const struct opt_args *args;
	struct plan **plans;
	size_t plan_count;
	struct tune_settings settings;
	struct store *store;
	int64_t session;
	double begun;
	double noise_floor;
	json_t *results;
};

static int plan_add(struct tuning *t, const struct kernel_desc *kernel, struct err *err) {
	struct plan *plan = plan_new(t->app, kernel, t->args, err);
	if (!plan)
		return -1;
	t->plans[t->plan_count++] = plan;
	return 0;
}

/* The kernels named, or the whole suite without the analytic one that only tests the tuner. All are planned before one
 * is measured: a typing error in the last costs nothing. */
static int plans_make(struct tuning *t, struct err *err) {
	size_t count;
	const struct kernel_desc **kernels = app_kernels_named(t->app, t->args, &count, err);
	int failed = kernels ? 0 : -1;
	t->plans = mem_alloc(kernels ? count : 1, sizeof *t->plans);
	for (size_t i = 0; !failed && i < count; i++)
		if (opt_words(t->args) || strcmp(kernels[i]->name, "synthetic") != 0)
			failed = plan_add(t, kernels[i], err);
	free(kernels);
	return failed;
}

static int session_open(struct tuning *t, struct err *err) {
	const json_t *machine = app_machine(t->app, err);
	if (!machine)
		return -1;
	t->store = store_open(opt_get(t->args, "store", NULL), STORE_WRITE, err);
	return t->store ? 0 : -1;
}

static int session_begin(struct tuning *t, struct err *err) {
	if (t->session)
		return 0;
	struct store_session session = {
		.fingerprint = app_fingerprint(t->app, err),
		.machine = app_machine(t->app, err),
		.command = app_command_line(t->app),
		.seed = t->settings.seed,
		.started = sys_wall(),
	};
	if (store_session_begin(t->store, &session, err))
		return -1;
	t->session = session.id;
	return 0;
}

/* An unfinished search to go on with, or a finished result to take over: *result. */
static int resume(struct tuning *t, const struct plan *plan, int64_t *search, json_t **result, struct err *err) {
	char state[16], *problem = js_canonical(plan->problem), *hash = space_hash(plan->space);
	const struct store_search like = {.kernel = plan->kernel->name,
	                                  .source = plan->kernel->source,
	                                  .problem = problem,
	                                  .objective = "time",
	                                  .strategy = t->settings.strategy->name,
	                                  .space_hash = hash};
	int64_t session = 0;
	uint64_t seed = t->settings.seed;
	*search = 0;
	int found =
		store_resume_find(t->store, app_fingerprint(t->app, err), &like, search, &session, &seed, state, result, err);
	free(problem);
	free(hash);
	if (found <= 0)
		return found;
	t->session = session;
	t->settings.seed = seed;
	if (*result)
		*search = 0;
	ui_note(app_ui(t->app), "%s: %s", plan->kernel->name,
	        *result ? "finished before" : "going on with the interrupted search");
	return 0;
}

static struct tune_budget share(const struct tuning *t, size_t at) {
	size_t left = t->plan_count - at;
	struct tune_budget budget = t->settings.budget;
	if (budget.evaluations) {
		budget.evaluations = budget.evaluations / t->plan_count;
		if (budget.evaluations == 0)
			budget.evaluations = 1;
	}
	if (budget.seconds > 0) {
		double remaining = t->settings.budget.seconds - (sys_now() - t->begun);
		double least = 0.1 * t->settings.budget.seconds / (double)t->plan_count;
		budget.seconds = remaining / (double)left > least ? remaining / (double)left : least;
	}
	return budget;
}

static void on_progress(void *ctx, const struct tune_progress *progress) {
	results_progress(app_ui(ctx), progress);
}

static int tune_plan(struct tuning *t, const struct plan *plan, size_t at, int64_t search, json_t **result,
                     struct err *err) {
	struct worker *worker = app_worker(t->app, err);
	if (!worker || session_begin(t, err))
		return -1;
	struct runner runner = worker_runner(worker);
	const struct tune_task task = {
		.kernel = plan->kernel->name,
		.source = plan->kernel->source,
		.library = plan->kernel->library,
		.problem = plan->problem,
		.space = plan->space,
		.baseline = plan->baseline,
		.start = plan->start,
		.unsafe = plan->kernel->unsafe,
		.strategy = t->settings.strategy,
		.seed = t->settings.seed,
		.budget = share(t, at),
		.timeout_s = t->settings.timeout_s,
		.runner = &runner,
		.store = t->store,
		.session = t->session,
		.resume = search,
		.command = app_command_line(t->app),
		.interrupt = app_interrupt(t->app),
	};
	const struct tune_observer observer = {.ctx = t->app, .progress = on_progress};
	int failed = tune_run(&task, &observer, result, err);
	ui_progress_end(app_ui(t->app));
	return failed;
}

static int tune_kernel(struct tuning *t, size_t at, struct err *err) {
	int64_t search = 0;
	json_t *result = NULL;
	const struct plan *plan = t->plans[at];
	int failed = opt_has(t->args, "resume") ? resume(t, plan, &search, &result, err) : 0;
	if (!failed && !result)
		failed = tune_plan(t, plan, at, search, &result, err);
	double floor = result ? js_real_or(result, "noise_floor", NAN) : NAN;
	if (!(t->noise_floor >= floor) && !isnan(floor))
		t->noise_floor = floor;
	if (result)
		json_array_append_new(t->results, result);
	return failed;
}

/* Nothing worked for one kernel is no reason to leave out the others. */
static int tune_all(struct tuning *t, struct err *err) {
	struct err nothing = {0};
	for (size_t i = 0; i < t->plan_count; i++) {
		if (!tune_kernel(t, i, err))
			continue;
		if (err->code != ERR_NOTHING)
			return -1;
		if (nothing.code != ERR_OK)
			err_print(&nothing, stderr);
		nothing = *err;
		*err = (struct err){0};
	}
	*err = nothing;
	return nothing.code == ERR_OK ? 0 : -1;
}

/* The profile lies beside the store: profile-FINGERPRINT.json. */
static char *profile_path(const struct tuning *t, const char *fingerprint) {
	const char *store = store_path(t->store), *slash = strrchr(store, '/');
	const char *colon = strchr(fingerprint, ':');
	return mem_printf("%.*sprofile-%.12s.json", slash ? (int)(slash + 1 - store) : 0, store,
	                  colon ? colon + 1 : fingerprint);
}

static char *profile_write(struct tuning *t, struct err *err) {
	const char *fingerprint = app_fingerprint(t->app, err);
	struct err none = {0};
	json_t *profile = profile_from_store(t->store, fingerprint, NULL, NULL, NULL, &none);
	if (!profile)
		return NULL;
	char *path = profile_path(t, fingerprint);
	if (profile_save(profile, path, err)) {
		free(path);
		path = NULL;
	}
	json_decref(profile);
	return path;
}

static void show(struct tuning *t, const char *profile, struct err *err) {
	if (!opt_has(t->args, "json")) {
		results_print(app_ui(t->app), t->results, t->noise_floor, profile, store_path(t->store));
		return;
	}
	json_t *document =
		json_pack("{s:s,s:O,s:o,s:O,s:s,s:o}", "schema", "sweetspot-tune/1", "machine", app_machine(t->app, err),
	              "noise_floor", js_number(t->noise_floor), "results", t->results, "store", store_path(t->store),
	              "profile", profile ? json_string(profile) : json_null());
	js_write(document, stdout);
	json_decref(document);
}

static int tune_and_show(struct tuning *t, struct err *err) {
	int lock = lock_take(app_ui(t->app), app_interrupt(t->app), err);
	if (lock < 0)
		return -1;
	t->begun = sys_now();
	int failed = tune_all(t, err);
	lock_release(lock);
	const char *state = !failed || err->code == ERR_NOTHING ? "done"
	                    : err->code == ERR_INTERRUPTED      ? "interrupted"
	                                                        : "failed";
	struct err second = {0};
	if (t->session && store_session_end(t->store, t->session, state, t->noise_floor, &second) && !failed) {
		*err = second;
		failed = -1;
	}
	if (json_array_size(t->results)) {
		char *profile = failed && err->code != ERR_NOTHING ? NULL : profile_write(t, &second);
		show(t, profile, &second);
		free(profile);
	}
	return failed;
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	struct tuning t = {.app = app, .args = args, .noise_floor = NAN, .results = json_array()};
	int failed = -1;
	if (opt_dashes(args))
		err_set(err, ERR_USAGE, "name kernels: `sweetspot list kernels`", "this version tunes kernels, not programs");
	else if (!tune_settings_read(args, &t.settings, err) && !plans_make(&t, err) && !session_open(&t, err))
		failed = tune_and_show(&t, err);
	store_close(t.store);
	for (size_t i = 0; i < t.plan_count; i++)
		plan_free(t.plans[i]);
	free(t.plans);
	json_decref(t.results);
	return failed;
}

static const struct opt *const tables[] = {tune_options, plan_options, cmd_store_options, NULL};

const struct cmd cmd_tune = {
	.name = "tune",
	.summary = "find, prove and record the fastest configuration",
	.usage = "[KERNEL...] [OPTION...]",
	.options = tables,
	.notes = "Without a kernel the whole suite is tuned. The winner of the search meets the baseline (all hardware\n"
			 "threads, unbound, static schedule, the conventional variant) in at least 21 interleaved pairs; what is\n"
			 "printed is that ratio and its 95 % interval. A gain within 1 % is a tie, and the cheaper setup is kept.",
	.run = run,
};
