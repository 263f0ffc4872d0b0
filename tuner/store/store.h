/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The store: one SQLite file (WAL) with every session, search and trial. A trial is committed when it ends, and flushed
 * to the disk with those of a quarter of a second. Several processes may use it at once: a writer waits for the other.
 */
#ifndef TUNER_STORE_STORE_H
#define TUNER_STORE_STORE_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"

struct store;

enum store_mode {
	STORE_READ, /* must exist */
	STORE_WRITE /* created with its folders where absent */
};

/* path NULL: $XDG_DATA_HOME/sweetspot/store.db. A file that is no store, is damaged, or was written by a newer version
 * is ERR_USAGE and left untouched. Disk full, read-only and the like are ERR_FAILED with a hint. STORE_READ of a file
 * that is absent or empty is ERR_NOTHING. A store belongs to one thread. */
struct store *store_open(const char *path, enum store_mode mode, struct err *err);
void store_close(struct store *store);
const char *store_path(const struct store *store);
char *store_default_path(struct err *err); /* caller frees */

/* Texts are copied. Configurations and problems are canonical JSON (js_canonical). Times are seconds since 1970. */
struct store_session {
	int64_t id;
	const char *fingerprint; /* of the machine */
	const json_t *machine;
	const char *command; /* as typed */
	uint64_t seed;
	double started;
};
int store_session_begin(struct store *store, struct store_session *session, struct err *err); /* sets id */
/* state: "done", "interrupted", "failed"; noise_floor may be NAN */
int store_session_end(struct store *store, int64_t session, const char *state, double noise_floor, struct err *err);

struct store_search {
	int64_t id, session;
	const char *kernel, *source; /* source hash */
	const char *problem;         /* canonical JSON */
	const char *objective, *strategy;
	uint64_t seed;
	const char *space_hash;
	double cartesian;
	uint64_t valid;
	const char *baseline; /* configuration, canonical JSON */
};
int store_search_begin(struct store *store, struct store_search *search, struct err *err); /* sets id */
/* result: the object of `tune --json`, or NULL when there is none; state as for sessions */
int store_search_end(struct store *store, int64_t search, const char *state, const json_t *result, struct err *err);

struct store_trial {
	int64_t search;
	/* baseline search probe race duel counters sweep cross turns; between, bridge: at another size, which detail has;
	 * node: the baseline on one of several nodes */
	const char *phase;
	int block;          /* of a race or duel, else 0 */
	const char *config; /* canonical JSON */
	const char *status;
	double value; /* the median; while searching over all attempts at it so far; NAN: none */
	const double *samples;
	size_t sample_count;
	double started, elapsed;
	bool disturbed;
	const char *message;  /* may be NULL */
	const json_t *detail; /* what else the worker said; may be NULL */
};
int store_trial_add(struct store *store, const struct store_trial *trial, struct err *err);
/* Trials added in between are committed together, where many come at a time: until the end, or until anything else is
 * written, other processes don't see them, and they are lost with this one. */
void store_group_begin(struct store *store);
int store_group_end(struct store *store, struct err *err);

/* Trials of a search in the order they ended; phase NULL: all. fn returns non-zero to stop (the
 * result is 0 all the same) and must not write to the store. Texts live during the call. */
int store_trials_each(struct store *store, int64_t search, const char *phase,
                      int (*fn)(void *ctx, const struct store_trial *trial), void *ctx, struct err *err);

/* For --resume: the newest search that belongs to a session of this machine which was not finished (it is
 * "interrupted", or still "running" since it was killed) and whose members equal those of `like`. like->kernel must be
 * given; every other member that is NULL or 0 matches anything; id, session and seed are not compared. The search's own
 * state does not matter: one that is "done" in a session that was cut short later comes with its result, so it need not
 * run again. *state: "running", "interrupted", "done" or "failed". *result is a new reference or NULL.
 * 1: found, 0: none, -1: error. */
int store_resume_find(struct store *store, const char *fingerprint, const struct store_search *like, int64_t *search,
                      int64_t *session, uint64_t *seed, char state[16], json_t **result, struct err *err);

/* What a search began with, so that it can be resumed the same: any object. In a table of its own, which older programs
 * don't look at. */
int store_plan_set(struct store *store, int64_t search, const json_t *plan, struct err *err);
int store_plan_get(struct store *store, int64_t search, json_t **plan, struct err *err); /* NULL where there is none */

/* Searches of a kernel under an objective, newest first: what can tell something about another of the same kernel. */
struct store_relative {
	int64_t search;
	const char *fingerprint, *source, *problem; /* as in store_search */
	const json_t *machine;
};
int store_relatives_each(struct store *store, const char *kernel, const char *objective,
                         int (*fn)(void *ctx, const struct store_relative *relative), void *ctx, struct err *err);
/* Baseline and search trials of a search, those stored after trial `until` left out; without message and detail. fn as
 * above. */
int store_evaluations_each(struct store *store, int64_t search, int64_t until,
                           int (*fn)(void *ctx, const struct store_trial *trial), void *ctx, struct err *err);
int store_last_trial(struct store *store, int64_t *trial, struct err *err); /* 0: none */

/* The newest finished result for each (machine, kernel, problem, objective), oldest first.
 * fingerprint NULL: all machines. */
struct store_result {
	int64_t search, session;
	const char *fingerprint, *kernel, *source, *command;
	const char *version; /* of the program that measured it */
	const json_t *machine, *result;
	double finished, noise_floor;
};
int store_results_each(struct store *store, const char *fingerprint,
                       int (*fn)(void *ctx, const struct store_result *result), void *ctx, struct err *err);

/* Only the newest `most` of them, oldest first all the same. */
int store_results_newest(struct store *store, const char *fingerprint, int64_t most,
                         int (*fn)(void *ctx, const struct store_result *result), void *ctx, struct err *err);

/* Every search of a machine (fingerprint NULL: of all), finished or not, oldest first. fn as in store_trials_each; it
 * may read the store meanwhile. */
struct store_found {
	int64_t search;
	const char *kernel, *source, *problem, *objective, *strategy; /* as in store_search */
	const json_t *result;                                         /* NULL: there is none */
	double noise_floor;                                           /* of its session; NAN: not known */
};
int store_searches_each(struct store *store, const char *fingerprint,
                        int (*fn)(void *ctx, const struct store_found *found), void *ctx, struct err *err);

#endif
