/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/run/run_impl.h"

#include "base/json/js.h"

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
	const char *timeout = opt_get(args, "timeout", NULL);
	long long samples, seed;
	if (opt_int(args, "samples", 1, 10000, 11, &samples, err) || opt_int(args, "seed", 0, INT64_MAX, 1, &seed, err) ||
	    (timeout && opt_limit(timeout, "timeout", &manual->timeout_s, err)) || kernel_read(manual, args, err))
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

json_t *manual_config_of(struct manual *manual, const json_t *problem, const json_t *over, struct err *err) {
	js_auto json_t *merged = json_copy(manual->config);
	if (over)
		json_object_update(merged, (json_t *)over);
	return params_complete(&manual->params, problem, merged, err);
}

json_t *manual_config(struct manual *manual, const json_t *over, struct err *err) {
	return manual_config_of(manual, manual->problem, over, err);
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
