/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The comparisons by hand: run, compare and sweep name configurations as words P=V. */
#ifndef SRC_CMD_RUN_MANUAL_H
#define SRC_CMD_RUN_MANUAL_H
#include <jansson.h>

#include "src/app/cmd.h"
#include "src/show/counters_words.h"
#include "src/plan/params.h"
#include "tuner/trial/trial.h"

struct manual {
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

extern const struct opt manual_what_options[]; /* --size --set; tables of the same group may follow */
extern const struct opt manual_options[];      /* --samples --timeout --flush-l2 --seed */

/* Kernel from word 0; P=V from the words 1 .. words-1, --size and --set. Call manual_close in any case. */
int manual_open(struct manual *hand, struct app *app, const struct opt_args *args, size_t words, struct err *err);
void manual_close(struct manual *hand);
/* hand->config with the members of `over` (may be NULL), and the baseline's for the rest. New reference. */
json_t *manual_config(struct manual *hand, const json_t *over, struct err *err);
/* src/cmd/run/manual_counters.c: the words of --counters, each of them known. Call counters_words_free in any case. */
int manual_counters(struct manual *hand, const struct opt_args *args, struct counters_words *words, struct err *err);
/* A trial that only counts: its times are not to be used. As runner.run. */
int manual_count(struct manual *hand, const struct counters_words *words, const json_t *problem, const json_t *config,
                 struct trial_result *result, struct err *err);
struct trial_request manual_request(const struct manual *hand, const json_t *config);

#endif
