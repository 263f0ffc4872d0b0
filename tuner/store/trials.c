/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>

#include "tuner/store/db.h"

enum { EVALUATIONS_MAX = 20000 /* rows read of one search */ };

/* Samples and detail are most of a trial's bytes, so that queries without a use for them leave them out. */
#define TRIALS(samples, detail)                                                                                        \
	"SELECT search, phase, block, config, status, value, " samples ", started, elapsed, disturbed, message, " detail   \
	" FROM trials WHERE search = ?1"

/* Returns the callback's answer as 0 or 1, or -1. */
static int trial_read(const struct store *store, sqlite3_stmt *stmt, store_trial_fn fn, void *ctx, struct err *err) {
	double *samples = NULL;
	json_t *detail = NULL;
	size_t count = 0;
	int stop = -1;
	if (store_column_reals(store, stmt, 6, &samples, &count, err) == 0 &&
	    store_column_json_or_null(store, stmt, 11, "a trial's detail", &detail, err) == 0) {
		const struct store_trial trial = {
			.search = sqlite3_column_int64(stmt, 0),
			.phase = store_column(stmt, 1),
			.block = sqlite3_column_int(stmt, 2),
			.config = store_column(stmt, 3),
			.status = store_column(stmt, 4),
			.value = store_column_real(stmt, 5),
			.samples = samples,
			.sample_count = count,
			.started = store_column_real(stmt, 7),
			.elapsed = store_column_real(stmt, 8),
			.disturbed = sqlite3_column_int(stmt, 9) != 0,
			.message = sqlite3_column_type(stmt, 10) == SQLITE_NULL ? NULL : store_column(stmt, 10),
			.detail = detail,
		};
		stop = fn(ctx, &trial) ? 1 : 0;
	}
	json_decref(detail);
	free(samples);
	return stop;
}

static int trials_each(const struct store *store, const char *sql, const struct store_field *fields, size_t count,
                       store_trial_fn fn, void *ctx, struct err *err) {
	sqlite3_stmt *stmt = store_query(store, sql, fields, count, err);
	int more = 0, stop = 0;
	while (stop == 0 && (more = store_step(store, stmt, err)) > 0)
		stop = trial_read(store, stmt, fn, ctx, err);
	sqlite3_finalize(stmt);
	return more < 0 || stop < 0 ? -1 : 0;
}

int store_trials_each(struct store *store, int64_t search, const char *phase, store_trial_fn fn, void *ctx,
                      struct err *err) {
	const struct store_field fields[] = {store_int(search), store_text(phase)};
	return trials_each(store, TRIALS("samples", "detail") " AND (?2 IS NULL OR phase = ?2) ORDER BY id", fields, 2, fn,
	                   ctx, err);
}

int store_outcomes_each(struct store *store, int64_t search, store_trial_fn fn, void *ctx, struct err *err) {
	const struct store_field fields[] = {store_int(search)};
	return trials_each(store, TRIALS("'[]'", "NULL") " ORDER BY id", fields, 1, fn, ctx, err);
}

int store_evaluations_each(struct store *store, int64_t search, int64_t until, store_trial_fn fn, void *ctx,
                           struct err *err) {
	const struct store_field fields[] = {store_int(search), store_int(until), store_int(EVALUATIONS_MAX)};
	return trials_each(
		store, TRIALS("samples", "NULL") " AND id <= ?2 AND phase IN ('baseline', 'search') ORDER BY id LIMIT ?3",
		fields, 3, fn, ctx, err);
}
