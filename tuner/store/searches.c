/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every search of a machine, for those who want to know all that was measured. */
#include <config.h>

#include "tuner/store/db.h"

static int found_row(const struct store *store, sqlite3_stmt *stmt,
                     int (*fn)(void *ctx, const struct store_found *found), void *ctx, struct err *err) {
	json_t *result = NULL;
	if (sqlite3_column_type(stmt, 7) != SQLITE_NULL) {
		result = store_column_json(store, stmt, 7, "a search's result", err);
		if (!result)
			return -1;
	}
	const struct store_found found = {.search = sqlite3_column_int64(stmt, 0),
	                                  .kernel = store_column(stmt, 1),
	                                  .source = store_column(stmt, 2),
	                                  .problem = store_column(stmt, 3),
	                                  .objective = store_column(stmt, 4),
	                                  .strategy = store_column(stmt, 5),
	                                  .noise_floor = store_column_real(stmt, 6),
	                                  .result = result};
	int rc = fn(ctx, &found) ? 1 : 0;
	json_decref(result);
	return rc;
}

int store_searches_each(struct store *store, const char *fingerprint,
                        int (*fn)(void *ctx, const struct store_found *found), void *ctx, struct err *err) {
	const struct store_field fields[] = {store_text(fingerprint)};
	sqlite3_stmt *stmt = store_query(store,
	                                 "SELECT q.id, q.kernel, q.source, q.problem, q.objective, q.strategy,"
	                                 " s.noise_floor, q.result FROM searches q JOIN sessions s ON s.id = q.session"
	                                 " WHERE ?1 IS NULL OR s.fingerprint = ?1 ORDER BY q.id",
	                                 fields, 1, err);
	if (!stmt)
		return -1;
	int rc, result = 0;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && result == 0)
		result = found_row(store, stmt, fn, ctx, err);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		result = store_fail(store, rc, err);
	sqlite3_finalize(stmt);
	return result < 0 ? -1 : 0;
}
