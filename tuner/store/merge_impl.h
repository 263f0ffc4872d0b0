/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of store_merge. */
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
	sqlite3_stmt *add[MERGE_STATEMENTS]; /* prepared on the target */
	bool plans;                          /* the source has a table of plans */
	struct store_merged *merged;
	struct err *err;
};

/* Rows by a digest of their cells. Each of several equal rows can be claimed once. */
struct merge_keys;
struct merge_keys *merge_keys_new(void);
void merge_keys_free(struct merge_keys *keys);
/* Reads the rows of a query on the target; column `id` holds the id. NULL and merge->err. Finalizes rows. */
struct merge_keys *merge_keys_read(const struct merge *merge, sqlite3_stmt *rows, int from, int count, int id);
/* The id of the next row with the same cells, in the order they were read; 0 if none is left. */
int64_t merge_keys_claim(struct merge_keys *keys, sqlite3_stmt *row, int from, int count);

/* All of these return -1 with merge->err set, which names the file. */
int merge_damaged(const struct merge *merge, const char *what);
/* Binds `count` cells of a row, beginning with `from`, to the parameters beginning with `place`. */
int merge_bind(const struct merge *merge, sqlite3_stmt *to, int place, sqlite3_stmt *row, int from, int count);
int merge_step(const struct merge *merge, sqlite3_stmt *stmt); /* runs an INSERT or UPDATE and resets it */
/* Is the cell JSON of this type, or NULL if that is allowed? */
bool merge_json(sqlite3_stmt *row, int column, json_type type, bool null);
/* A session or search that was copied while it went on: the later of the two states stays. `sql` selects the target's
 * (state, ended, then the columns that decide between equal ones) by its id; `end` writes the row's. check may be NULL.
 */
int merge_update(const struct merge *merge, const char *sql, enum merge_statement end, sqlite3_stmt *row, int from,
                 int count, int64_t id, int (*check)(const struct merge *merge, sqlite3_stmt *row));

int merge_sessions(struct merge *merge);
int merge_searches(struct merge *merge, int64_t from,
                   int64_t to); /* the searches of a session, whose id in the target is `to` */
int merge_trials(struct merge *merge, int64_t from, int64_t to, bool is_new); /* the trials of a search */

#endif
