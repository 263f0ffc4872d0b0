/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/store/remove.h"

#include "tuner/store/db.h"

#define WANTED                                                                                                         \
	"(SELECT q.id FROM searches q WHERE ?1 IS NULL AND q.id = ?2"                                                      \
	" UNION SELECT q.id FROM searches q WHERE " STORE_IS_NAMED("q", "?1") ")"

/* Inside the transaction, which store_change would begin anew. */
static int run(const struct store *store, const char *sql, const struct store_field *fields, size_t count,
               struct err *err) {
	sqlite3_stmt *stmt = store_query(store, sql, fields, count, err);
	int rc = store_step(store, stmt, err);
	sqlite3_finalize(stmt);
	return rc < 0 ? -1 : 0;
}

static int remove_all(const struct store *store, const struct store_field *fields, bool plans, struct err *err) {
	if (plans && run(store, "DELETE FROM plans WHERE search IN " WANTED, fields, 2, err))
		return -1;
	return run(store, "DELETE FROM trials WHERE search IN " WANTED, fields, 2, err) ||
	               run(store, "DELETE FROM searches WHERE id IN " WANTED, fields, 2, err) ||
	               run(store,
	                   "DELETE FROM sessions WHERE state != 'running' AND id NOT IN (SELECT session FROM searches)",
	                   NULL, 0, err)
	           ? -1
	           : 0;
}

int store_remove_look(struct store *store, const char *kernel, int64_t search, struct store_removed *found,
                      struct err *err) {
	const struct store_field fields[] = {store_text(kernel), store_int(search)};
	return store_number(store, "SELECT count(*) FROM " WANTED, fields, 2, &found->searches, err) ||
	               store_number(store, "SELECT count(*) FROM trials WHERE search IN " WANTED, fields, 2, &found->trials,
	                            err)
	           ? -1
	           : 0;
}

int store_remove(struct store *store, const char *kernel, int64_t search, struct store_removed *removed,
                 struct err *err) {
	const struct store_field fields[] = {store_text(kernel), store_int(search)};
	bool plans;
	if (store_plans_exist(store, &plans, err) || store_exec(store, "BEGIN IMMEDIATE", err))
		return -1;
	if (store_remove_look(store, kernel, search, removed, err) == 0 && remove_all(store, fields, plans, err) == 0 &&
	    store_exec(store, "COMMIT", err) == 0)
		return 0;
	return store_rollback(store);
}
