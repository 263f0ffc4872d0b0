/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdio.h>

#include "tuner/store/db.h"

static sqlite3_stmt *resume_query(struct store *store, const char *fingerprint, const struct store_search *like,
                                  struct err *err) {
	const struct store_field fields[] = {
		store_text(fingerprint),      store_text(like->kernel),    store_text(like->source),
		store_text(like->problem),    store_text(like->objective), store_text(like->strategy),
		store_text(like->space_hash), store_text(like->baseline),  store_int((int64_t)like->valid),
		store_real(like->cartesian),
	};
	return store_query(store,
	                   "SELECT q.id, q.session, q.seed, q.state, q.result FROM searches q"
	                   " JOIN sessions s ON s.id = q.session"
	                   " WHERE s.fingerprint = ?1 AND s.state IN ('running', 'interrupted') AND q.kernel = ?2"
	                   " AND (?3 IS NULL OR q.source IS ?3) AND (?4 IS NULL OR q.problem IS ?4)"
	                   " AND (?5 IS NULL OR q.objective IS ?5) AND (?6 IS NULL OR q.strategy IS ?6)"
	                   " AND (?7 IS NULL OR q.space_hash IS ?7) AND (?8 IS NULL OR q.baseline IS ?8)"
	                   " AND (?9 = 0 OR q.valid IS ?9) AND (?10 = 0 OR q.cartesian IS ?10)"
	                   " ORDER BY q.id DESC LIMIT 1",
	                   fields, sizeof fields / sizeof *fields, err);
}

int store_resume_find(struct store *store, const char *fingerprint, const struct store_search *like, int64_t *search,
                      int64_t *session, uint64_t *seed, char state[16], json_t **result, struct err *err) {
	*result = NULL;
	sqlite3_stmt *stmt = resume_query(store, fingerprint, like, err);
	if (!stmt)
		return -1;
	int rc = sqlite3_step(stmt);
	int found = rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : store_fail(store, rc, err);
	if (found == 1) {
		*search = sqlite3_column_int64(stmt, 0);
		*session = sqlite3_column_int64(stmt, 1);
		*seed = (uint64_t)sqlite3_column_int64(stmt, 2);
		snprintf(state, 16, "%s", store_column(stmt, 3));
	}
	if (found == 1 && sqlite3_column_type(stmt, 4) != SQLITE_NULL) {
		*result = store_column_json(store, stmt, 4, "a search's result", err);
		found = *result ? 1 : -1;
	}
	sqlite3_finalize(stmt);
	return found;
}
