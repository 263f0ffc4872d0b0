/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole procedure for one kernel on one problem: baseline, search, race of finalists, final duel, recommendation,
 * counters. Every trial is stored as it ends. doc/measurement.md gives the protocol and its reasons. */
#ifndef TUNER_TUNE_TUNE_H
#define TUNER_TUNE_TUNE_H

#include "tuner/build/builder.h"
#include "tuner/fleet/pool.h"
#include "tuner/store/store.h"
#include "tuner/search/strategy.h"

struct tune_budget {
	double seconds;       /* 0: not limited */
	double node_seconds;  /* of all nodes together; 0: not limited. Excludes seconds */
	uint64_t evaluations; /* 0: not limited */
	bool may_grow;        /* the seconds are a default: a long program gets more */
};

void tune_budget_alone(struct tune_budget *budget); /* on a single machine node-seconds are seconds */

/* Tells which of two is better. */
struct tune_goal {
	enum trial_objective objective; /* of the search, the race and the duel */
	enum trial_objective second;    /* with `pareto`: the second quantity to minimise */
	bool pareto;                    /* the result contains the Pareto front of both */
	const char *metric; /* the objective if it is not time: a number that the program prints; NULL: seconds */
	bool maximize;      /* the runner returns 1/rate; rates are shown */
};

/* These end trials, builds and the search, besides the budget. */
struct tune_limits {
	size_t sharers;         /* searches that the user's budget is divided among; 0: this one only */
	double timeout_s;       /* of one trial; 0: a multiple of the baseline's time */
	double build_timeout_s; /* of one build; 0: a multiple of the median */
	bool complete;          /* cut no trial short */
	double stop_gain;       /* stop the search if less gain is expected: 0.01 is 1 %; 0: never */
};

/* Known before the search. */
struct tune_prior {
	bool transfer;         /* tell the strategy about earlier searches of the kernel */
	const uint64_t *hints; /* configurations that suit the machine */
	size_t hint_count;
};

struct tune_hooks {
	/* Adds to the result before it is stored; may be NULL. */
	void (*annotate)(void *ctx, json_t *result);
	void *annotate_ctx;
	/* Does this configuration do other work than the baseline, as far as their runs tell? NULL: none does. */
	bool (*other_work)(void *ctx, const json_t *config);
	void *work_ctx;
	const volatile int *interrupt; /* finish the trial and stop; may be NULL */
	double (*now)(void *ctx);      /* monotonic seconds, for tests; NULL: the machine's clock */
	void *now_ctx;
};

struct tune_task {
	const char *kernel, *source; /* its name and source hash */
	const char *library;         /* the plug-in with this kernel; NULL: built in */
	const char *device;          /* "cuda:0"; NULL: the CPU */
	const char *device_name;     /* of the GPU; NULL: unknown, or the CPU */
	bool flush_l2;               /* empty the GPU cache before each run */
	struct tune_goal goal;
	const json_t *problem;
	const struct space *space;
	const json_t *baseline; /* a configuration; may lie outside the space */
	uint64_t start;         /* the baseline's index; UINT64_MAX: outside */
	const char *unsafe;     /* expression: never recommend a configuration for which it holds; may be NULL */
	const struct strategy *strategy;
	uint64_t seed;
	struct tune_budget budget;
	struct tune_limits limits;
	struct trial_counters counters;
	/* A trial consists of runs of a whole program: nothing is batched, a long program is run once, and the budget also
	 * limits the final comparison. */
	bool whole_programs;
	const char *checked;   /* how the result of each run of a program is checked: "verify", "output same", "files same";
	                          NULL: not */
	struct runner *runner; /* not used with a pool */
	/* Builds what the runner runs; NULL: nothing is built. With a pool, what it builds must reach the nodes through a
	 * cache, without which they build for themselves. */
	struct builder *builder;
	struct pool *pool; /* nodes that measure in parallel; NULL: the runner, one trial after the other */
	struct store *store;
	int64_t session;
	int64_t resume;          /* an unfinished search of the store to continue; 0: begin one */
	const char *fingerprint; /* of this machine */
	const char *command;     /* the command that reproduces it */
	struct tune_prior prior;
	struct tune_hooks hooks;
};

enum tune_phase { TUNE_BASELINE, TUNE_SEARCH, TUNE_RACE, TUNE_DUEL, TUNE_COUNTERS };
const char *tune_phase_word(enum tune_phase phase);

struct tune_progress {
	enum tune_phase phase;
	const char *kernel;
	uint64_t evaluations, limit; /* limit: if known, else 0 */
	uint64_t failures;
	double best, baseline;     /* as people know them: seconds, or the metric; NAN: none */
	const char *unit;          /* of them; "" if it is not known */
	double gain;               /* above 1: better than the baseline; NAN: not known */
	double elapsed, budget;    /* seconds; budget 0: counted in evaluations */
	double left;               /* seconds that it will probably go on; NAN: not known */
	size_t building;           /* builds under way */
	const char *note;          /* the strategy's current phase; may be NULL */
	const json_t *best_config; /* NULL: none */
	/* The trial that has just ended; NULL: this reports none. value: as people know it, at least where it was cut
	 * short, NAN: it failed */
	const json_t *config;
	enum trial_status status;
	double value;
};

struct tune_observer {
	void *ctx;
	void (*progress)(void *ctx, const struct tune_progress *progress);
	void (*warn)(void *ctx, const char *text); /* a warning; may be NULL */
	/* After the first tenth of the budget, once there is a configuration that is better than the baseline but not yet
	 * proven; gain is above 1. May be NULL. */
	void (*found)(void *ctx, const json_t *config, const json_t *baseline, double gain);
};

/* *result: the object under "results" of `tune --json`, a new reference; also set, with what is known, if the error is
 * ERR_INTERRUPTED or ERR_NOTHING. An interruption while it only counts is no error of the search. */
int tune_run(const struct tune_task *task, const struct tune_observer *observer, json_t **result, struct err *err);

/* "time", or the quantity that is minimised or maximised instead. Caller frees. */
char *tune_objective(const struct tune_task *task);

#endif
