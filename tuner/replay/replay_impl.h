/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plays a strategy on a recorded space, where every evaluation is looked up. Each configuration counts once, also one
 * that failed; one that breaks a restriction is not part of the space. */
#ifndef TUNER_REPLAY_REPLAY_IMPL_H
#define TUNER_REPLAY_REPLAY_IMPL_H
#include "tuner/record/record.h"
#include "tuner/search/search.h"

struct replay_step {
	uint64_t index;
	double value;    /* as recorded; NAN: failed */
	double measured; /* with the noise */
	double seconds;  /* recorded cost, from the beginning to the end of this evaluation */
	double asking;   /* seconds of our own to propose it and to learn from it; a batch is shared equally */
};

struct replay {
	struct replay_step *steps;
	size_t count;
	double asking; /* seconds spent in the strategy itself */
	struct leader chosen;
	double noise; /* as the repeats have shown it; NAN: there were none */
};

struct replay_task {
	const struct record *record;
	const struct strategy *strategy;
	uint64_t seed;
	const uint64_t *start; /* evaluated first, as the baseline; NULL: no baseline */
	uint64_t evaluations;  /* at most; 0: until the space is used up */
	double seconds;        /* recorded cost at most: an evaluation that would end later is not made; 0: no limit */
	uint64_t expected;     /* evaluations that the strategy may expect; 0: derived from the limits above */
	size_t batch;          /* configurations per request; results are told when all are done; 0: 1 */
	const struct strategy_source *sources; /* results from elsewhere */
	size_t source_count;
	bool counters;                           /* pass the recorded counters to the strategy */
	const struct strategy_outcome *outcomes; /* from replay_outcomes with the same `counters`; NULL: made as needed */
	double noise; /* deviation of the logarithm of a value; the last tenth of the budget then repeats the leaders */
	double until; /* end at a value as good as this; 0: do not */
	/* Called after every evaluation; true ends the replay. May be NULL. */
	bool (*enough)(void *ctx, const struct search *search, const struct replay *replay);
	void *ctx;
};

int replay_run(const struct replay_task *task, struct replay *replay, struct err *err);
void replay_clear(struct replay *replay);
/* The outcomes of all rows, for many repeats. */
const struct strategy_outcome *replay_outcomes(const struct record *record, bool counters, struct arena *arena);
/* The number of evaluations that the task can reach. */
uint64_t replay_most(const struct replay_task *task);

/* Uses a recorded space as earlier results for a similar space. */

/* The rows of `from` that `space` has as well, matched by the names and values of their parameters. A parameter that
 * only `from` has is dropped, and the best of the rows that become equal stays. The result lives in the arena; `name`
 * must outlive it. */
struct strategy_source replay_source(const struct record *from, const struct space *space, const char *name,
                                     struct arena *arena);
#endif
