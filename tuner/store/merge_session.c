/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <string.h>

#include "tuner/store/merge_impl.h"

/* The columns: id, 7 that are set at the beginning, 3 that are set at the end. */
#define BEGUN "fingerprint, machine, version, command, seed, started"
enum { BEGIN = 1, BEGIN_COUNT = 7, END = 8, END_COUNT = 3 };

static sqlite3_stmt *sessions_of(const struct merge *merge, const struct store *store) {
	const char *sql = store_has_uuids(store)
	                      ? "SELECT id, " BEGUN ", uuid, state, ended, noise_floor FROM sessions ORDER BY id"
	                      : "SELECT id, " BEGUN ", NULL, state, ended, noise_floor FROM sessions ORDER BY id";
	return store_query(store, sql, NULL, 0, merge->err);
}

static int session_add(struct merge *merge, sqlite3_stmt *row, int64_t *id) {
	sqlite3_stmt *add = merge->add[MERGE_SESSION_ADD];
	if (!merge_json(row, 2, JSON_OBJECT, false))
		return merge_damaged(merge, "a session's machine is not a JSON object");
	if (merge_bind(merge, add, 1, row, BEGIN, BEGIN_COUNT + END_COUNT) || merge_step(merge, add))
		return -1;
	*id = sqlite3_last_insert_rowid(merge->target->db);
	merge->merged->sessions++;
	return 0;
}

int merge_sessions(struct merge *merge) {
	static const char old[] = "SELECT state, ended, noise_floor FROM sessions WHERE id = ?";
	struct merge_keys *keys = merge_keys_read(merge, sessions_of(merge, merge->target), BEGIN, BEGIN_COUNT, 0);
	sqlite3_stmt *rows = keys ? sessions_of(merge, merge->source) : NULL;
	int more;
	while ((more = store_step(merge->source, rows, merge->err)) > 0) {
		int64_t id = merge_keys_claim(keys, rows, BEGIN, BEGIN_COUNT);
		int failed = id ? merge_update(merge, old, MERGE_SESSION_END, rows, END, END_COUNT, id, NULL)
		                : session_add(merge, rows, &id);
		if (failed || merge_searches(merge, sqlite3_column_int64(rows, 0), id)) {
			more = -1;
			break;
		}
	}
	sqlite3_finalize(rows);
	merge_keys_free(keys);
	return more;
}
