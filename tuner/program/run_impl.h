/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One "program" request to the worker, with its deadline and its answer. The answer is checked, because a program can
 * make its worker lie. */
#ifndef TUNER_PROGRAM_RUN_IMPL_H
#define TUNER_PROGRAM_RUN_IMPL_H
#include "tuner/program/impl.h"

struct program_run {
	json_t *request;
	int runs;                    /* samples and warm-up runs */
	double limit_s;              /* 0: none was sent */
	bool metric, maximize, hash; /* requested */
	enum trial_objective objective;
	bool watch;          /* its work on GPUs is reported */
	bool counters, slow; /* counts events, and simulates some */
};

int program_run(struct worker *worker, const struct program_run *run, struct trial_result *result, struct err *err);
/* The hash in a reply that program_run has accepted; NULL: none. */
const char *program_run_hash(const json_t *reply);
/* The resource usage in a reply: numbers or null; new reference or NULL. */
json_t *program_run_usage(const json_t *reply);
#endif
