/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A strategy played on a recorded space: every evaluation is looked up. Unique configurations count, failed ones
 * too; one that breaks a restriction is no configuration of the space. */
#ifndef TUNER_REPLAY_REPLAY_H
#define TUNER_REPLAY_REPLAY_H
#include "tuner/record/record.h"
#include "tuner/search/search.h"

struct replay_step {
	uint64_t index;
	double value;   /* NAN: failed */
	double seconds; /* recorded cost, from the beginning to the end of this evaluation */
	double asking;  /* seconds of our own: proposing it and learning from it, a batch's in equal parts */
};

struct replay {
	struct replay_step *steps;
	size_t count;
	double asking; /* seconds of our own spent in the strategy */
};

struct replay_task {
	const struct record *record;
	const struct strategy *strategy;
	uint64_t seed;
	const uint64_t *start; /* evaluated first, told as the baseline; NULL: none */
	uint64_t evaluations;  /* at most; 0: until the space is used up */
	double seconds;        /* of recorded cost, at most: an evaluation that would end later is not made; 0: no limit */
	uint64_t expected;     /* evaluations that the strategy is told of; 0: by the limits above */
	size_t batch;          /* asked for at a time, told when all are done; 0: 1 */
	const struct strategy_source *sources; /* what was measured elsewhere */
	size_t source_count;
	bool counters;                           /* tell the strategy of the recorded ones */
	const struct strategy_outcome *outcomes; /* of replay_outcomes with the same `counters`; NULL: made as needed */
	double until;                            /* end at a value as good as this; 0: don't */
	/* Asked after every evaluation; true: enough. NULL: never. */
	bool (*enough)(void *ctx, const struct search *search, const struct replay *replay);
	void *ctx;
};

int replay_run(const struct replay_task *task, struct replay *replay, struct err *err);
void replay_clear(struct replay *replay);
/* The report of a row to a strategy; counters point into it. */
struct strategy_outcome replay_outcome(const struct record_row *row, bool counters);
/* The same of all rows, for many repeats. */
const struct strategy_outcome *replay_outcomes(const struct record *record, bool counters, struct arena *arena);
/* Evaluations that the task may come to at most. */
uint64_t replay_most(const struct replay_task *task);

#endif
