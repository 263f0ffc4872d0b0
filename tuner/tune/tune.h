/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole procedure for one kernel on one problem: baseline, search, race of finalists, final duel, recommendation,
 * counters. Every trial goes to the store as it ends. The measurement protocol is in doc/measurement.md. */
#ifndef TUNER_TUNE_TUNE_H
#define TUNER_TUNE_TUNE_H
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/base/err.h"
#include "tuner/fleet/pool.h"
#include "tuner/space/space.h"
#include "tuner/store/store.h"
#include "tuner/search/strategy.h"
#include "tuner/trial/counters.h"

struct tune_budget {
	double seconds;       /* 0: not limited */
	double node_seconds;  /* of all nodes together; 0: not limited. Not with seconds */
	uint64_t evaluations; /* 0: not limited */
	bool may_grow;        /* nobody asked for these seconds: a long program gets more */
};

void tune_budget_alone(struct tune_budget *budget); /* where one machine measures, node-seconds are seconds */

struct tune_task {
	const char *kernel, *source;    /* its name and source hash */
	const char *library;            /* plug-in that it is in; NULL: built in */
	const char *device;             /* "cuda:0"; NULL: the CPU */
	const char *device_name;        /* of the GPU; NULL: not known, or the CPU */
	bool flush_l2;                  /* of it, before each run */
	enum trial_objective objective; /* of the search, the race and the duel */
	enum trial_objective second;    /* where `pareto`: what else should be small */
	bool pareto;                    /* the result tells the front of both */
	const json_t *problem;
	const struct space *space;
	const json_t *baseline; /* configuration; may lie outside the space */
	uint64_t start;         /* the baseline's index, UINT64_MAX outside */
	const char *unsafe;     /* expression: never recommended where it holds; may be NULL */
	const struct strategy *strategy;
	uint64_t seed;
	struct tune_budget budget;
	struct trial_counters counters;
	double timeout_s; /* of one trial; 0: a multiple of the baseline's time */
	/* A trial is runs of a whole program: nothing is batched, a long one is run once, and the budget binds the final
	 * comparison, too. */
	bool whole_programs;
	const char *metric; /* the objective, where it isn't time: a number that the program prints; NULL: seconds */
	bool maximize;      /* the runner gives 1/rate: shown are rates */
	/* Adds to the result before it is stored; may be NULL. */
	void (*annotate)(void *ctx, json_t *result);
	void *annotate_ctx;
	struct runner *runner; /* not used where there is a pool */
	struct pool *pool;     /* nodes that measure at the same time; NULL: the runner does, one trial after the other */
	struct store *store;
	int64_t session;
	const char *fingerprint; /* of this machine */
	bool transfer;           /* what the store knows of the kernel is told to the strategy */
	const uint64_t *hints;   /* configurations that the machine suggests */
	size_t hint_count;
	bool complete;                 /* cut no trial short */
	double stop_gain;              /* stop searching when less than this is to be expected: 0.01 is 1 %; 0: never */
	int64_t resume;                /* an unfinished search of the store to go on with; 0: begin one */
	const char *command;           /* how to reproduce it */
	const volatile int *interrupt; /* finish the trial and stop; may be NULL */
};

enum tune_phase { TUNE_BASELINE, TUNE_SEARCH, TUNE_RACE, TUNE_DUEL, TUNE_COUNTERS };
const char *tune_phase_word(enum tune_phase phase);

struct tune_progress {
	enum tune_phase phase;
	const char *kernel;
	uint64_t evaluations, limit; /* limit: as far as known, else 0 */
	uint64_t failures;
	double best, baseline; /* as people know them: seconds, or the metric; NAN: none */
	bool is_metric;
	double gain;            /* above 1: better than the baseline; NAN: not known */
	double elapsed, budget; /* seconds; budget 0: counted in evaluations */
	const char *note;       /* what the strategy says it does; may be NULL */
};

struct tune_observer {
	void *ctx;
	void (*progress)(void *ctx, const struct tune_progress *progress);
};

/* *result: the object under "results" of `tune --json`, a new reference; also given, with what is known, when the error
 * is ERR_INTERRUPTED or ERR_NOTHING. Interrupted while it only counts, it is done. */
int tune_run(const struct tune_task *task, const struct tune_observer *observer, json_t **result, struct err *err);

/* "time", or what is made small or large in its place. Caller frees. */
char *tune_objective(const struct tune_task *task);

/* What a configuration costs besides time: threads first, then how far it is from the baseline. Decides ties. */
double tune_cost(const json_t *config, const json_t *baseline);

#endif
