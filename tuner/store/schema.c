/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "tuner/store/db.h"

/* The check reads every page, which takes 2 to 3 ms a MiB (measured). Larger stores are checked only where they are
 * read. */
enum { QUICK_CHECK_BYTES = 4 << 20 };

#define STATES "CHECK (state IN ('running', 'interrupted', 'done', 'failed'))"

/* Times are seconds since 1970. `finish` numbers the searches in the order they ended, because clocks may be set back.
 */
static const char *const tables[] = {
	"CREATE TABLE sessions (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL, machine TEXT NOT NULL,"
	" version TEXT NOT NULL, command TEXT NOT NULL, seed INTEGER NOT NULL, started REAL NOT NULL, ended REAL,"
	" state TEXT NOT NULL DEFAULT 'running' " STATES ", noise_floor REAL, uuid TEXT)",

	"CREATE TABLE searches (id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES sessions(id),"
	" kernel TEXT NOT NULL, source TEXT, problem TEXT NOT NULL, objective TEXT, strategy TEXT, seed INTEGER NOT NULL,"
	" space_hash TEXT, cartesian REAL, valid INTEGER, baseline TEXT, ended REAL, finish INTEGER,"
	" state TEXT NOT NULL DEFAULT 'running' " STATES ", result TEXT, uuid TEXT)",

	"CREATE TABLE trials (id INTEGER PRIMARY KEY, search INTEGER NOT NULL REFERENCES searches(id),"
	" phase TEXT NOT NULL, block INTEGER NOT NULL, config TEXT NOT NULL, status TEXT NOT NULL, value REAL,"
	" samples TEXT NOT NULL, started REAL NOT NULL, elapsed REAL NOT NULL,"
	" disturbed INTEGER NOT NULL CHECK (disturbed IN (0, 1)), message TEXT, detail TEXT)",
};

static const char *const indexes[] = {
	"CREATE INDEX searches_of_session ON searches(session)",
	"CREATE INDEX searches_of_kernel ON searches(kernel)",
	"CREATE INDEX searches_in_order ON searches(finish)",
	"CREATE INDEX trials_of_search ON trials(search)",
};

/* These fail to compile if a table or a column is missing. */
static const char *const probes[] = {
	"SELECT id, fingerprint, machine, version, command, seed, started, ended, state, noise_floor FROM sessions",
	"SELECT id, session, kernel, source, problem, objective, strategy, seed, space_hash, cartesian, valid, baseline,"
	" ended, finish, state, result FROM searches",
	"SELECT id, search, phase, block, config, status, value, samples, started, elapsed, disturbed, message, detail"
	" FROM trials",
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static int create_all(struct store *store, struct err *err) {
	/* SQLite itself checks the types if it is new enough. */
	const char *strict = sqlite3_libversion_number() >= 3037000 ? " STRICT" : "";
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < COUNT(tables); i++) {
		char *sql = mem_printf("%s%s", tables[i], strict);
		rc = store_exec(store, sql, err);
		free(sql);
	}
	for (size_t i = 0; rc == 0 && i < COUNT(indexes); i++)
		rc = store_exec(store, indexes[i], err);
	if (rc)
		return -1;
	char *sql = mem_printf("PRAGMA application_id = %d; PRAGMA user_version = %d", STORE_APPLICATION_ID, STORE_VERSION);
	rc = store_exec(store, sql, err);
	free(sql);
	return rc;
}

/* Uses one transaction, before the switch to WAL, so that the file is either a whole store with its application_id or
 * empty. */
int store_schema_create(struct store *store, struct err *err) {
	int64_t objects;
	if (store_exec(store, "BEGIN EXCLUSIVE", err))
		return -1;
	int rc = store_number(store, "SELECT count(*) FROM sqlite_schema", NULL, 0, &objects, err);
	if (rc == 0 && objects == 0)
		rc = create_all(store, err);
	if (rc == 0 && store_exec(store, "COMMIT", err) == 0)
		return 0;
	return store_rollback(store);
}

static int quick_check(const struct store *store, struct err *err) {
	struct stat st;
	if (stat(store->path, &st) != 0 || st.st_size > QUICK_CHECK_BYTES)
		return 0;
	sqlite3_stmt *stmt = store_query(store, "PRAGMA quick_check(1)", NULL, 0, err);
	int found = store_step(store, stmt, err);
	if (found >= 0 && (found == 0 || strcmp(store_column(stmt, 0), "ok") != 0))
		found = store_fail(store, SQLITE_CORRUPT, err);
	sqlite3_finalize(stmt);
	return found < 0 ? -1 : 0;
}

static int probe_tables(const struct store *store, struct err *err) {
	for (size_t i = 0; i < COUNT(probes); i++) {
		sqlite3_stmt *stmt = NULL;
		int rc = sqlite3_prepare_v2(store->db, probes[i], -1, &stmt, NULL);
		sqlite3_finalize(stmt);
		if (rc != SQLITE_OK)
			return store_fail(store, rc == SQLITE_ERROR ? SQLITE_CORRUPT : rc, err);
	}
	return 0;
}

bool store_has_uuids(const struct store *store) {
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(store->db, "SELECT s.uuid, q.uuid FROM sessions s, searches q", -1, &stmt, NULL);
	sqlite3_finalize(stmt);
	return rc == SQLITE_OK;
}

/* Older programs neither read nor fill the new columns, so that the format keeps its number. */
int store_schema_step(struct store *store, struct err *err) {
	if (store_has_uuids(store))
		return 0;
	if (store_exec(store, "BEGIN IMMEDIATE", err))
		return -1;
	if ((store_has_uuids(store) || store_exec(store,
	                                          "ALTER TABLE sessions ADD COLUMN uuid TEXT;"
	                                          "ALTER TABLE searches ADD COLUMN uuid TEXT",
	                                          err) == 0) &&
	    store_exec(store, "COMMIT", err) == 0)
		return 0;
	return store_rollback(store);
}

int store_schema_verify(struct store *store, struct err *err) {
	int64_t id, version, code;
	/* A store never has views or triggers: someone else put them there, and they could run code. */
	if (store_number(store, "PRAGMA application_id", NULL, 0, &id, err) ||
	    store_number(store, "PRAGMA user_version", NULL, 0, &version, err) ||
	    store_number(store, "SELECT count(*) FROM sqlite_schema WHERE type IN ('trigger', 'view')", NULL, 0, &code,
	                 err))
		return -1;
	if (id != STORE_APPLICATION_ID || version != STORE_VERSION || code)
		return store_fail(store, SQLITE_CORRUPT, err);
	return probe_tables(store, err) || quick_check(store, err) ? -1 : 0;
}
