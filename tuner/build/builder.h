/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builds configurations, each artefact once, and ahead of their use where helpers are given: threads with a worker of
 * their own each, so that a build that is not needed any more can be stopped. Everything here is called by one thread,
 * except what struct build_work says. */
#ifndef TUNER_BUILD_BUILDER_H
#define TUNER_BUILD_BUILDER_H

#include "tuner/worker/worker.h"

enum { BUILD_JOBS_MAX = 256 };

struct built {
	enum trial_status status; /* TRIAL_CORRECT: it can be used */
	char message[256];        /* why not */
	double seconds;           /* that the build took, maybe in an earlier session */
	bool found;               /* an earlier session had built it */
	bool given_up;            /* it failed only because it took too long */
	void *artefact;           /* the caller's; may be NULL */
};

/* The operations of one kind of build. */
struct build_work {
	void *ctx;
	/* The same text for configurations that share an artefact. Caller frees. NULL: each has its own. */
	char *(*key)(void *ctx, const json_t *config);
	/* Builds, or finds what was built before. Helpers call it at the same time with different keys, and with workers
	 * of their own. A build that takes longer than `seconds` fails; 0: the limit is up to the callee. Returns 0 with
	 * *built, also for a build that failed; -1 if nothing can be built at all, or if it was interrupted. */
	int (*make)(void *ctx, struct worker *worker, const char *key, const json_t *config, double seconds,
	            struct built *built, struct err *err);
	void (*release)(void *ctx, struct built *built); /* may be NULL */
};

struct build_figures {
	unsigned jobs;                /* builds at the same time */
	bool beside;                  /* while something is measured */
	size_t made, found, stopped;  /* builds that ended, those of earlier sessions, those not needed any more */
	size_t given_up;              /* because they took too long */
	size_t running, running_most; /* now, and at the same time */
	double waited_s;              /* that the caller has waited */
	double spent_s;               /* of all builds together */
	double last_s;                /* of the last one that was asked for */
	double longest_s;             /* of those that worked */
	double patience_s;            /* INFINITY: none is given up */
	double used_s;                /* of all that were asked for, each once */
};

struct builder;
/* Builds with the caller's own worker until there are helpers. The worker is borrowed. */
struct builder *builder_new(const struct build_work *work, struct worker *worker);
void builder_free(struct builder *builder); /* stops what is under way */
/* Starts helpers. beside: builds may run while something is measured. */
int builder_help(struct builder *builder, unsigned jobs, bool beside, struct err *err);
/* The configurations that are likely to be used next, the most urgent first. Builds of others are stopped or not begun.
 * Without helpers this does nothing. */
void builder_want(struct builder *builder, const json_t *const *configs, size_t count);
/* Takes a wanted build off the list because it is made elsewhere. Returns false if a helper has begun it. */
bool builder_leave(struct builder *builder, const json_t *config);
/* Waits until one of the wanted builds has ended, or for `seconds`. Returns how many have not. */
size_t builder_wait(struct builder *builder, double seconds);
/* Can it be used, or has it failed, without waiting? */
bool builder_has(struct builder *builder, const json_t *config);
/* From now on a build that takes longer is given up; INFINITY: none is. */
void builder_patience(struct builder *builder, double seconds);
/* Was its build given up? */
bool builder_gave_up(struct builder *builder, const json_t *config);
/* Waits for the build, for at most `left_s` (0: as long as it takes), after which the result is a failure that nobody
 * remembers. The result belongs to the builder until the next call. NULL: nothing can be built, or interrupted. */
const struct built *builder_get(struct builder *builder, const json_t *config, double left_s, struct err *err);
struct build_figures builder_figures(struct builder *builder);
#endif
