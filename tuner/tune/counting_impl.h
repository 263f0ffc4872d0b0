/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counters: during the search, beside the finals, and after them. */
#ifndef TUNER_TUNE_COUNTING_IMPL_H
#define TUNER_TUNE_COUNTING_IMPL_H
#include "tuner/race/race.h"

struct tune;

struct tune_counting {
	json_t *names;          /* of the counters of a trial; an array */
	json_t *counted;        /* configuration text -> result of trial_counters_add */
	json_t *uncounted;      /* [{"config","reason"}] */
	double seconds;         /* spent counting */
	bool ahead;             /* a configuration was counted during the search */
	double one_seconds;     /* that this took */
	double kept;            /* seconds of the budget that are kept for counting another one */
	struct counting *nodes; /* on nodes; NULL: not started */
};

/* counters_phase.c */

/* Were counters requested? */
bool counting_asked(const struct tune *tune);
/* Gives time that is kept for counting to a proof that lacks it. */
void tune_counters_yield(struct tune *tune);
/* Requested counters of a search with a promised budget: counts the best so far when half of the time is used. */
int tune_counters_ahead(struct tune *tune, struct err *err);
/* After the finals: counts the baseline, the winner and the other finalists, as far as there is time. */
int tune_counters_phase(struct tune *tune, struct err *err);
/* Nodes for which the race (of these entries) and the duel have no work start counting early. The remaining functions
 * serve the code that runs their blocks: does a configuration wait for a node; start it; was this block a counting
 * block, which is then recorded and freed; wait for all of them and keep their counters. */
void tune_counting_early(struct tune *tune, const struct race_entry *entries, size_t count);
bool tune_counting_waits(const struct tune *tune);
int tune_counting_fill(struct tune *tune, struct err *err);
bool tune_counting_record(struct tune *tune, struct block *block, int *rc, struct err *err);
void tune_counting_end(struct tune *tune);
void tune_counting_free(struct counting *counting);
#endif
