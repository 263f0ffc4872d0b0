/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The store is one SQLite file (WAL) with every session, search and trial. A trial is committed when it ends, and
 * flushed to the disk together with the other trials of a quarter of a second. Several processes may use it at once: a
 * writer waits for the other. */
#ifndef TUNER_STORE_STORE_H
#define TUNER_STORE_STORE_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct store;
struct trial_result;

enum store_mode {
	STORE_READ, /* must exist */
	STORE_WRITE /* created with its folders where absent */
};

/* path NULL: $XDG_DATA_HOME/sweetspot/store.db. A file that is not a store, is damaged, or was written by a newer
 * version is ERR_USAGE and left untouched. A full disk, a read-only file and similar causes are ERR_FAILED with a hint.
 * STORE_READ of a file that is absent or empty is ERR_NOTHING. A store belongs to one thread. */
struct store *store_open(const char *path, enum store_mode mode, struct err *err);
void store_close(struct store *store);
const char *store_path(const struct store *store);
char *store_default_path(struct err *err); /* caller frees */

/* Texts are copied. Configurations and problems are canonical JSON (js_canonical). Times are seconds since 1970. */
struct store_session {
	int64_t id;
	const char *fingerprint; /* the machine's */
	const json_t *machine;
	const char *command; /* as typed */
	uint64_t seed;
	double started;
	const char *version, *uuid; /* these and the rest are for the store alone */
	double ended;
	const char *state;
	double noise_floor;
};
int store_session_begin(struct store *store, struct store_session *session, struct err *err); /* sets id */
/* For the end of a session that has written. ERR_FAILED if the file was removed or replaced since it was opened, and
 * what it held is then saved beside it, in PATH.saved; or if its log was truncated, of which nothing can be saved. */
int store_check_lost(struct store *store, struct err *err);
/* state: "done", "interrupted", "failed"; noise_floor may be NAN */
int store_session_end(struct store *store, int64_t session, const char *state, double noise_floor, struct err *err);

struct store_search {
	int64_t id, session;
	const char *kernel, *source; /* source: a hash */
	const char *problem;         /* canonical JSON */
	const char *objective, *strategy;
	uint64_t seed;
	const char *space_hash;
	double cartesian;
	uint64_t valid;
	const char *baseline; /* configuration, canonical JSON */
	const char *uuid;     /* this and the rest are for the store alone */
	double ended;
	const char *state;
	const json_t *result;
};
int store_search_begin(struct store *store, struct store_search *search, struct err *err); /* sets id */
/* result: the object of `tune --json`, or NULL when there is none; state as for sessions */
int store_search_end(struct store *store, int64_t search, const char *state, const json_t *result, struct err *err);

struct store_trial {
	int64_t search;
	/* baseline search probe race duel counters sweep cross turns; between, bridge: at another size, which `detail`
	 * holds; node: the baseline on one of several nodes */
	const char *phase;
	int block;          /* in a race or duel, else 0 */
	const char *config; /* canonical JSON */
	const char *status;
	double value; /* the median, in a search over all attempts so far; NAN: unknown */
	const double *samples;
	size_t sample_count;
	double started, elapsed;
	bool disturbed;
	const char *message;  /* may be NULL */
	const json_t *detail; /* the rest of the worker's answer; may be NULL */
};
int store_trial_add(struct store *store, const struct store_trial *trial, struct err *err);
/* Trials added in between are committed together, because many come at a time: until the end, or until anything else is
 * written, other processes do not see them, and a crash of this process loses them. */
void store_group_begin(struct store *store);
int store_group_end(struct store *store, struct err *err);

/* Trials of a search in the order they ended. The callback returns non-zero to stop, which is not an error, and may
 * read the store but not write to it; texts and arrays live during the call. */
typedef int (*store_trial_fn)(void *ctx, const struct store_trial *trial);
int store_trials_each(struct store *store, int64_t search, const char *phase, store_trial_fn fn, void *ctx,
                      struct err *err); /* phase NULL: all */
/* Without samples and detail. */
int store_outcomes_each(struct store *store, int64_t search, store_trial_fn fn, void *ctx, struct err *err);
/* Baseline and search trials without detail, up to the trial with the id `until`. */
int store_evaluations_each(struct store *store, int64_t search, int64_t until, store_trial_fn fn, void *ctx,
                           struct err *err);
int store_last_trial(struct store *store, int64_t *trial, struct err *err); /* 0: the store does not have any */

/* One row: a search and its session, or a machine with its newest session. Columns that a query does not read are 0,
 * "", NAN or NULL, and so are those without a value in the store. */
struct store_row {
	int64_t search, session;
	const char *fingerprint, *command, *version;                          /* of the session */
	const char *kernel, *source, *problem, *objective, *strategy, *state; /* of the search, as in store_search */
	uint64_t seed, valid;
	double started;                     /* the session */
	double ended;                       /* the search */
	double noise_floor;                 /* of the session */
	const json_t *machine, *result;     /* of the session, of the search */
	int64_t sessions, searches, trials; /* how many there are */
};
typedef int (*store_row_fn)(void *ctx, const struct store_row *row); /* as store_trial_fn */

/* The command of the sessions that came with shared results (struct share_import), whatever machine they name. */
#define STORE_IMPORT "sweetspot store import"

enum store_rows {
	STORE_SEARCHES,  /* every search, finished or not, oldest first; without machine. Of one machine: only what was
	                  * measured there, not what was imported. Of one kernel, or one search, if that is given */
	STORE_NAMES,     /* the newest search of each kernel, or of the given one, in the same order; without machine
	                  * and result */
	STORE_RESULTS,   /* the newest result of each machine, kernel (or of the given one), problem and objective, a proven
	                  * one before one of an   interrupted search, unless it was reached beside other programs ("load":
	                  * {"busy": true})   and pairs were measured without them since then; oldest first */
	STORE_SHARED,    /* every search with its machine, oldest first; without result */
	STORE_RELATIVES, /* searches for a kernel and objective, newest first; without result */
	STORE_UNFINISHED, /* searches of a machine that --resume could continue: the newest of each kernel, problem and
	                   * objective unless it was repeated to its end since; newest first, with trials */
	STORE_MACHINES    /* every machine, the one that measured last first, with sessions and searches */
};
struct store_filter {
	const char *fingerprint, *kernel, *objective; /* NULL: any */
	int64_t most;                                 /* the newest so many; 0: the query's own limit */
	int64_t search;                               /* for STORE_SEARCHES: only this one; 0: all */
	double until;                                 /* for STORE_RESULTS: those that ended by then; 0: all */
};
int store_each(struct store *store, enum store_rows rows, const struct store_filter *filter, store_row_fn fn, void *ctx,
               struct err *err); /* filter NULL: everything */

/* For --resume: the newest search that belongs to a session of this machine which was not finished (it is
 * "interrupted", or still "running" because it was killed) and whose members equal those of `wanted`. wanted->kernel
 * must be given; every other member that is NULL or 0 matches anything; id, session and seed are not compared. The
 * search's own state does not matter: one that is "done" in a session that was cut short later comes with its result,
 * so that it need not run again. 1: found, 0: not found, -1: error. */
struct store_resumed {
	int64_t search, session;
	uint64_t seed;
	char state[16]; /* "running", "interrupted", "done" or "failed" */
	json_t *result; /* a new reference, or NULL */
};
int store_resume_find(struct store *store, const char *fingerprint, const struct store_search *wanted,
                      struct store_resumed *found, struct err *err);

/* The plan is any object that the search needs in order to be resumed as it began. It has a table of its own, which
 * older programs ignore. */
int store_plan_set(struct store *store, int64_t search, const json_t *plan, struct err *err);
int store_plan_get(struct store *store, int64_t search, json_t **plan, struct err *err); /* NULL if it was never set */

/* How much a store holds. */
struct store_about {
	int64_t sessions, searches, done, trials;
	double first, last; /* when the first and the last session began; NAN: there is none */
	int64_t bytes;      /* of the file and its write-ahead log */
};
int store_about(struct store *store, struct store_about *about, struct err *err);
int store_machine_count(struct store *store, size_t *count, struct err *err); /* of machines with searches */
int store_machine_trials(struct store *store, const char *fingerprint, int64_t *trials, struct err *err);

/* Joins the stores of separate runs: rows that both have are kept once, and the result does not depend on the order of
 * the files. Two sessions or searches are the same if their uuid and everything they began with are equal; the later of
 * their states is kept. Trials are the same if all their cells are equal, and each occurs as often as in the file that
 * has it most often. */
struct store_merged {                   /* the contribution of a file */
	int64_t sessions, searches, trials; /* new rows */
	int64_t updated;                    /* sessions and searches that were known in an earlier state */
};

/* Merges all files or none, in one transaction. The sources are only read, and every cell is checked before it is
 * copied: ERR_USAGE names the file that is not a store, damaged, or newer. merged: an array of `count`. The target
 * itself contributes nothing. */
int store_merge(struct store *target, const char *const *paths, size_t count, struct store_merged *merged,
                struct err *err);

struct store_removed {
	int64_t searches, trials;
};

/* Counts the rows that store_remove would remove. */
int store_remove_look(struct store *store, const char *kernel, int64_t search, struct store_removed *found,
                      struct err *err);
/* Removes all searches of a kernel, or the one with the number `search` where kernel is NULL, with their trials; then
 * the sessions that have none left. All in one transaction. */
int store_remove(struct store *store, const char *kernel, int64_t search, struct store_removed *removed,
                 struct err *err);

/* Commits a trial that has just ended to a search of the store. block: its number in a race or duel, else 0. */
int trial_store(struct store *store, int64_t search, const char *phase, int block, const json_t *config,
                const struct trial_result *result, struct err *err);

/* The trials of a search, one for each configuration with the samples of all its trials: [{"config", "status",
 * "samples", "started", "elapsed_s", "setup_s", "verify_s", "message", "counters": [{"name", "value", "unit"}]}]. Runs
 * for counters, and trials that were cut short before their first sample, add no samples. New reference; NULL and err.
 */
json_t *store_trials_json(struct store *store, int64_t search, struct err *err);

/* Searches as a document that another group can use: configurations, times, and facts about the machine. What could
 * name a person, a path or a host is left out: commands, messages, compiler flags with paths, identifiers of devices.
 * The document carries a hash of its searches, so that damage and careless edits are noticed; the hash proves neither
 * who measured nor that the times are true, but a wrong time costs a search only a few evaluations (ADR 9).
 *
 *     {"schema": "sweetspot-share/1", "hash": "sha256:..", "searches": [{"kernel", "source", "problem", "objective",
 *      "strategy", "seed", "valid", "started", "fingerprint", "machine", "trials": [{"config", "status", "value",
 *      "samples", "elapsed_s"}]}]} */
struct share_wish {
	const char *const *kernels; /* ends with NULL; NULL: all */
	bool private;               /* keep texts that name paths, the user or the host */
};

/* hidden: the number of searches that are left out because their kernel, problem or configurations name a path, the
 * user or the host. New reference; NULL and err. */
json_t *share_export(struct store *store, const struct share_wish *wish, size_t *hidden, struct err *err);

struct share_import {
	int64_t searches, trials; /* new ones */
	int64_t known;            /* searches that the store has already */
};
/* Adds the searches that the store does not have. ERR_USAGE names `where` if the document is not valid; then nothing is
 * added. */
int share_import(struct store *store, const json_t *document, const char *where, struct share_import *import,
                 struct err *err);
#endif
