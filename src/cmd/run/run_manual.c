/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/cmd/run/run_impl.h"
#include "base/stats.h"
#include "tuner/race/unsafe.h"

const struct opt manual_what_options[] = {
	OPT_GROUP("What to measure"),
	{"size", 's', "K=V,..", "problem size, for example n=2048", OPT_REPEAT},
	{"set", 0, "P=V", "value of a parameter; the same as the word P=V", OPT_REPEAT},
	{0},
};

const struct opt manual_options[] = {
	OPT_GROUP("Measuring"),
	{"samples", 'n', "N", "timed samples of each configuration (11)", 0},
	{"timeout", 0, "SECONDS", "time limit of a trial (600)", 0},
	{"flush-l2", 0, NULL, "empty the GPU's L2 cache before each run", 0},
	{"seed", 0, "N", "random seed of the input and the comparisons (1)", 0},
	{0},
};

static int kernel_read(struct manual *manual, const struct opt_args *args, struct err *err) {
	if (opt_words(args) == 0)
		return err_set(err, ERR_USAGE, "`sweetspot list kernels` lists them", "give the name of a kernel");
	manual->kernel = app_kernel(manual->app, opt_word(args, 0), err);
	return manual->kernel ? 0 : -1;
}

/* Tells whether reading continues after a word that was not understood. */
static bool word_excused(struct manual *manual, unsigned number, struct err *err) {
	if (!manual->lenient || err->code != ERR_USAGE || number > 63)
		return false;
	*manual->lenient = *err;
	*err = (struct err){0};
	manual->refused |= UINT64_C(1) << number;
	return true;
}

static int words_read(struct manual *manual, const struct opt_args *args, size_t words, struct err *err) {
	unsigned number = 0;
	for (size_t i = 0; i < opt_count(args, "size"); i++, number++)
		if (params_words(&manual->params, opt_at(args, "size", i), manual->problem, NULL, err) &&
		    !word_excused(manual, number, err))
			return -1;
	for (size_t i = 0; i < opt_count(args, "set"); i++, number++)
		if (params_word(&manual->params, opt_at(args, "set", i), NULL, manual->config, err) &&
		    !word_excused(manual, number, err))
			return -1;
	for (size_t i = 1; i < words; i++, number++)
		if (params_words(&manual->params, opt_word(args, i), manual->problem, manual->config, err) &&
		    !word_excused(manual, number, err))
			return -1;
	return 0;
}

int manual_open(struct manual *manual, struct app *app, const struct opt_args *args, size_t words, struct err *err) {
	*manual = (struct manual){.app = app, .timeout_s = 600, .lenient = manual->lenient};
	long long samples, seed;
	if (opt_int(args, "samples", 1, 10000, 11, &samples, err) || opt_int(args, "seed", 0, INT64_MAX, 1, &seed, err) ||
	    opt_limit(args, "timeout", &manual->timeout_s, err) || kernel_read(manual, args, err))
		return -1;
	struct topo *topo = app_topo(app, err);
	struct worker *worker = app_worker(app, err);
	if (!topo || !worker || !app_gpu(app, err))
		return -1;
	manual->flush_l2 = opt_has(args, "flush-l2");
	manual->samples = (int)samples;
	manual->seed = (uint64_t)seed;
	manual->runner = worker_runner(worker);
	params_init(&manual->params, manual->kernel, topo, false);
	manual->device = app_device(app) ? arena_strdup(manual->params.arena, app_device(app)) : NULL;
	manual->problem = params_problem(&manual->params);
	manual->config = json_object();
	return words_read(manual, args, words, err);
}

void manual_close(struct manual *manual) {
	json_decref(manual->problem);
	json_decref(manual->config);
	if (manual->params.arena)
		params_clear(&manual->params);
}

json_t *manual_config(struct manual *manual, const json_t *problem, const json_t *over, struct err *err) {
	js_auto json_t *merged = json_copy(manual->config);
	if (over)
		json_object_update(merged, (json_t *)over);
	return params_complete(&manual->params, problem, merged, err);
}

struct trial_request manual_request(const struct manual *manual, const json_t *config) {
	return (struct trial_request){
		.kernel = manual->kernel->name,
		.library = manual->kernel->library,
		.device = manual->device,
		.flush_l2 = manual->flush_l2,
		.problem = manual->problem,
		.config = config,
		.seed = manual->seed,
		.samples = manual->samples,
		.warmup = 1,
		.min_sample_s = 1e-3,
		.timeout_s = manual->timeout_s,
	};
}

/* The option --counters of run, compare and sweep. */
enum { SAMPLES = 3 };
static const double SAMPLE_SECONDS = 4e-3, TIMEOUT_FACTOR_OF_SLOW = 30;

/* `all` extends counting to the trials of a search. These commands do not search, so it means `auto` here. */
static void counters_all(struct counters_words *words) {
	if (counters_words_remove(words, "all") && words->count == 0) {
		words->names[words->count++] = "auto";
		words->names[words->count] = NULL;
	}
}

/* Checks the names before the kernel runs. */
static int counters_check(struct manual *manual, const struct counters_words *words, struct err *err) {
	const struct counters_subject subject = {
		.kernel = manual->kernel->name, .library = manual->kernel->library, .device = app_device(manual->app)};
	js_auto json_t *answer =
		words->count ? counters_ask(manual->app, &subject, words->names, &manual->slow, err) : NULL;
	int failed = words->count && !answer ? -1 : 0;
	if (manual->slow)
		counters_slow_warn(manual->app);
	return failed;
}

int manual_counters(struct manual *manual, const struct opt_args *args, struct counters_words *words, struct err *err) {
	if (counters_words_read(args, words, err))
		return -1;
	counters_all(words);
	return counters_check(manual, words, err);
}

int manual_count(struct manual *manual, const struct counters_words *words, const json_t *problem, const json_t *config,
                 struct trial_result *result, struct err *err) {
	struct trial_request request = manual_request(manual, config);
	request.problem = problem;
	request.samples = SAMPLES;
	request.min_sample_s = SAMPLE_SECONDS;
	request.counters = words->names;
	request.slow = manual->slow;
	if (manual->slow)
		request.timeout_s *= TIMEOUT_FACTOR_OF_SLOW;
	return manual->runner.run(manual->runner.ctx, &request, result, err);
}

int manual_store_begin(struct manual_store *kept, struct manual *manual, const struct opt_args *args, struct err *err) {
	kept->manual = manual;
	if (opt_has(args, "no-store"))
		return 0;
	struct store_session session = {.machine = app_machine(manual->app, err),
	                                .fingerprint = app_fingerprint(manual->app, err),
	                                .command = app_command_line(manual->app),
	                                .seed = manual->seed,
	                                .started = sys_wall()};
	if (!session.machine)
		return -1;
	kept->store = store_open(opt_get(args, "store", NULL), STORE_WRITE, err);
	if (!kept->store || store_session_begin(kept->store, &session, err))
		return -1;
	kept->session = session.id;
	return 0;
}

static int search_of(struct manual_store *kept, const json_t *problem, struct err *err) {
	char *text = js_canonical(problem);
	if (kept->search && strcmp(text, kept->problem) == 0) {
		free(text);
		return 0;
	}
	struct store_search search = {.session = kept->session,
	                              .kernel = kept->manual->kernel->name,
	                              .source = kept->manual->kernel->source,
	                              .problem = text,
	                              .objective = "time",
	                              .strategy = kept->strategy,
	                              .seed = kept->manual->seed,
	                              .space_hash = "",
	                              .cartesian = kept->total,
	                              .valid = (uint64_t)kept->total,
	                              .baseline = "{}"};
	if (kept->search && store_search_end(kept->store, kept->search, "done", NULL, err)) {
		free(text);
		return -1;
	}
	free(kept->problem);
	kept->problem = text;
	int failed = store_search_begin(kept->store, &search, err);
	kept->search = search.id;
	return failed;
}

int manual_store_trial(struct manual_store *kept, const char *phase, int block, const json_t *problem,
                       const json_t *config, const struct trial_result *result, struct err *err) {
	if (!kept->store)
		return 0;
	if (search_of(kept, problem, err))
		return -1;
	return trial_store(kept->store, kept->search, phase, block, config, result, err);
}

int manual_store_end(struct manual_store *kept, bool failed, struct err *err) {
	struct err second = {0};
	const char *state = failed ? "interrupted" : "done";
	if (kept->search)
		store_search_end(kept->store, kept->search, state, NULL, &second);
	if (kept->session)
		store_session_end(kept->store, kept->session, state, NAN, &second);
	store_close(kept->store);
	free(kept->problem);
	return err_later(err, failed, &second);
}

json_t *sweep_row_json(const struct manual *manual, const json_t *problem, const json_t *config,
                       const struct trial_result *result) {
	double ci[2];
	stats_median_ci(result->samples, result->sample_count, 0.95, ci);
	json_t *row =
		json_pack("{s:O,s:O,s:s,s:o,s:[o,o],s:s,s:o}", "problem", problem, "config", config, "status",
	              trial_status_word(result->status), "median", js_number(result->value), "ci", js_number(ci[0]),
	              js_number(ci[1]), "unit", "s", "samples", js_reals(result->samples, result->sample_count));
	bool unsafe;
	if (unsafe_holds(manual->kernel->unsafe, problem, config, &unsafe, NULL) == 0)
		json_object_set_new(row, "unsafe", json_boolean(unsafe));
	json_object_update_new(row, json_pack("{s:O*,s:O*,s:O*,s:s*}", "figures", json_object_get(result->reply, "figures"),
	                                      "gpu", json_object_get(result->reply, "gpu"), "work",
	                                      json_object_get(result->reply, "work"), "message",
	                                      *result->message ? result->message : NULL));
	return row;
}
