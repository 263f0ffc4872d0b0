/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands run, compare and sweep, with which the user measures chosen configurations, given as words P=V. */
#ifndef SRC_CMD_RUN_RUN_MANUAL_IMPL_H
#define SRC_CMD_RUN_RUN_MANUAL_IMPL_H

#include "src/app/cmd.h"
#include "src/show/counters_words.h"
#include "src/plan/params.h"

struct manual {
	struct app *app;
	const struct kernel_desc *kernel;
	struct params params;
	json_t *problem, *config; /* from the words; config is not complete */
	struct runner runner;
	double timeout_s;
	int samples;
	bool flush_l2, slow; /* slow: counting needs a simulator */
	uint64_t seed;
	const char *device;  /* as app_device; belongs to params */
	struct err *lenient; /* set before manual_open: a word that the kernel does not know goes here */
	uint64_t refused;    /* and sets its bit here; NULL: it is an error */
};

extern const struct opt manual_what_options[]; /* --size --set; tables of the same group may follow */
extern const struct opt manual_options[];      /* --samples --timeout --flush-l2 --seed */

/* Sets all members but lenient, which the caller has set or cleared. Reads the kernel from word 0, and P=V from the
 * words 1 .. words-1, --size and --set. Call manual_close even after a failure. */
int manual_open(struct manual *manual, struct app *app, const struct opt_args *args, size_t words, struct err *err);
void manual_close(struct manual *manual);
/* Completes the configuration: members of `over` (may be NULL), then of manual->config, then of the baseline. New
 * reference. */
json_t *manual_config(struct manual *manual, const json_t *over, struct err *err);
/* The same on another problem. */
json_t *manual_config_of(struct manual *manual, const json_t *problem, const json_t *over, struct err *err);
/* The same kernel on the CPU, on that problem as far as it has the same parts. False if there is none, or if it lacks
 * one of the problem's values; otherwise close it. */
bool manual_host(struct manual *host, const struct manual *manual, const json_t *problem);
/* Reads and checks the names of --counters (src/cmd/run/manual_counters.c). Call counters_words_free even after a
 * failure. */
int manual_counters(struct manual *manual, const struct opt_args *args, struct counters_words *words, struct err *err);
/* Runs a trial that only counts; its times are not valid, because counting may slow it down. Otherwise as runner.run.
 */
int manual_count(struct manual *manual, const struct counters_words *words, const json_t *problem, const json_t *config,
                 struct trial_result *result, struct err *err);
struct trial_request manual_request(const struct manual *manual, const json_t *config);
#endif
