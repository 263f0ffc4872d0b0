/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/store/about.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "src/base/mem.h"
#include "tuner/store/db.h"

typedef int (*row_fn)(const struct store *store, sqlite3_stmt *row, void *fn, void *ctx, struct err *err);

static int rows_each(const struct store *store, sqlite3_stmt *stmt, row_fn row, void *fn, void *ctx, struct err *err) {
	int rc = SQLITE_DONE, result = stmt ? 0 : -1;
	while (result == 0 && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
		result = row(store, stmt, fn, ctx, err);
	if (stmt && rc != SQLITE_ROW && rc != SQLITE_DONE)
		result = store_fail(store, rc, err);
	sqlite3_finalize(stmt);
	return result < 0 ? -1 : 0;
}

static int64_t file_bytes(const char *path, const char *suffix) {
	struct stat info;
	char *name = mem_printf("%s%s", path, suffix);
	int64_t bytes = stat(name, &info) == 0 ? info.st_size : 0;
	free(name);
	return bytes;
}

static int about_row(const struct store *store, sqlite3_stmt *row, void *fn, void *ctx, struct err *err) {
	(void)store, (void)fn, (void)err;
	struct store_about *about = ctx;
	*about = (struct store_about){.sessions = sqlite3_column_int64(row, 0),
	                              .first = store_column_real(row, 1),
	                              .last = store_column_real(row, 2),
	                              .searches = sqlite3_column_int64(row, 3),
	                              .done = sqlite3_column_int64(row, 4),
	                              .trials = sqlite3_column_int64(row, 5)};
	return 0;
}

int store_about(struct store *store, struct store_about *about, struct err *err) {
	sqlite3_stmt *stmt =
		store_query(store,
	                "SELECT (SELECT count(*) FROM sessions), (SELECT min(started) FROM sessions),"
	                " (SELECT max(started) FROM sessions), (SELECT count(*) FROM searches),"
	                " (SELECT count(*) FROM searches WHERE state = 'done'), (SELECT count(*) FROM trials)",
	                NULL, 0, err);
	if (rows_each(store, stmt, about_row, NULL, about, err))
		return -1;
	about->bytes = file_bytes(store->path, "") + file_bytes(store->path, "-wal");
	return 0;
}

struct machine_fn {
	int (*fn)(void *ctx, const struct store_machine *machine);
};

static int machine_row(const struct store *store, sqlite3_stmt *row, void *fn, void *ctx, struct err *err) {
	json_t *json = store_column_json(store, row, 1, "a session's machine", err);
	if (!json)
		return -1;
	const struct store_machine machine = {.fingerprint = store_column(row, 0),
	                                      .machine = json,
	                                      .sessions = sqlite3_column_int64(row, 2),
	                                      .last = store_column_real(row, 3),
	                                      .searches = sqlite3_column_int64(row, 4)};
	int stop = ((struct machine_fn *)fn)->fn(ctx, &machine) != 0;
	json_decref(json);
	return stop;
}

int store_machines_each(struct store *store, int (*fn)(void *ctx, const struct store_machine *machine), void *ctx,
                        struct err *err) {
	struct machine_fn call = {fn};
	/* SQLite takes the machine from the row that has the maximum. */
	sqlite3_stmt *stmt =
		store_query(store,
	                "SELECT fingerprint, machine, count(*), max(started) AS last, (SELECT count(*) FROM searches q"
	                " JOIN sessions o ON o.id = q.session WHERE o.fingerprint = s.fingerprint) FROM sessions s"
	                " GROUP BY fingerprint ORDER BY last DESC",
	                NULL, 0, err);
	return rows_each(store, stmt, machine_row, &call, ctx, err);
}

static int number_row(const struct store *store, sqlite3_stmt *row, void *fn, void *ctx, struct err *err) {
	(void)store, (void)fn, (void)err;
	*(int64_t *)ctx = sqlite3_column_int64(row, 0);
	return 0;
}

int store_machine_trials(struct store *store, const char *fingerprint, int64_t *trials, struct err *err) {
	const struct store_field fields[] = {store_text(fingerprint)};
	sqlite3_stmt *stmt = store_query(store,
	                                 "SELECT count(*) FROM trials WHERE search IN (SELECT q.id FROM searches q"
	                                 " JOIN sessions s ON s.id = q.session WHERE s.fingerprint = ?)",
	                                 fields, 1, err);
	return rows_each(store, stmt, number_row, NULL, trials, err);
}

struct unfinished_fn {
	int (*fn)(void *ctx, const struct store_unfinished *search);
};

static int unfinished_row(const struct store *store, sqlite3_stmt *row, void *fn, void *ctx, struct err *err) {
	(void)store, (void)err;
	const struct store_unfinished search = {.kernel = store_column(row, 0),
	                                        .problem = store_column(row, 1),
	                                        .objective = store_column(row, 2),
	                                        .command = store_column(row, 3),
	                                        .started = store_column_real(row, 4),
	                                        .trials = sqlite3_column_int64(row, 5)};
	return ((struct unfinished_fn *)fn)->fn(ctx, &search) != 0;
}

int store_unfinished_each(struct store *store, const char *fingerprint,
                          int (*fn)(void *ctx, const struct store_unfinished *search), void *ctx, struct err *err) {
	struct unfinished_fn call = {fn};
	const struct store_field fields[] = {store_text(fingerprint)};
	sqlite3_stmt *stmt = store_query(
		store,
		"SELECT q.kernel, q.problem, q.objective, s.command, s.started,"
		" (SELECT count(*) FROM trials t WHERE t.search = q.id), max(q.id) AS newest"
		" FROM sessions s JOIN searches q ON q.session = s.id"
		" WHERE s.fingerprint = ?1 AND s.state IN ('running', 'interrupted') AND q.state IN ('running', 'interrupted')"
		" AND NOT EXISTS (SELECT 1 FROM searches d JOIN sessions e ON e.id = d.session WHERE e.fingerprint = ?1"
		" AND d.kernel = q.kernel AND d.problem = q.problem AND d.objective IS q.objective AND d.state = 'done'"
		" AND d.id > q.id)"
		" GROUP BY q.kernel, q.problem, q.objective ORDER BY newest DESC LIMIT 100",
		fields, 1, err);
	return rows_each(store, stmt, unfinished_row, &call, ctx, err);
}
