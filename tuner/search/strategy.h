/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search strategy: one const table, one file, one line in local.mk. It sees a space and results, nothing else: it
 * asks for configurations to be measured and is told what came out. It is deterministic by seed. */
#ifndef TUNER_SEARCH_STRATEGY_H
#define TUNER_SEARCH_STRATEGY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "tuner/space/space.h"

enum strategy_result {
	STRATEGY_VALUE,    /* value is the objective: smaller is better, finite, > 0 */
	STRATEGY_CENSORED, /* cut short: the objective is over `value` */
	STRATEGY_FAILURE   /* it does not work; no value */
};

struct strategy_outcome {
	enum strategy_result result;
	double value;
	double deviation;       /* of the value's logarithm, by its samples; 0: not known */
	double seconds;         /* that the evaluation took, compiling and all; 0: not known */
	const double *counters; /* strategy_task.counter_count values, NAN where not counted; NULL: none. The search keeps
	                         * a copy. */
};

/* What was measured before in a like space: the same kernel at another size, or on another machine. Configurations are
 * places in this search's space; one that the space doesn't have is left out by whoever makes the source. */
struct strategy_source {
	const char *name; /* for people */
	size_t count;
	const uint64_t *index;
	const struct strategy_outcome *outcome; /* without counters */
};

/* All outcomes so far, owned by the search. */
struct history;
const struct strategy_outcome *history_find(const struct history *history, uint64_t index); /* NULL: not measured */
bool history_taken(const struct history *history, uint64_t index); /* measured, or asked for and on its way */
uint64_t history_count(const struct history *history);             /* measured */
/* The best index so far, or UINT64_MAX. */
uint64_t history_best(const struct history *history);

/* Tells all outcomes, in no order that means anything but always the same. */
void history_each(const struct history *history,
                  void (*tell)(void *ctx, uint64_t index, const struct strategy_outcome *outcome), void *ctx);

/* A valid index not taken, uniform by rejection while that is quick, else the next one after a random place.
 * UINT64_MAX: the space is used up. */
uint64_t history_unseen(const struct history *history, const struct space *space, struct rng *rng);

struct strategy_task {
	const struct space *space;
	const struct history *history;
	struct arena *arena; /* lives as long as the search: for what state_size can't foresee */
	uint64_t seed;
	uint64_t start;  /* the baseline, a valid index, measured first by the caller; UINT64_MAX: none */
	uint64_t budget; /* evaluations to expect; 0: unknown */
	double seconds;  /* that they may take in all, where that is the budget; 0: evaluations are counted */
	/* All below may be zero. */
	const struct strategy_source *sources; /* the most like first; they outlive the search */
	size_t source_count;
	const uint64_t *hints; /* configurations that the machine suggests, the most sensible first */
	size_t hint_count;
	size_t counter_count;
};

struct strategy {
	const char *name, *summary;
	size_t state_size; /* the search allocates it, zeroed */
	int (*init)(void *state, const struct strategy_task *task, struct err *err);
	/* Up to `want` (>= 1) valid indexes, none in the history, no twins, none asked for before. 0: it waits for what
	 * it has asked for or, if nothing is on its way, has no more: the search then goes on at random, and asks again. */
	size_t (*ask)(void *state, uint64_t *out, size_t want);
	/* Also told of configurations it did not ask for (the baseline, earlier results). */
	void (*tell)(void *state, uint64_t index, const struct strategy_outcome *outcome);
	/* One line: what it is doing now and why; NULL or returns NULL: nothing to say. */
	const char *(*phase)(const void *state);
	/* By how much the best is expected to get better in `left` more evaluations: 0.01 is 1 %. NULL: can't tell. */
	double (*promise)(const void *state, uint64_t left);
};

extern const struct strategy *const strategy_registry[]; /* ends with NULL */
const struct strategy *strategy_find(const char *name);

#endif
