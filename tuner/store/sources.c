/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What earlier searches of the same kernel have measured. */
#include <config.h>

#include <stdlib.h>

#include "tuner/store/db.h"

enum { RELATIVES_MAX = 256, EVALUATIONS_MAX = 20000 /* rows read of one search */ };

static int relative_row(const struct store *store, sqlite3_stmt *stmt,
                        int (*fn)(void *ctx, const struct store_relative *relative), void *ctx, struct err *err) {
	json_t *machine = store_column_json(store, stmt, 4, "a session's machine", err);
	if (!machine)
		return -1;
	const struct store_relative relative = {.search = sqlite3_column_int64(stmt, 0),
	                                        .fingerprint = store_column(stmt, 1),
	                                        .source = store_column(stmt, 2),
	                                        .problem = store_column(stmt, 3),
	                                        .machine = machine};
	int rc = fn(ctx, &relative) ? 1 : 0;
	json_decref(machine);
	return rc;
}

static int each_end(const struct store *store, sqlite3_stmt *stmt, int rc, int result, struct err *err) {
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		result = store_fail(store, rc, err);
	sqlite3_finalize(stmt);
	return result < 0 ? -1 : 0;
}

int store_relatives_each(struct store *store, const char *kernel, const char *objective,
                         int (*fn)(void *ctx, const struct store_relative *relative), void *ctx, struct err *err) {
	const struct store_field fields[] = {store_text(kernel), store_text(objective), store_int(RELATIVES_MAX)};
	sqlite3_stmt *stmt = store_query(store,
	                                 "SELECT q.id, s.fingerprint, q.source, q.problem, s.machine FROM searches q"
	                                 " JOIN sessions s ON s.id = q.session WHERE q.kernel = ? AND q.objective = ?"
	                                 " ORDER BY q.id DESC LIMIT ?",
	                                 fields, 3, err);
	if (!stmt)
		return -1;
	int rc, result = 0;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && result == 0)
		result = relative_row(store, stmt, fn, ctx, err);
	return each_end(store, stmt, rc, result, err);
}

static int evaluation_row(const struct store *store, sqlite3_stmt *stmt,
                          int (*fn)(void *ctx, const struct store_trial *trial), void *ctx, struct err *err) {
	double *samples = NULL;
	struct store_trial trial = {.search = sqlite3_column_int64(stmt, 0),
	                            .phase = store_column(stmt, 1),
	                            .config = store_column(stmt, 2),
	                            .status = store_column(stmt, 3),
	                            .value = store_column_real(stmt, 4),
	                            .elapsed = store_column_real(stmt, 6)};
	if (store_column_reals(store, stmt, 5, &samples, &trial.sample_count, err))
		return -1;
	trial.samples = samples;
	int rc = fn(ctx, &trial) ? 1 : 0;
	free(samples);
	return rc;
}

int store_evaluations_each(struct store *store, int64_t search, int64_t until,
                           int (*fn)(void *ctx, const struct store_trial *trial), void *ctx, struct err *err) {
	const struct store_field fields[] = {store_int(search), store_int(until), store_int(EVALUATIONS_MAX)};
	sqlite3_stmt *stmt = store_query(store,
	                                 "SELECT search, phase, config, status, value, samples, elapsed FROM trials"
	                                 " WHERE search = ? AND id <= ? AND phase IN ('baseline', 'search')"
	                                 " ORDER BY id LIMIT ?",
	                                 fields, 3, err);
	if (!stmt)
		return -1;
	int rc, result = 0;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && result == 0)
		result = evaluation_row(store, stmt, fn, ctx, err);
	return each_end(store, stmt, rc, result, err);
}

int store_last_trial(struct store *store, int64_t *trial, struct err *err) {
	sqlite3_stmt *stmt = store_query(store, "SELECT coalesce(max(id), 0) FROM trials", NULL, 0, err);
	if (!stmt)
		return -1;
	int rc = sqlite3_step(stmt);
	*trial = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
	return each_end(store, stmt, rc, 0, err);
}
