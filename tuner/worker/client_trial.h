/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks a worker what it could count, without running anything. */
#ifndef TUNER_WORKER_CLIENT_TRIAL_H
#define TUNER_WORKER_CLIENT_TRIAL_H
#include "tuner/worker/worker.h"

/* The kernel or program that would be counted. */
struct counters_subject {
	const char *kernel, *library; /* kernel NULL: only events that any thread can count */
	const char *device;           /* that it runs on; NULL: the CPU */
	bool program;                 /* count a whole program */
};

/* Returns {"events":[{"name","source","reason","rerun",..}],"metrics":[..]}, a new reference; "source" is null if
 * nothing on this machine counts the event. NULL: a word is unknown (ERR_USAGE, with the nearest one), or the worker
 * does not answer. */
json_t *worker_counters(struct worker *worker, const struct counters_subject *subject, const char *const *asked,
                        struct err *err);
/* `which`: {"chip"?,"prefix"} for the hardware metrics of a GPU chip (absent: the chip of this machine) whose names
 * begin with the prefix: {"chip","metrics":[..]}; {"cpu","papi"?,"prefix"} for the plan of a processor that is not
 * here: {"cpu","pmus","groups"} (counters/plan/plan.h). A new reference. ERR_UNAVAILABLE: CUPTI is missing, or no chip
 * was named and there is no GPU. */
json_t *worker_metrics(struct worker *worker, const json_t *which, struct err *err);
/* Counts each portable event over a loop of known work: {"rows":[..]} (counters_prove in worker/count/counting.h), a
 * new reference; NULL if the worker does not answer. */
json_t *worker_prove(struct worker *worker, struct err *err);
/* The number of events that can be counted; *slow: one of them needs a simulator. */
size_t worker_counters_usable(const json_t *answer, bool *slow);
#endif
