/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks a worker what it would count, without running anything. */
#ifndef TUNER_WORKER_COUNTERS_H
#define TUNER_WORKER_COUNTERS_H
#include "tuner/worker/worker.h"

/* What for. */
struct counters_subject {
	const char *kernel, *library; /* kernel NULL: none, only what any thread can be asked for */
	const char *device;           /* that the kernel is for; NULL: the CPU */
	bool program;                 /* a program as a whole */
};

/* {"events":[{"name","source": null where nothing here counts it,"reason","rerun",..}],"metrics":[..]}, a new
 * reference. NULL: a word is not known (ERR_USAGE, with the nearest), or the worker does not answer. */
json_t *worker_counters(struct worker *worker, const struct counters_subject *subject, const char *const *asked,
                        struct err *err);
/* Hardware metrics of a GPU's chip (NULL: that of the GPU here) whose names begin with the prefix:
 * {"chip","metrics":[..]}, a new reference. ERR_UNAVAILABLE: no CUPTI, or no chip is named and none here. */
json_t *worker_metrics(struct worker *worker, const char *chip, const char *prefix, struct err *err);
/* How many of its events can be counted; *slow: one of them under a simulator. */
size_t worker_counters_usable(const json_t *answer, bool *slow);

#endif
