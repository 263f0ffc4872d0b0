/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory holds all that was measured. */
#ifndef TUNER_TUNE_MEMORY_IMPL_H
#define TUNER_TUNE_MEMORY_IMPL_H
#include "tuner/tune/recall_impl.h"
#include "tuner/tune/sources_impl.h"

struct tune;

struct tune_probe {
	int steady;         /* probes in a row that found the best unchanged */
	double at, seconds; /* when the best was last measured again, and how long that took */
};

struct tune_memory {
	int64_t id;                   /* of the search in the store */
	struct trial_result baseline; /* of the first phase */
	struct measured *worked;
	size_t worked_count;
	double best;         /* of the successful ones, as reported to the strategy; NAN: none yet */
	uint64_t best_index; /* UINT64_MAX: none in the space */
	uint64_t best_at;    /* the evaluations when it was found */
	uint64_t cut_index;  /* of the last trial that took too long to end; UINT64_MAX: none */
	struct tune_probe probe;
	struct recall *recall; /* trials of an interrupted run */
	bool is_new;           /* something was measured that could not be replayed */
	struct tune_sources *sources;
};

struct tune_tally {
	uint64_t evaluations;
	uint64_t failures[TRIAL_STATUS_COUNT];
	json_t *failed;        /* [{"status", "config", "message", "phase"}]: the first failure of each kind in the
	                        * search, without a phase, and all configurations that failed later */
	uint64_t incomparable; /* configurations with a metric of 0 or below */
};

enum merge { MERGE_FIRST, MERGE_BEST, MERGE_MEAN };

/* session_memory.c */

/* Only merges, also into *deviation. Returns false if `one` is a failure after a success, which changes nothing. A
 * wrong result is no such failure: it takes the place of what worked. */
bool tune_merge(double *deviation, struct trial_result *sum, struct trial_result *one, enum merge merge);
/* Reports the outcome to the strategy, with deviation, seconds and counters of the current evaluation. */
void tune_outcome_report(struct tune *tune, uint64_t index, const struct trial_result *result);
/* Keeps a configuration that worked, or was cut short, for the finals. */
void tune_remember(struct tune *tune, uint64_t index, const struct trial_result *result);
/* Finds the best of those kept. */
void tune_best_find(struct tune *tune);
/* Takes the names of the counters from a trial. */
void tune_counters_name(struct tune *tune, const struct trial_result *result);
/* Notes how many runs of a trial were checked. */
void tune_checked_note(struct tune *tune, const json_t *config, const struct trial_result *result);
uint64_t tune_checked_runs(const struct tune *tune, const json_t *config);
/* Is a kernel verified so quickly that each trial of the finals can do it again? */
bool tune_verifies_again(const struct tune *tune);
/* Counts and names what a configuration does wrong after it worked in the search. A wrong result makes it fall. */
void tune_failure_note(struct tune *tune, const char *phase, const json_t *config, const struct trial_result *result);
/* Makes what was measured of this configuration count for nothing. */
void tune_forget(struct tune *tune, uint64_t index);
/* The configuration failed for good: it is out of the search's results. */
void tune_fall(struct tune *tune, const json_t *config);
bool tune_has_fallen(const struct tune *tune, const json_t *config);
/* Makes those fall that an interrupted run of a resumed search found wrong. */
int tune_earlier_failures(struct tune *tune, struct err *err);
/* Records both objectives of a trial, if there are two. */
void tune_pareto_record(struct tune *tune, const json_t *config, const struct trial_result *result);
#endif
