/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>

#include "tuner/store/db.h"

int store_plans_make(struct store *store, struct err *err) {
	return store_exec(store,
	                  "CREATE TABLE IF NOT EXISTS plans (search INTEGER PRIMARY KEY REFERENCES searches(id),"
	                  " plan TEXT NOT NULL)",
	                  err);
}

int store_plan_set(struct store *store, int64_t search, const json_t *plan, struct err *err) {
	char *text = json_dumps(plan, JSON_COMPACT | JSON_REAL_PRECISION(17));
	const struct store_field fields[] = {store_int(search), store_text(text)};
	int rc = store_plans_make(store, err);
	if (rc == 0)
		rc = store_change(store, "INSERT OR REPLACE INTO plans (search, plan) VALUES (?, ?)", fields, 2, NULL, err);
	free(text);
	return rc;
}

/* 1: there is a row, 0: none, -1: error; the caller finalizes. */
static int row_of(const struct store *store, const char *sql, const struct store_field *fields, size_t count,
                  sqlite3_stmt **stmt, struct err *err) {
	*stmt = store_query(store, sql, fields, count, err);
	int rc = *stmt ? sqlite3_step(*stmt) : SQLITE_ERROR;
	if (!*stmt || rc == SQLITE_ROW || rc == SQLITE_DONE)
		return !*stmt ? -1 : rc == SQLITE_ROW;
	return store_fail(store, rc, err);
}

int store_plan_get(struct store *store, int64_t search, json_t **plan, struct err *err) {
	const struct store_field fields[] = {store_int(search)};
	sqlite3_stmt *stmt;
	*plan = NULL;
	int found =
		row_of(store, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'plans'", NULL, 0, &stmt, err);
	sqlite3_finalize(stmt);
	if (found <= 0)
		return found;
	found = row_of(store, "SELECT plan FROM plans WHERE search = ?", fields, 1, &stmt, err);
	if (found == 1) {
		*plan = store_column_json(store, stmt, 0, "a search's plan", err);
		found = *plan ? 1 : -1;
	}
	sqlite3_finalize(stmt);
	return found < 0 ? -1 : 0;
}
