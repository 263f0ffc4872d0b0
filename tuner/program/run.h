/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One "program" request to the worker: its deadline and its answer, which is not believed. */
#ifndef TUNER_PROGRAM_RUN_H
#define TUNER_PROGRAM_RUN_H
#include "tuner/program/impl.h"

struct program_run {
	json_t *request;
	int runs;                    /* samples and warm-up */
	double limit_s;              /* 0: none was sent */
	bool metric, maximize, hash; /* what was asked for */
	bool counters, slow;         /* counted, and some of it simulated */
};

int program_run(const struct program *program, const struct program_run *run, struct trial_result *result,
                struct err *err);
/* Are the reply's `counters` and `counting` what they should be? -1 and err where not. */
int program_counters_check(const json_t *reply, struct err *err);
/* The hash in a reply that program_run has accepted; NULL: none. */
const char *program_run_hash(const json_t *reply);
/* Its resources: numbers or null; new reference or NULL. */
json_t *program_run_usage(const json_t *reply);

#endif
