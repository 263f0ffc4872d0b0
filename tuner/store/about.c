/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/store/about.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "tuner/store/db.h"

static int64_t file_bytes(const char *path, const char *suffix) {
	struct stat info;
	char *name = mem_printf("%s%s", path, suffix);
	int64_t bytes = stat(name, &info) == 0 ? info.st_size : 0;
	free(name);
	return bytes;
}

int store_about(struct store *store, struct store_about *about, struct err *err) {
	sqlite3_stmt *stmt =
		store_query(store,
	                "SELECT (SELECT count(*) FROM sessions), (SELECT min(started) FROM sessions),"
	                " (SELECT max(started) FROM sessions), (SELECT count(*) FROM searches),"
	                " (SELECT count(*) FROM searches WHERE state = 'done'), (SELECT count(*) FROM trials)",
	                NULL, 0, err);
	int found = store_step(store, stmt, err);
	if (found > 0)
		*about = (struct store_about){.sessions = sqlite3_column_int64(stmt, 0),
		                              .first = store_column_real(stmt, 1),
		                              .last = store_column_real(stmt, 2),
		                              .searches = sqlite3_column_int64(stmt, 3),
		                              .done = sqlite3_column_int64(stmt, 4),
		                              .trials = sqlite3_column_int64(stmt, 5),
		                              .bytes = file_bytes(store->path, "") + file_bytes(store->path, "-wal")};
	sqlite3_finalize(stmt);
	return found > 0 ? 0 : -1;
}

int store_machine_count(struct store *store, size_t *count, struct err *err) {
	int64_t number = 0;
	int failed =
		store_number(store, "SELECT count(DISTINCT s.fingerprint) FROM searches q JOIN sessions s ON s.id = q.session",
	                 NULL, 0, &number, err);
	*count = (size_t)number;
	return failed;
}

int store_machine_trials(struct store *store, const char *fingerprint, int64_t *trials, struct err *err) {
	const struct store_field fields[] = {store_text(fingerprint)};
	return store_number(store,
	                    "SELECT count(*) FROM trials WHERE search IN (SELECT q.id FROM searches q"
	                    " JOIN sessions s ON s.id = q.session WHERE s.fingerprint = ?)",
	                    fields, 1, trials, err);
}

int store_last_trial(struct store *store, int64_t *trial, struct err *err) {
	return store_number(store, "SELECT coalesce(max(id), 0) FROM trials", NULL, 0, trial, err);
}
