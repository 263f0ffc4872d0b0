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

int store_plans_exist(const struct store *store, bool *exist, struct err *err) {
	int64_t tables;
	int failed = store_number(store, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'plans'", NULL,
	                          0, &tables, err);
	*exist = tables > 0;
	return failed;
}

int store_plan_get(struct store *store, int64_t search, json_t **plan, struct err *err) {
	const struct store_field fields[] = {store_int(search)};
	bool exist;
	*plan = NULL;
	if (store_plans_exist(store, &exist, err))
		return -1;
	if (!exist)
		return 0;
	sqlite3_stmt *stmt = store_query(store, "SELECT plan FROM plans WHERE search = ?", fields, 1, err);
	int found = store_step(store, stmt, err);
	if (found > 0 && !(*plan = store_column_json(store, stmt, 0, "a search's plan", err)))
		found = -1;
	sqlite3_finalize(stmt);
	return found < 0 ? -1 : 0;
}
