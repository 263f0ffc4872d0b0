/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counters of a trial, in the form that `run --json` and `tune --json` print. */
#ifndef TUNER_TRIAL_COUNTERS_H
#define TUNER_TRIAL_COUNTERS_H
#include "tuner/trial/trial.h"

/* The counters that were requested. */
struct trial_counters {
	const char *const *asked; /* groups, events, sources; NULL: nothing is counted */
	bool every;               /* count in the trials of the search as well */
	bool optional;            /* a default, not a request: unknown values are left out */
	bool slow;                /* some of them need a simulator */
};

/* Adds "counters", "metrics", "counting" and, where the reply has them, "simulation" and "regions". Whatever the worker
 * sent, each row then has a name and a status, and its value is a number, or null with a reason. Adds nothing if
 * nothing was requested. */
void trial_counters_add(json_t *to, const struct trial_result *result);
/* The number of rows that have a value. */
size_t trial_counters_known(const json_t *rows);
/* "MEM, rusage"; caller frees. */
char *trial_counters_words(const char *const *asked);

#endif
