/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/stop.h"
#include "base/sys.h"
#include "src/app/app.h"
#include "src/app/lock.h"
#include "src/cmd/explain/explain.h"
#include "src/cmd/regions/regions.h"
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
	struct program *program, *confined; /* confined: run by a worker of its own */
	struct worker *twin;
	const json_t *recorded; /* the program of its tune */
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

static void confined_rest(void *ctx) {
	worker_rest(((struct probed *)ctx)->twin);
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
	probed->twin = worker_twin(worker, app_interrupt(app));
	probed->bench.confined = worker_runner(probed->twin);
	probed->bench.rest = confined_rest;
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

/* Variables that interventions set are parameters, too. */
static const char *const *params_more(struct arena *arena, const char *const *params) {
	size_t count = 0, more = 0;
	while (params[count])
		count++;
	while (probe_variables[more])
		more++;
	const char **all = arena_alloc(arena, count + more + 1, sizeof *all);
	memcpy(all, params, count * sizeof *all);
	for (size_t i = 0; i < more; i++) {
		bool known = false;
		for (size_t k = 0; k < count; k++)
			known = known || strcmp(all[k], probe_variables[i]) == 0;
		if (!known)
			all[count++] = probe_variables[i];
	}
	return all;
}

static struct program_spec spec_of(struct probed *probed) {
	struct program_spec spec =
		program_recorded(probed->arena, probed->recorded, js_at(tune_of(probed->view), "baseline.config"));
	spec.folder = js_string_or(probed->recorded, "folder", NULL);
	return spec;
}

/* As `tune` ran it, in the folder where it did. */
static int program_open(struct probed *probed, const json_t *tune, struct err *err) {
	struct app *app = probed->view->app;
	probed->recorded = json_object_get(tune, "program");
	struct program_spec spec = spec_of(probed);
	spec.params = params_more(probed->arena, spec.params);
	struct worker *worker = app_worker(app, err);
	probed->program = worker ? program_new(&spec, worker, err) : NULL;
	if (!probed->program)
		return -1;
	probed->twin = worker_twin(worker, app_interrupt(app));
	probed->confined = spec.build || spec.setup ? NULL : program_new(&spec, probed->twin, err);
	if (probed->confined)
		probed->bench.confined = program_runner(probed->confined);
	probed->bench.rest = confined_rest;
	probed->bench.runner = program_runner(probed->program);
	probed->bench.request = (struct trial_request){.kernel = probed->view->item->kernel, .whole_program = true};
	return 0;
}

static const char **words_of(struct arena *arena, const json_t *words) {
	const char **list = arena_alloc(arena, json_array_size(words) + 1, sizeof *list);
	js_each (word, words)
		list[word_at] = arena_strdup(arena, json_string_value(word));
	return list;
}

/* Nothing is known of a program that is built for each setting. */
static json_t *program_regions(struct probed *probed, const json_t *config) {
	struct program_spec spec = spec_of(probed);
	if (spec.build || spec.setup)
		return NULL;
	js_auto json_t *words = program_recorded_words(probed->recorded, config),
				   *variables = program_environment(probed->program, config);
	spec.argv = words_of(probed->arena, words);
	spec.shell = spec.openmp = false;
	spec.params = NULL;
	spec.baseline = NULL;
	spec.variables = variables;
	return regions_command_look(probed->view->app, &spec, probed->bench.seconds);
}

static void words_add(json_t *words, const json_t *values) {
	js_members (name, value, values) {
		mem_auto char *text = program_value_text(value);
		json_array_append_new(words, json_sprintf("%s=%s", name, text ? text : ""));
	}
}

/* The worker is a program, whose regions are those of the kernel: what else it does takes no part in them. */
static json_t *kernel_regions(struct probed *probed, const json_t *problem, const json_t *config) {
	struct err none = {0};
	mem_auto char *worker = app_worker_path(&none);
	if (!worker || probed->kernel->library)
		return NULL;
	js_auto json_t *words = json_pack("[s,s,s,s]", worker, "run", probed->kernel->name, "--no-verify");
	words_add(words, problem);
	words_add(words, config);
	const struct program_spec spec = {.argv = words_of(probed->arena, words)};
	json_t *profile = regions_command_look(probed->view->app, &spec, probed->bench.seconds);
	double time = 0;
	js_each (region, json_object_get(profile, "regions"))
		time += js_real_or(region, "time", 0);
	if (profile && time > 0)
		json_object_set_new(profile, "time", json_real(time));
	return profile;
}

static json_t *regions_look(void *ctx, const json_t *problem, const json_t *config) {
	struct probed *probed = ctx;
	if (app_device(probed->view->app) && strcmp(app_device(probed->view->app), "cpu") != 0)
		return NULL;
	return probed->program ? program_regions(probed, config) : kernel_regions(probed, problem, config);
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
	probed->bench.own = true;
	probed->bench.regions = regions_look;
	probed->bench.request.timeout_s = TIMEOUT_SECONDS;
	if (!failed)
		return;
	probed->bench.runner.run = NULL;
	probed->bench.why = arena_strdup(probed->arena, why.what);
}

static void probed_close(struct probed *probed) {
	program_free(probed->program);
	program_free(probed->confined);
	if (probed->twin)
		worker_free(probed->twin);
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
	                                      .program = probed->program,
	                                      .whole = probed->program && strcmp(view->unit, "s") == 0 &&
	                                               !json_object_get(probed->recorded, "metric"),
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

/* Adds "probes" (tuner/probe/probe.h) to the result of explain_result. -1 with err if it was interrupted or could not
 * begin; the result then has what is known so far. */
static int explain_probe(const struct explain_view *view, double seconds, json_t *result, struct err *err) {
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

/* Adds the verdicts of the last time, if there are any for this problem. */
static void explain_probe_recall(const struct explain_view *view, json_t *result) {
	for (size_t i = json_array_size(view->item->probes); i-- > 0;) {
		const json_t *kept = json_array_get(view->item->probes, i);
		if (json_equal(json_object_get(kept, "problem"), view->problem)) {
			json_object_set(result, "probes", json_object_get(kept, "probes"));
			return;
		}
	}
}

static const double PROBE_SECONDS = 30;

static const struct opt what_options[] = {
	OPT_GROUP("What to explain"),
	{"size", 's', "K=V,..", "problem size, for example n=2048 (the last tuned)", OPT_REPEAT},
	{"objective", 0, "NAME", "time, energy or edp, or several of them (time)", 0},
	{"regions", 0, NULL, "regions tuned by tune --regions", 0},
	{0},
};

static const struct opt options[] = {
	OPT_GROUP("Experiments"),
	{"probe", 'p', NULL, "measure what would refute each cause", 0},
	{"budget", 'b', "TIME", "time limit of --probe (30s)", 0},
	OPT_GROUP("Results"),
	{"from", 'f', "FILE", "table (CSV), JSON document or recorded space to read", OPT_REPEAT},
	{"problem", 0, "NAME,..", "columns of a table that describe the problem", OPT_REPEAT},
	{"machine", 0, "FILE|WORDS", "machine for --from: 'cores=8 threads=16 l2=1M'", 0},
	{0},
};

/* "n=64,m=2" */
static int size_read(const char *text, json_t *size, struct err *err) {
	char *copy = mem_strdup(text), *rest = NULL;
	int failed = 0;
	for (char *word = strtok_r(copy, ", ", &rest); word && !failed; word = strtok_r(NULL, ", ", &rest)) {
		char *equals = strchr(word, '=');
		if (!equals || equals == word) {
			failed = err_set(err, ERR_USAGE, "write --size n=2048", "--size %s does not give a value", text);
			continue;
		}
		*equals = '\0';
		json_object_set_new(size, word, value_json(value_parse(equals + 1)));
	}
	free(copy);
	return failed;
}

/* The program after the dashes is a size, too: its command as it was given to `tune`. */
static void command_read(const struct opt_args *args, json_t *size) {
	size_t count;
	char *const *words = opt_rest(args, &count);
	if (!opt_dashes(args) || count == 0)
		return;
	mem_auto char *line = program_join((const char *const *)words, true);
	json_object_set_new(size, "command", json_string(line));
}

/* The results of one command, and how long they may be probed. */
struct explaining {
	struct app *app;
	const struct opt_args *args;
	const json_t *size;
	json_t *results;
	double end; /* of --probe; 0: nothing is measured */
};

/* The studies that follow share the time that is left. */
static int result_probe(const struct explaining *explaining, const struct explain_view *view, size_t studies,
                        json_t *result, struct err *err) {
	explain_probe_recall(view, result);
	if (explaining->end <= 0)
		return 0;
	return explain_probe(view, (explaining->end - sys_now()) / (double)studies, result, err);
}

/* Adds the results of one objective. */
static int results_add(const struct explaining *explaining, const char *objective, struct err *err) {
	struct study_set *set = explain_load(explaining->app, explaining->args, objective, err);
	int failed = set ? 0 : -1;
	for (size_t i = 0; set && i < study_set_count(set) && !failed; i++) {
		struct explain_view view = {.app = explaining->app, .args = explaining->args};
		if (!study_set_at(set, i)->trials || !explain_view_make(set, study_set_at(set, i), explaining->size, &view))
			continue;
		json_t *result = explain_result(&view);
		json_array_append_new(explaining->results, result);
		failed = result_probe(explaining, &view, study_set_count(set) - i, result, err);
	}
	study_set_free(set);
	return failed;
}

/* --objective may list several, as in "time,energy"; each gets its own results. */
static int results_make(const struct explaining *explaining, struct err *err) {
	char *list = mem_strdup(opt_get(explaining->args, "objective", "time")), *rest = NULL;
	int failed = 0;
	for (char *word = strtok_r(list, ", ", &rest); word && !failed; word = strtok_r(NULL, ", ", &rest)) {
		enum trial_objective objective;
		failed = trial_objective_find(word, &objective)
		             ? results_add(explaining, word, err)
		             : err_set(err, ERR_USAGE, "choose time, energy or edp", "unknown objective \"%s\"", word);
	}
	free(list);
	return failed;
}

static int show(const struct explaining *explaining, struct err *err) {
	struct app *app = explaining->app;
	const struct opt_args *args = explaining->args;
	const json_t *results = explaining->results;
	if (json_array_size(results) == 0)
		return err_set(err, ERR_NOTHING,
		               opt_dashes(args)
		                   ? "`sweetspot store list` shows what was measured, as it was written"
		                   : "run `sweetspot explain` without --size to see the problems that were measured",
		               "no configuration of this problem worked, or none was measured");
	if (opt_has(args, "json")) {
		js_auto json_t *document = json_pack("{s:s,s:O}", "schema", "sweetspot-explain/1", "results", results);
		if (!opt_has(args, "from")) /* a file was measured elsewhere; each of its results has its machine */
			json_object_set(document, "machine", (json_t *)app_machine(app, err));
		js_write(document, stdout);
		return 0;
	}
	js_each (result, results) {
		if (result_at)
			putchar('\n');
		explain_print(app_ui(app), result, opt_has(args, "verbose"), stdout);
	}
	return 0;
}

/* Verdicts that were reached before an interruption are shown. */
static int probe_and_show(struct explaining *explaining, struct err *err) {
	double seconds = PROBE_SECONDS;
	const char *budget = opt_get(explaining->args, "budget", NULL);
	struct err second = {0};
	if (budget && opt_seconds(budget, "budget", &seconds, err))
		return -1;
	explaining->end = sys_now() + seconds;
	stop_at_once(false);
	int failed = results_make(explaining, err);
	stop_at_once(true);
	if (failed && err->code == ERR_INTERRUPTED && json_array_size(explaining->results))
		show(explaining, &second);
	return failed || show(explaining, err) ? -1 : 0;
}

static int check(const struct opt_args *args, struct err *err) {
	if (opt_has(args, "probe") && opt_has(args, "from"))
		return err_set(err, ERR_USAGE,
		               "run `sweetspot explain --probe` without --from to use the store of this machine",
		               "--probe measures on this machine, but --from may describe another one");
	if (!opt_has(args, "from") && (opt_has(args, "problem") || opt_has(args, "machine")))
		return err_set(err, ERR_USAGE, "sweetspot explain --from times.csv", "--%s requires --from",
		               opt_has(args, "problem") ? "problem" : "machine");
	if (opt_has(args, "budget") && !opt_has(args, "probe"))
		return err_set(err, ERR_USAGE, "sweetspot explain --probe --budget 120s", "--budget requires --probe");
	return 0;
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_has(args, "regions"))
		return regions_command_explain(app, args, err);
	js_auto json_t *size = json_object(), *results = json_array();
	struct explaining explaining = {.app = app, .args = args, .size = size, .results = results};
	if (check(args, err))
		return -1;
	for (size_t i = 0; i < opt_count(args, "size"); i++)
		if (size_read(opt_at(args, "size", i), size, err))
			return -1;
	command_read(args, size);
	if (opt_has(args, "probe"))
		return probe_and_show(&explaining, err);
	return results_make(&explaining, err) || show(&explaining, err) ? -1 : 0;
}

const struct cmd cmd_explain = {
	.name = "explain",
	.summary = "explain why the winner wins, and what to try next",
	.usage = "explain [OPTION...] [KERNEL...] [-- PROGRAM [ARG...]]\n"
			 "explain --regions [-- PROGRAM]",
	.options = (const struct opt *const[]){what_options, cmd_device_options, options, explain_from_options,
                                           cmd_store_options, NULL},
	.notes = "Uses the results that tune, sweep and compare have stored. Without a kernel it\n"
			 "covers all kernels measured on this machine.",
	.examples = "sweetspot explain fw\n"
				"sweetspot explain fw --size n=1024 --probe --budget 2m",
	.only_reads = true,
	.run = run,
};
