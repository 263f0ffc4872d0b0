/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "tuner/store/db.h"

double store_column_real(sqlite3_stmt *stmt, int column) {
	return sqlite3_column_type(stmt, column) == SQLITE_NULL ? NAN : sqlite3_column_double(stmt, column);
}

static const char *column_text_or_null(sqlite3_stmt *stmt, int column) {
	return sqlite3_column_type(stmt, column) == SQLITE_NULL ? NULL : store_column(stmt, column);
}

/* fn's answer, or -1. */
static int trial_row(const struct store *store, sqlite3_stmt *stmt,
                     int (*fn)(void *ctx, const struct store_trial *trial), void *ctx, struct err *err) {
	double *samples = NULL;
	json_t *detail = NULL;
	struct store_trial trial = {
		.search = sqlite3_column_int64(stmt, 0),
		.phase = store_column(stmt, 1),
		.block = sqlite3_column_int(stmt, 2),
		.config = store_column(stmt, 3),
		.status = store_column(stmt, 4),
		.value = store_column_real(stmt, 5),
		.started = store_column_real(stmt, 7),
		.elapsed = store_column_real(stmt, 8),
		.disturbed = sqlite3_column_int(stmt, 9) != 0,
		.message = column_text_or_null(stmt, 10),
	};
	int rc = store_column_reals(store, stmt, 6, &samples, &trial.sample_count, err);
	if (rc == 0 && sqlite3_column_type(stmt, 11) != SQLITE_NULL) {
		detail = store_column_json(store, stmt, 11, "a trial's detail", err);
		rc = detail ? 0 : -1;
	}
	trial.samples = samples;
	trial.detail = detail;
	if (rc == 0)
		rc = fn(ctx, &trial) ? 1 : 0;
	json_decref(detail);
	free(samples);
	return rc;
}

int store_trials_each(struct store *store, int64_t search, const char *phase,
                      int (*fn)(void *ctx, const struct store_trial *trial), void *ctx, struct err *err) {
	const struct store_field fields[] = {store_int(search), store_text(phase)};
	sqlite3_stmt *stmt = store_query(store,
	                                 "SELECT search, phase, block, config, status, value, samples, started, elapsed,"
	                                 " disturbed, message, detail FROM trials WHERE search = ?1"
	                                 " AND (?2 IS NULL OR phase = ?2) ORDER BY id",
	                                 fields, 2, err);
	if (!stmt)
		return -1;
	int rc, result = 0;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && result == 0)
		result = trial_row(store, stmt, fn, ctx, err);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		result = store_fail(store, rc, err);
	sqlite3_finalize(stmt);
	return result < 0 ? -1 : 0;
}

static int result_row(const struct store *store, sqlite3_stmt *stmt,
                      int (*fn)(void *ctx, const struct store_result *result), void *ctx, struct err *err) {
	json_t *machine = store_column_json(store, stmt, 7, "a session's machine", err);
	json_t *json = machine ? store_column_json(store, stmt, 8, "a search's result", err) : NULL;
	int rc = -1;
	if (json) {
		struct store_result result = {
			.search = sqlite3_column_int64(stmt, 0),
			.session = sqlite3_column_int64(stmt, 1),
			.fingerprint = store_column(stmt, 2),
			.kernel = store_column(stmt, 3),
			.source = store_column(stmt, 4),
			.command = store_column(stmt, 5),
			.version = store_column(stmt, 6),
			.machine = machine,
			.result = json,
			.finished = store_column_real(stmt, 9),
			.noise_floor = store_column_real(stmt, 10),
		};
		rc = fn(ctx, &result) ? 1 : 0;
	}
	json_decref(json);
	json_decref(machine);
	return rc;
}

/* The newest of each are found without reading results: SQLite takes the number from the row that has the maximum. */
int store_results_newest(struct store *store, const char *fingerprint, int64_t most,
                         int (*fn)(void *ctx, const struct store_result *result), void *ctx, struct err *err) {
	const struct store_field fields[] = {store_text(fingerprint), store_int(most)};
	sqlite3_stmt *stmt =
		store_query(store,
	                "SELECT q.id, s.id, s.fingerprint, q.kernel, q.source, s.command, s.version, s.machine, q.result,"
	                " q.ended, s.noise_floor FROM (SELECT o.id AS id, max(o.finish) AS newest FROM searches o"
	                " JOIN sessions p ON p.id = o.session WHERE o.state = 'done' AND o.result IS NOT NULL"
	                " AND (?1 IS NULL OR p.fingerprint = ?1)"
	                " GROUP BY p.fingerprint, o.kernel, o.problem, o.objective ORDER BY newest DESC LIMIT ?2) n"
	                " JOIN searches q ON q.id = n.id JOIN sessions s ON s.id = q.session ORDER BY n.newest",
	                fields, 2, err);
	if (!stmt)
		return -1;
	int rc, result = 0;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && result == 0)
		result = result_row(store, stmt, fn, ctx, err);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		result = store_fail(store, rc, err);
	sqlite3_finalize(stmt);
	return result < 0 ? -1 : 0;
}

int store_results_each(struct store *store, const char *fingerprint,
                       int (*fn)(void *ctx, const struct store_result *result), void *ctx, struct err *err) {
	return store_results_newest(store, fingerprint, -1, fn, ctx, err); /* a negative limit is none */
}
