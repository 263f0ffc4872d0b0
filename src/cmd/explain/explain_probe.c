/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/explain/explain_probe_impl.h"

#include <math.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/app/lock.h"
#include "src/plan/params.h"
#include "tuner/probe/probe.h"
#include "tuner/program/program_json.h"

static const double SAMPLE_SECONDS = 4e-3, TIMEOUT_SECONDS = 600;

/* A kernel or a program, which is measured. */
struct probed {
	const struct explain_view *view;
	struct arena *arena;
	const struct kernel_desc *kernel;
	struct params params;
	struct program *program;
	struct probe_bench bench;
};

static const struct kernel_desc *kernel_of(const struct explain_view *view) {
	const char *name = view->item->kernel;
	const struct kernel_list *kernels = app_kernels(view->app, NULL);
	const struct kernel_desc *found =
		kernels ? kernel_list_find(kernels, name, app_device_kind(view->app), NULL) : NULL;
	for (size_t i = 0; i < opt_words(view->args) && !found; i++) {
		struct err unknown = {0};
		const struct kernel_desc *one = app_kernel(view->app, opt_word(view->args, i), &unknown);
		found = one && strcmp(one->name, name) == 0 ? one : NULL;
	}
	return found;
}

/* Leaves out what a value makes meaningless, and adds what it brings along. */
static json_t *kernel_complete(void *ctx, const json_t *problem, const json_t *config, struct err *err) {
	struct probed *probed = ctx;
	js_auto json_t *left = json_copy((json_t *)config);
	for (size_t i = 0; i < probed->params.count; i++) {
		const struct kernel_param *param = &probed->params.items[i];
		bool wanted = true;
		if (params_when_holds(param->when, problem, left, &wanted, err))
			return NULL;
		if (!wanted)
			json_object_del(left, param->name);
	}
	return params_complete(&probed->params, problem, left, err);
}

static int begin(void *ctx, const char *cause, double left_s, struct err *err) {
	const struct probed *probed = ctx;
	struct app *app = probed->view->app;
	ui_progress(app_ui(app), "probe  %s, %s, %.0f s left", probed->view->item->kernel, cause, fmax(0, left_s));
	return *app_interrupt(app) ? err_set(err, ERR_INTERRUPTED, NULL, "interrupted") : 0;
}

static int kernel_open(struct probed *probed, struct err *err) {
	struct app *app = probed->view->app;
	const struct kernel_desc *kernel = probed->kernel;
	struct topo *topo = app_topo(app, err);
	struct worker *worker = app_worker(app, err);
	if (!topo || !worker || !app_gpu(app, err))
		return -1;
	params_init(&probed->params, kernel, topo, true);
	probed->bench.runner = worker_runner(worker);
	probed->bench.complete = kernel_complete;
	probed->bench.request = (struct trial_request){.kernel = kernel->name,
	                                               .library = kernel->library,
	                                               .device = app_device(app),
	                                               .warmup = 1,
	                                               .min_sample_s = SAMPLE_SECONDS};
	return 0;
}

/* The newest recording of the program with this problem. */
static const json_t *tune_of(const struct explain_view *view) {
	for (size_t i = json_array_size(view->item->tunes); i-- > 0;) {
		const json_t *tune = json_array_get(view->item->tunes, i);
		if (json_object_get(tune, "program") && json_equal(json_object_get(tune, "problem"), view->problem))
			return tune;
	}
	return NULL;
}

/* As `tune` ran it, in the folder where it did. */
static int program_open(struct probed *probed, const json_t *tune, struct err *err) {
	struct app *app = probed->view->app;
	const json_t *program = json_object_get(tune, "program");
	struct program_spec spec = program_recorded(probed->arena, program, js_at(tune, "baseline.config"));
	spec.folder = js_string_or(program, "folder", NULL);
	struct worker *worker = app_worker(app, err);
	probed->program = worker ? program_new(&spec, worker, err) : NULL;
	if (!probed->program)
		return -1;
	probed->bench.runner = program_runner(probed->program);
	probed->bench.request = (struct trial_request){.kernel = probed->view->item->kernel, .whole_program = true};
	return 0;
}

/* Without a runner the bench says why. */
static void probed_open(struct probed *probed) {
	const json_t *tune = tune_of(probed->view);
	struct err why = {0};
	int failed = 0;
	probed->kernel = tune ? NULL : kernel_of(probed->view);
	if (tune)
		failed = program_open(probed, tune, &why);
	else if (probed->kernel)
		failed = kernel_open(probed, &why);
	else
		failed = err_set(&why, ERR_NOTHING, NULL, "what was measured is not here: name it as `tune` did");
	enum trial_objective objective = TRIAL_OBJECTIVE_TIME;
	trial_objective_find(probed->view->objective, &objective);
	probed->bench.request.objective = objective;
	probed->bench.request.timeout_s = TIMEOUT_SECONDS;
	if (!failed)
		return;
	probed->bench.runner.run = NULL;
	probed->bench.why = arena_strdup(probed->arena, why.what);
}

static void probed_close(struct probed *probed) {
	program_free(probed->program);
	if (probed->params.arena)
		params_clear(&probed->params);
	arena_free(probed->arena);
}

/* A search without trials and result, which would take the place of a recommendation: the verdicts are its plan. */
static int keep(const struct explain_view *view, json_t *probes, struct err *err) {
	js_auto json_t *kept =
		json_pack("{s:s,s:O,s:O}", "kernel", view->item->kernel, "problem", view->problem, "probes", probes);
	mem_auto char *problem = js_canonical(view->problem);
	struct store_session session = {.machine = app_machine(view->app, err),
	                                .fingerprint = app_fingerprint(view->app, err),
	                                .command = app_command_line(view->app),
	                                .started = sys_wall()};
	struct store_search search = {.kernel = view->item->kernel,
	                              .source = view->item->source ? view->item->source : "",
	                              .problem = problem,
	                              .objective = view->objective,
	                              .strategy = "probe",
	                              .space_hash = "",
	                              .baseline = "{}"};
	struct store *store = session.machine ? store_open(opt_get(view->args, "store", NULL), STORE_WRITE, err) : NULL;
	int failed = store ? store_session_begin(store, &session, err) : -1;
	search.session = session.id;
	failed = failed || store_search_begin(store, &search, err) || store_plan_set(store, search.id, kept, err) ||
	         store_search_end(store, search.id, "done", NULL, err) ||
	         store_session_end(store, session.id, "done", NAN, err);
	store_close(store);
	return failed ? -1 : 0;
}

/* Other measurements would disturb it, and it them. */
static int measure(struct probed *probed, json_t *result, struct err *err) {
	const struct explain_view *view = probed->view;
	struct app *app = view->app;
	const struct probe_subject subject = {.study = view->study,
	                                      .problem_row = view->problem_row,
	                                      .tune = view->tune,
	                                      .findings = json_object_get(result, "diagnoses")};
	int lock = lock_take(app_ui(app), app_interrupt(app), err);
	if (lock < 0)
		return -1;
	struct race_watch watch = {
		.busy = busy_new(), .seconds = probed->bench.seconds / 10, .interrupt = app_interrupt(app)};
	probed->bench.watch = &watch;
	json_t *probes = probe_causes(&subject, &probed->bench, err);
	ui_progress_end(app_ui(app));
	json_object_set_new(result, "load", race_watch_json(&watch));
	busy_free(watch.busy);
	json_decref(watch.pairs);
	lock_release(lock);
	json_object_set_new(result, "probes", probes);
	return err->code == ERR_OK ? keep(view, probes, err) : -1;
}

int explain_probe(const struct explain_view *view, double seconds, json_t *result, struct err *err) {
	struct probed probed = {.view = view, .arena = arena_new()};
	probed.bench.seconds = seconds;
	probed.bench.in_seconds = strcmp(view->unit, "s") == 0;
	probed.bench.seed = 1;
	probed.bench.ctx = &probed;
	probed.bench.begin = begin;
	probed_open(&probed);
	int failed = measure(&probed, result, err);
	probed_close(&probed);
	return failed;
}

void explain_probe_recall(const struct explain_view *view, json_t *result) {
	for (size_t i = json_array_size(view->item->probes); i-- > 0;) {
		const json_t *kept = json_array_get(view->item->probes, i);
		if (json_equal(json_object_get(kept, "problem"), view->problem)) {
			json_object_set(result, "probes", json_object_get(kept, "probes"));
			return;
		}
	}
}
