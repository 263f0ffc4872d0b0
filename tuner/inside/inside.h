/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choices of programs inside their runs (lib/inside). A session knows contexts, by kernel and class of problems, from
 * the store and from runs. For each run it makes a ring; while the run lasts, the session must be polled every few
 * milliseconds, by whoever waits for the program. If nobody polls, the program goes on with what holds. */
#ifndef TUNER_INSIDE_INSIDE_H
#define TUNER_INSIDE_INSIDE_H

#include "tuner/program/program.h"
#include "tuner/store/store.h"

struct inside_session;
struct inside_session *inside_session_new(uint64_t seed);
void inside_session_free(struct inside_session *session);

struct inside_mode {
	bool learns;  /* otherwise the run is only watched */
	double share; /* of the time that trying may cost: 0.02 */
	bool credit;  /* what is won against the defaults may be spent, too */
	bool waits;   /* the run earns what one that cannot have its defaults may lose */
};
/* Adds the variables of the run to the environment, {"NAME": "value"}. */
int inside_run_begin(struct inside_session *session, const struct inside_mode *mode, json_t *environment,
                     struct err *err);
/* Reads results and makes proposals. Returns how many results came. */
size_t inside_run_poll(struct inside_session *session);
/* crashed: by a signal that a fault sends, or with an exit status that says so: what was being tried then has failed.
 */
void inside_run_end(struct inside_session *session, bool crashed);

/* Sums over all runs that have ended, and the one under way. */
struct inside_account {
	size_t contexts, cells, trials; /* cells: classes of problems */
	double seconds;                 /* in contexts */
	double lost;                    /* by trying: the regret */
	size_t better;                  /* cells that have something better than the default */
	bool done;                      /* nothing is left to try */
};
struct inside_account inside_session_account(const struct inside_session *session);

/* Seconds that a run of the program like the last one gains by being asked, by what is known of it: below 0 where what
 * cannot have its default costs more than the rest gains. NAN: some of it has not been searched yet. */
double inside_session_gain(const struct inside_session *session, const char *program);
/* Whether the share of all runs, this one included, covers what being asked may lose: as much as the last time. */
bool inside_session_affords(const struct inside_session *session, const char *program, double share);

/* The text for SWEETSPOT_INSIDE. proven: of what is proven to be faster only, for programs that do not learn; otherwise
 * also what is known of the defaults, and what seems best. NULL: there is nothing. Caller frees. */
char *inside_session_table(const struct inside_session *session, bool proven);

/* Takes over what the store knows of this machine's contexts. */
int inside_session_recall(struct inside_session *session, struct store *store, const char *fingerprint,
                          struct err *err);
/* Keeps what has become known since the last call: a search for each cell, with its result. Nothing is written where
 * nothing was learned. proof: a result of whole runs, whose verdict replaces that of the calls; may be NULL. */
int inside_session_keep(struct inside_session *session, struct store *store, int64_t store_session, const json_t *proof,
                        struct err *err);
bool inside_session_is_new(const struct inside_session *session); /* there is something to keep */
/* [{"name", "problem", "calls", "time", "baseline": {..}, "best": {..}, "gain", "verdict", "tried"}], for people and
 * documents. New reference. */
json_t *inside_session_json(const struct inside_session *session);

struct inside_options {
	struct program_spec program; /* without parameters */
	struct worker *worker;
	double budget_s, timeout_s;
	uint64_t seed;
	const volatile int *interrupt;
	const json_t *watching; /* more variables of the run that is only watched: {"NAME": "value"}; NULL: none */
	const json_t *learning; /* of those that learn or use what was learned */
	/* After each run that has learned something, so that a kill loses no more than one; may be NULL. */
	void (*keep)(void *ctx);
	void *keep_ctx;
	/* May be NULL. */
	void (*progress)(void *ctx, const char *phase, int done, size_t trials);
	void *progress_ctx;
};
/* Learns inside runs, and proves what was found. The result of `tune --json` for the program, with "contexts"; NULL
 * with ERR_ABSENT if the program has no contexts. New reference. */
json_t *inside_tune(struct inside_session *session, const struct inside_options *options, struct err *err);
#endif
