/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of store_merge share. */
#ifndef TUNER_STORE_MERGE_IMPL_H
#define TUNER_STORE_MERGE_IMPL_H
#include "tuner/store/db.h"
#include "tuner/store/merge.h"

enum merge_statement {
	MERGE_SESSION_ADD,
	MERGE_SESSION_END,
	MERGE_SEARCH_ADD,
	MERGE_SEARCH_END,
	MERGE_PLAN_ADD,
	MERGE_TRIAL_ADD,
	MERGE_STATEMENTS
};

struct merge {
	struct store *target, *source;
	sqlite3_stmt *add[MERGE_STATEMENTS]; /* of the target */
	bool plans;                          /* the source has some */
	struct store_merged *merged;
	struct err *err;
};

/* Rows by what they hold. Of equal ones each is taken once. */
struct merge_keys;
struct merge_keys *merge_keys_new(void);
void merge_keys_free(struct merge_keys *keys);
/* The rows of a query on the target, whose column `id` has the id; NULL and merge->err. Finalizes rows. */
struct merge_keys *merge_keys_read(const struct merge *merge, sqlite3_stmt *rows, int from, int count, int id);
/* Whose key the row has, the first that was added first; 0: none is left. */
int64_t merge_keys_take(struct merge_keys *keys, sqlite3_stmt *row, int from, int count);

/* All return -1 with merge->err set, which names the file. */
int merge_damaged(const struct merge *merge, const char *what);
/* Binds to `place` and following what a row has in `from` and following. */
int merge_bind(const struct merge *merge, sqlite3_stmt *to, int place, sqlite3_stmt *row, int from, int count);
int merge_step(const struct merge *merge, sqlite3_stmt *stmt); /* one that returns no row; reset afterwards */
/* Is it a JSON object or array of the type, or NULL where that may be? */
bool merge_json(sqlite3_stmt *row, int column, json_type type, bool null);
/* A session or search that was copied while it went on: the later of the two states stays. `sql` selects the target's
 * (state, ended, then the columns that decide between equal ones) by its id; `end` writes the row's. check may be NULL.
 */
int merge_update(const struct merge *merge, const char *sql, enum merge_statement end, sqlite3_stmt *row, int from,
                 int count, int64_t id, int (*check)(const struct merge *merge, sqlite3_stmt *row));

int merge_sessions(struct merge *merge);
int merge_searches(struct merge *merge, int64_t from, int64_t to); /* of a session; to: its number in the target */
int merge_trials(struct merge *merge, int64_t from, int64_t to, bool is_new); /* of a search */

#endif
