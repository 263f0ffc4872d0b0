/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The comparisons by hand: run, compare and sweep name configurations as words P=V. */
#ifndef SRC_CMD_RUN_MANUAL_H
#define SRC_CMD_RUN_MANUAL_H
#include <jansson.h>

#include "src/app/cmd.h"
#include "src/show/counters_words.h"
#include "src/plan/params.h"
#include "tuner/trial/trial.h"

struct byhand {
	struct app *app;
	const struct kernel_desc *kernel;
	struct params params;
	json_t *problem, *config; /* as given in words; config is not completed */
	struct runner runner;
	double timeout_s;
	int samples;
	bool flush_l2, slow; /* slow: what is to be counted takes a simulator */
	uint64_t seed;
};

extern const struct opt byhand_options[]; /* --size --set --samples --timeout --seed */

/* Kernel from word 0; P=V from the words 1 .. words-1, --size and --set. Call byhand_close in any case. */
int byhand_open(struct byhand *hand, struct app *app, const struct opt_args *args, size_t words, struct err *err);
void byhand_close(struct byhand *hand);
/* hand->config with the members of `over` (may be NULL), and the baseline's for the rest. New reference. */
json_t *byhand_config(struct byhand *hand, const json_t *over, struct err *err);
/* src/cmd/run/manual_counters.c: the words of --counters, each of them known. Call counters_words_free in any case. */
int byhand_counters(struct byhand *hand, const struct opt_args *args, struct counters_words *words, struct err *err);
/* A trial that only counts: its times are not to be used. As runner.run. */
int byhand_count(struct byhand *hand, const struct counters_words *words, const json_t *problem, const json_t *config,
                 struct trial_result *result, struct err *err);
struct trial_request byhand_request(const struct byhand *hand, const json_t *config);

#endif
