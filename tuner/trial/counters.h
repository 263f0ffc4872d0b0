/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a trial counted, as `run --json` and `tune --json` show it. */
#ifndef TUNER_TRIAL_COUNTERS_H
#define TUNER_TRIAL_COUNTERS_H
#include "tuner/trial/trial.h"

/* What was asked for. */
struct trial_counters {
	const char *const *asked; /* groups, events, sources; NULL: nothing is counted */
	bool every;               /* in the trials of a search, too */
	bool optional;            /* nobody asked for them: what is not known is left out */
	bool slow;                /* some are counted under a simulator */
};

/* Adds "counters", "metrics", "counting" and, where there are, "simulation" and "regions". Whatever the worker said,
 * each row has a name and a status, and a value that is null where nothing was counted, with a reason. Nothing is added
 * where nothing was asked for. */
void trial_counters_add(json_t *to, const struct trial_result *result);
/* How many of these rows have a value. */
size_t trial_counters_known(const json_t *rows);
/* "MEM, rusage"; caller frees. */
char *trial_counters_words(const char *const *asked);

#endif
