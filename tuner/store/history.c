/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/store/history.h"

#include "tuner/store/db.h"

static int past_row(const struct store *store, sqlite3_stmt *stmt, int (*fn)(void *ctx, const struct store_past *past),
                    void *ctx, struct err *err) {
	json_t *result = NULL;
	if (sqlite3_column_type(stmt, 14) != SQLITE_NULL) {
		result = store_column_json(store, stmt, 14, "a search's result", err);
		if (!result)
			return -1;
	}
	const struct store_past past = {.search = sqlite3_column_int64(stmt, 0),
	                                .session = sqlite3_column_int64(stmt, 1),
	                                .kernel = store_column(stmt, 2),
	                                .source = store_column(stmt, 3),
	                                .problem = store_column(stmt, 4),
	                                .objective = store_column(stmt, 5),
	                                .strategy = store_column(stmt, 6),
	                                .state = store_column(stmt, 7),
	                                .command = store_column(stmt, 8),
	                                .version = store_column(stmt, 9),
	                                .seed = (uint64_t)sqlite3_column_int64(stmt, 10),
	                                .valid = (uint64_t)sqlite3_column_int64(stmt, 11),
	                                .started = store_column_real(stmt, 12),
	                                .ended = store_column_real(stmt, 13),
	                                .noise_floor = store_column_real(stmt, 15),
	                                .result = result};
	int rc = fn(ctx, &past) ? 1 : 0;
	json_decref(result);
	return rc;
}

int store_history_each(struct store *store, const char *fingerprint,
                       int (*fn)(void *ctx, const struct store_past *past), void *ctx, struct err *err) {
	const struct store_field fields[] = {store_text(fingerprint)};
	sqlite3_stmt *stmt =
		store_query(store,
	                "SELECT q.id, s.id, q.kernel, q.source, q.problem, q.objective, q.strategy, q.state, s.command,"
	                " s.version, q.seed, q.valid, s.started, q.ended, q.result, s.noise_floor"
	                " FROM searches q JOIN sessions s ON s.id = q.session"
	                " WHERE ?1 IS NULL OR s.fingerprint = ?1 ORDER BY q.id",
	                fields, 1, err);
	if (!stmt)
		return -1;
	int rc, result = 0;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && result == 0)
		result = past_row(store, stmt, fn, ctx, err);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		result = store_fail(store, rc, err);
	sqlite3_finalize(stmt);
	return result < 0 ? -1 : 0;
}

int store_outcomes_each(struct store *store, int64_t search, int (*fn)(void *ctx, const struct store_outcome *outcome),
                        void *ctx, struct err *err) {
	const struct store_field fields[] = {store_int(search)};
	sqlite3_stmt *stmt =
		store_query(store, "SELECT phase, status, value FROM trials WHERE search = ?1 ORDER BY id", fields, 1, err);
	if (!stmt)
		return -1;
	int rc, stop = 0;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && !stop) {
		const struct store_outcome outcome = {
			.phase = store_column(stmt, 0), .status = store_column(stmt, 1), .value = store_column_real(stmt, 2)};
		stop = fn(ctx, &outcome);
	}
	int failed = rc != SQLITE_ROW && rc != SQLITE_DONE ? store_fail(store, rc, err) : 0;
	sqlite3_finalize(stmt);
	return failed;
}

int store_machines(struct store *store, size_t *count, struct err *err) {
	sqlite3_stmt *stmt = store_query(store,
	                                 "SELECT count(DISTINCT s.fingerprint) FROM searches q"
	                                 " JOIN sessions s ON s.id = q.session",
	                                 NULL, 0, err);
	if (!stmt)
		return -1;
	int rc = sqlite3_step(stmt);
	*count = (size_t)sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return rc == SQLITE_ROW ? 0 : store_fail(store, rc, err);
}
