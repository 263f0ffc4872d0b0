/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <string.h>

#include "tuner/store/merge_impl.h"

/* id, what it began with (7), how it ended (3) */
#define BEGUN "fingerprint, machine, version, command, seed, started"
enum { BEGIN = 1, BEGIN_COUNT = 7, END = 8, END_COUNT = 3 };

static sqlite3_stmt *sessions_of(const struct merge *merge, const struct store *store) {
	const char *sql = store_has_uuids(store)
	                      ? "SELECT id, " BEGUN ", uuid, state, ended, noise_floor FROM sessions ORDER BY id"
	                      : "SELECT id, " BEGUN ", NULL, state, ended, noise_floor FROM sessions ORDER BY id";
	return store_query(store, sql, NULL, 0, merge->err);
}

static struct merge_keys *there(const struct merge *merge) {
	struct merge_keys *keys = merge_keys_new();
	sqlite3_stmt *rows = sessions_of(merge, merge->target);
	int more = rows ? 1 : -1;
	while (more > 0 && (more = merge_row(merge, merge->target, rows)) > 0)
		merge_keys_add(keys, rows, BEGIN, BEGIN_COUNT, sqlite3_column_int64(rows, 0));
	sqlite3_finalize(rows);
	if (more == 0)
		return keys;
	merge_keys_free(keys);
	return NULL;
}

static int session_add(struct merge *merge, sqlite3_stmt *row, int64_t *id) {
	sqlite3_stmt *add = merge->add[MERGE_SESSION_ADD];
	if (!merge_json(row, 2, JSON_OBJECT, false))
		return merge_damaged(merge, "a session's machine is no JSON object");
	if (merge_bind(merge, add, 1, row, BEGIN, BEGIN_COUNT + END_COUNT) || merge_step(merge, add))
		return -1;
	*id = sqlite3_last_insert_rowid(merge->target->db);
	merge->merged->sessions++;
	return 0;
}

/* One that was copied while it went on. */
static int session_update(struct merge *merge, sqlite3_stmt *row, int64_t id) {
	const struct store_field fields[] = {store_int(id)};
	sqlite3_stmt *end = merge->add[MERGE_SESSION_END];
	sqlite3_stmt *old = store_query(merge->target, "SELECT state, ended, noise_floor FROM sessions WHERE id = ?",
	                                fields, 1, merge->err);
	int failed = old && merge_row(merge, merge->target, old) == 1 ? 0 : -1;
	if (!failed && merge_later(row, END, old, 0, END_COUNT)) {
		sqlite3_bind_int64(end, END_COUNT + 1, id);
		failed = merge_bind(merge, end, 1, row, END, END_COUNT) || merge_step(merge, end);
		merge->merged->updated++;
	}
	sqlite3_finalize(old);
	return failed ? -1 : 0;
}

int merge_sessions(struct merge *merge) {
	struct merge_keys *keys = there(merge);
	sqlite3_stmt *rows = keys ? sessions_of(merge, merge->source) : NULL;
	int more = rows ? 1 : -1;
	while (more > 0 && (more = merge_row(merge, merge->source, rows)) > 0) {
		int64_t id = merge_keys_take(keys, rows, BEGIN, BEGIN_COUNT);
		int failed = id ? session_update(merge, rows, id) : session_add(merge, rows, &id);
		if (failed || merge_searches(merge, sqlite3_column_int64(rows, 0), id))
			more = -1;
	}
	sqlite3_finalize(rows);
	merge_keys_free(keys);
	return more;
}
