/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/run/manual.h"

#include <stdlib.h>
#include <string.h>

const struct opt manual_what_options[] = {
	OPT_GROUP("What to measure"),
	{"size", 's', "K=V,..", "problem size, for example n=2048", OPT_REPEAT},
	{"set", 0, "P=V", "value of a parameter; the same as the word P=V", OPT_REPEAT},
	{0},
};

const struct opt manual_options[] = {
	OPT_GROUP("Measuring"),
	{"samples", 'n', "N", "timed samples of each configuration (11)", 0},
	{"timeout", 0, "SECONDS", "longest trial (600)", 0},
	{"flush-l2", 0, NULL, "empty the GPU's L2 cache before each run", 0},
	{"seed", 0, "N", "random seed of the input and the comparisons (1)", 0},
	{0},
};

static int kernel_read(struct manual *hand, const struct opt_args *args, struct err *err) {
	if (opt_words(args) == 0)
		return err_set(err, ERR_USAGE, "`sweetspot list kernels` shows them", "no kernel is named");
	hand->kernel = app_kernel(hand->app, opt_word(args, 0), err);
	return hand->kernel ? 0 : -1;
}

static int words_read(struct manual *hand, const struct opt_args *args, size_t words, struct err *err) {
	for (size_t i = 0; i < opt_count(args, "size"); i++)
		if (params_words(&hand->params, opt_at(args, "size", i), hand->problem, NULL, err))
			return -1;
	for (size_t i = 0; i < opt_count(args, "set"); i++)
		if (params_word(&hand->params, opt_at(args, "set", i), NULL, hand->config, err))
			return -1;
	for (size_t i = 1; i < words; i++)
		if (params_words(&hand->params, opt_word(args, i), hand->problem, hand->config, err))
			return -1;
	return 0;
}

int manual_open(struct manual *hand, struct app *app, const struct opt_args *args, size_t words, struct err *err) {
	*hand = (struct manual){.app = app, .timeout_s = 600};
	const char *timeout = opt_get(args, "timeout", NULL);
	long long samples, seed;
	if (opt_int(args, "samples", 1, 10000, 11, &samples, err) || opt_int(args, "seed", 0, INT64_MAX, 1, &seed, err) ||
	    (timeout && opt_seconds(timeout, "timeout", &hand->timeout_s, err)) || kernel_read(hand, args, err))
		return -1;
	struct topo *topo = app_topo(app, err);
	struct worker *worker = app_worker(app, err);
	if (!topo || !worker || !app_gpu(app, err))
		return -1;
	hand->flush_l2 = opt_has(args, "flush-l2");
	hand->samples = (int)samples;
	hand->seed = (uint64_t)seed;
	hand->runner = worker_runner(worker);
	params_init(&hand->params, hand->kernel, topo, false);
	hand->problem = params_problem(&hand->params);
	hand->config = json_object();
	return words_read(hand, args, words, err);
}

void manual_close(struct manual *hand) {
	json_decref(hand->problem);
	json_decref(hand->config);
	if (hand->params.arena)
		params_clear(&hand->params);
}

json_t *manual_config(struct manual *hand, const json_t *over, struct err *err) {
	json_t *merged = json_copy(hand->config);
	if (over)
		json_object_update(merged, (json_t *)over);
	json_t *full = params_complete(&hand->params, hand->problem, merged, err);
	json_decref(merged);
	return full;
}

struct trial_request manual_request(const struct manual *hand, const json_t *config) {
	return (struct trial_request){
		.kernel = hand->kernel->name,
		.library = hand->kernel->library,
		.device = app_device(hand->app),
		.flush_l2 = hand->flush_l2,
		.problem = hand->problem,
		.config = config,
		.seed = hand->seed,
		.samples = hand->samples,
		.warmup = 1,
		.min_sample_s = 1e-3,
		.timeout_s = hand->timeout_s,
	};
}
