/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search strategy is one const table in one file, with one line in local.mk. It sees nothing but a space and results:
 * it asks for configurations to be measured and is told the outcomes. The same seed and the same outcomes give the same
 * sequence. */
#ifndef TUNER_SEARCH_STRATEGY_H
#define TUNER_SEARCH_STRATEGY_H

#include "tuner/space/space.h"

enum strategy_result {
	STRATEGY_VALUE,    /* value is the objective: smaller is better, finite, > 0 */
	STRATEGY_CENSORED, /* cut short: the objective is over `value` */
	STRATEGY_FAILURE   /* the configuration does not work and has no value */
};

struct strategy_outcome {
	enum strategy_result result;
	double value;
	double second;          /* of two objectives the other one, > 0; 0: unknown, or there is one */
	double deviation;       /* of the value's logarithm, estimated from the samples; 0: unknown */
	double seconds;         /* cost of the evaluation, compilation included; 0: unknown */
	double build;           /* the part of `seconds` that building took; 0: unknown, or nothing was built */
	bool given_up;          /* a failure only because building was stopped after `build` seconds */
	const double *counters; /* strategy_task.counter_count values, NAN where not counted; NULL: none. The search keeps
	                         * a copy. */
};

/* An earlier search of a similar space: the same kernel at another size or on another machine. Its configurations are
 * given as indexes of this search's space; the caller leaves out those that it does not contain. */
struct strategy_source {
	const char *name; /* for messages */
	size_t count;
	const uint64_t *index;
	const struct strategy_outcome *outcome; /* without counters */
};

/* All outcomes so far, owned by the search. */
struct history;
const struct strategy_outcome *history_find(const struct history *history, uint64_t index); /* NULL: not measured */
bool history_taken(const struct history *history, uint64_t index); /* measured, or being measured */
uint64_t history_count(const struct history *history);             /* measured */
/* The index of the smallest value so far, or UINT64_MAX. */
uint64_t history_best(const struct history *history);

/* Marks the values of each parameter that are measured or on their way, *stride of them apart. The caller frees the
 * marks.
 */
bool *history_values(const struct history *history, const struct space *space, size_t *stride);
bool history_covers(const struct history *history, const struct space *space); /* are all of them? */

/* Visits all outcomes in an arbitrary order, which is the same in every run. */
void history_each(const struct history *history,
                  void (*tell)(void *ctx, uint64_t index, const struct strategy_outcome *outcome), void *ctx);

/* A random valid index that is not taken: uniform by rejection while that is quick, then the next free one after a
 * random index. UINT64_MAX: the space is used up. */
uint64_t history_unseen(const struct history *history, const struct space *space, struct rng *rng);

struct strategy;
struct strategy_task {
	const struct strategy *strategy; /* set by the search */
	const struct space *space;
	const struct history *history;
	struct arena *arena; /* lives as long as the search, for memory that depends on the task */
	uint64_t seed;
	uint64_t start;  /* valid index of the baseline, which the caller measures first; UINT64_MAX: none */
	uint64_t budget; /* evaluations to expect; 0: unknown */
	bool two;        /* objectives, of which the search wants the Pareto front */
	double seconds;  /* time budget for all evaluations; 0: the budget is a number of evaluations */
	/* Everything below may be zero. */
	size_t builders;                       /* configurations that are built at the same time */
	const struct strategy_source *sources; /* in any order; they outlive the search */
	size_t source_count;
	const uint64_t *hints; /* configurations that suit the machine, the most promising first */
	size_t hint_count;
	size_t counter_count;
	/* Will it probably fail? For strategies that another one asks and informs; NULL: nobody knows. */
	bool (*doubts)(const void *model, uint64_t index);
	const void *model;
	const double *lengths; /* expected of the model's dimensions, by models of earlier searches; NULL: unknown */
	size_t length_count;
};

struct strategy {
	const char *name, *summary;
	size_t state_size; /* the search allocates it, set to zero */
	int (*init)(void *state, const struct strategy_task *task, struct err *err);
	/* Proposes up to `want` (>= 1) distinct valid indexes that are neither in the history nor pending, in the order in
	 * which they should be measured. 0: the strategy waits for results. If none are pending, it has run out of ideas,
	 * and the search continues at random before it asks again. */
	size_t (*ask)(void *state, uint64_t *out, size_t want);
	/* Also reports configurations that the strategy did not ask for (the baseline, earlier results). */
	void (*tell)(void *state, uint64_t index, const struct strategy_outcome *outcome);
	/* Sorts pending configurations by their expected usefulness after the latest results, the most useful first, and
	 * returns how many are still worth measuring. NULL: the order stays, and all of them are. */
	size_t (*rank)(void *state, uint64_t *pending, size_t count);
	/* A configuration that was asked for will not be measured, and may be asked for again. NULL: nothing to forget. */
	void (*withdraw)(void *state, uint64_t index);
	/* Describes in one line what the strategy is doing, and why; may be NULL, and may return NULL. */
	const char *(*phase)(const void *state);
	/* The expected improvement of the best in `left` more evaluations: 0.01 is 1 %. NULL: the strategy cannot estimate
	 * it. */
	double (*promise)(const void *state, uint64_t left);
	/* The prediction of a measured configuration by all other results: mean and variance of the logarithm that another
	 * measurement would have. False: nothing. May be NULL. */
	bool (*expects)(void *state, uint64_t index, double *mean, double *variance);
	const char *(*fault)(const void *state); /* why it cannot go on; NULL: it can */
};

extern const struct strategy *const strategy_registry[]; /* ends with NULL */
const struct strategy *strategy_find(const char *name);

/* A strategy of the user's own (lib/strategy.h): a shared object, or a program. strategy_free takes any strategy. */
bool strategy_is_own(const char *name); /* it is a path */
const struct strategy *strategy_own(const char *path, struct err *err);
void strategy_free(const struct strategy *strategy);
#endif
