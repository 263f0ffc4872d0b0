/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One question to a worker and its answer, for every runner that uses one. */
#pragma once
#include "tuner/worker/worker.h"

struct worker_question {
	json_t *request;     /* borrowed; its id is set here */
	const char *library; /* the plug-in that it needs; NULL: none */
	double timeout_s;    /* for the answer; 0: no limit */
	double grace_s;      /* time that a worker which must stop gets to end its own children */
	/* Fills the result from an answer without "error"; returns -1 with err if the answer makes no sense. */
	int (*use)(void *ctx, const json_t *answer, struct trial_result *result, struct err *err);
	void *ctx;
};

/* Returns 0 with the result filled in, also if the worker died, hung or lied; -1 if nothing can be run, the request was
 * refused (ERR_USAGE), or interrupted. */
int worker_exchange(struct worker *worker, const struct worker_question *question, struct trial_result *result,
                    struct err *err);

/* Read parts of an answer: status and message; the array `key` as samples, with the least of them. */
int worker_status_read(const json_t *answer, struct trial_result *result, struct err *err);
int worker_samples_read(const json_t *answer, const char *key, struct trial_result *result, struct err *err);
/* Replaces seconds by joules per run, or by their product. */
int worker_energies_read(const json_t *answer, enum trial_objective objective, struct trial_result *result,
                         struct err *err);
