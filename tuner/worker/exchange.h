/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One question to a worker and its answer, for every runner that goes through it. */
#ifndef TUNER_WORKER_EXCHANGE_H
#define TUNER_WORKER_EXCHANGE_H
#include "tuner/worker/worker.h"

struct worker_question {
	json_t *request;     /* borrowed; gets its id */
	const char *library; /* plug-in that it needs; NULL: none */
	double timeout_s;    /* for the answer; 0: none */
	double grace_s;      /* what a worker that has to stop gets to stop what it runs */
	/* Fills the result from an answer that is no error; -1 and err where it makes no sense. */
	int (*use)(void *ctx, const json_t *answer, struct trial_result *result, struct err *err);
	void *ctx;
};

/* 0: result is filled, a worker that died, hung or lied included. -1: nothing can be run, the request was refused
 * (ERR_USAGE), or interrupted. */
int worker_exchange(struct worker *worker, const struct worker_question *question, struct trial_result *result,
                    struct err *err);

/* "counters", where there are any. */
void worker_counters_set(json_t *request, const char *const *names);

/* Parts of an answer: status and message; the array under `key` as samples and their least. */
int worker_status_read(const json_t *answer, struct trial_result *result, struct err *err);
int worker_samples_read(const json_t *answer, const char *key, struct trial_result *result, struct err *err);

#endif
