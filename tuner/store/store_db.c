/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/store/store_impl.h"

#define ELSEWHERE "or choose another file with --store"

static const struct cause {
	int rc;
	enum err_code code;
	const char *what, *hint;
} causes[] = {
	{SQLITE_FULL, ERR_FAILED, "no space left", "free some space, " ELSEWHERE "; its earlier content is intact"},
	{SQLITE_READONLY, ERR_FAILED, "it cannot be written",
     "check the permissions of the file and its folder, " ELSEWHERE},
	{SQLITE_PERM, ERR_FAILED, "permission denied", "check the permissions of the file and its folder, " ELSEWHERE},
	{SQLITE_CANTOPEN, ERR_FAILED, "it cannot be opened", "check that its folder exists and is writable, " ELSEWHERE},
	{SQLITE_IOERR, ERR_FAILED, "input or output failed", "check the disk, " ELSEWHERE},
	{SQLITE_BUSY, ERR_FAILED, "another process keeps it locked", "wait until that process ends, " ELSEWHERE},
	{SQLITE_CORRUPT, ERR_USAGE, "it is damaged",
     "move it away (`sqlite3 FILE .recover` prints what can still be read), " ELSEWHERE},
	{SQLITE_NOTADB, ERR_USAGE, "it is damaged",
     "move it away (`sqlite3 FILE .recover` prints what can still be read), " ELSEWHERE},
};

static const struct cause *cause_find(int rc) {
	for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
		if (causes[i].rc == (rc & 0xff))
			return &causes[i];
	return NULL;
}

/* SQLite records the system's error for some failures only; store_exec clears errno for the others. ENOENT comes from a
 * second attempt of SQLite and does not explain anything. */
static int system_error(const struct store *store, int rc) {
	if ((rc & 0xff) != SQLITE_IOERR && (rc & 0xff) != SQLITE_CANTOPEN)
		return 0;
	int error = sqlite3_system_errno(store->db) ? sqlite3_system_errno(store->db) : errno;
	return error == ENOENT ? 0 : error;
}

int store_fail(const struct store *store, int rc, struct err *err) {
	int error = system_error(store, rc);
	/* SQLite has its own code for ENOSPC only. */
	if (error == EFBIG || error == EDQUOT || error == ENOSPC)
		rc = SQLITE_FULL;
	if ((rc & 0xff) == SQLITE_BUSY && store->busy_error == ENOLCK)
		return err_set(err, ERR_FAILED, "choose a file on another file system with --store",
		               "store %s: its file system cannot lock files (%s)", store->path, strerror(ENOLCK));
	const struct cause *cause = cause_find(rc);
	if (!cause)
		return err_set(err, ERR_FAILED, NULL, "store %s: %s", store->path,
		               store->db ? sqlite3_errmsg(store->db) : sqlite3_errstr(rc));
	return err_set(err, cause->code, cause->hint, "store %s: %s%s%s%s", store->path, cause->what, error ? " (" : "",
	               error ? strerror(error) : "", error ? ")" : "");
}

int store_exec(struct store *store, const char *sql, struct err *err) {
	errno = 0;
	int rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : store_fail(store, rc, err);
}

/* The stored form of JSON: compact, with members in their order and reals that read back the same. */
static int json_bind(sqlite3_stmt *stmt, int place, const json_t *json) {
	char *text = json ? json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)) : NULL;
	return sqlite3_bind_text(stmt, place, text, -1, free); /* NULL becomes SQL's */
}

static int samples_bind(sqlite3_stmt *stmt, int place, const struct cell_samples *samples) {
	js_auto json_t *array = js_reals(samples->values, samples->count);
	return json_bind(stmt, place, array);
}

static int cell_bind(sqlite3_stmt *stmt, int place, enum cell type, const void *from) {
	switch (type) {
	case CELL_TEXT:
	case CELL_NAME:
	case CELL_STATE:
	case CELL_OBJECT:
		return sqlite3_bind_text(stmt, place, *(const char *const *)from, -1, SQLITE_STATIC);
	case CELL_DOCUMENT:
		return json_bind(stmt, place, *(const json_t *const *)from);
	case CELL_SAMPLES:
		return samples_bind(stmt, place, from);
	case CELL_WHOLE:
		return sqlite3_bind_int64(stmt, place, *(const int64_t *)from);
	case CELL_NUMBER:
		return sqlite3_bind_int(stmt, place, *(const int *)from);
	case CELL_FLAG:
		return sqlite3_bind_int(stmt, place, *(const bool *)from);
	case CELL_REAL:
	case CELL_FINITE:
		return sqlite3_bind_double(stmt, place, *(const double *)from); /* NAN becomes NULL */
	}
	return SQLITE_MISUSE;
}

int store_step(const struct store *store, sqlite3_stmt *stmt, struct err *err) {
	int rc = stmt ? sqlite3_step(stmt) : SQLITE_DONE;
	if (stmt && (rc == SQLITE_ROW || rc == SQLITE_DONE))
		return rc == SQLITE_ROW;
	return stmt ? store_fail(store, rc, err) : -1;
}

int store_number(const struct store *store, const char *sql, const struct store_field *fields, size_t count,
                 int64_t *number, struct err *err) {
	sqlite3_stmt *stmt = store_query(store, sql, fields, count, err);
	int found = store_step(store, stmt, err);
	*number = found > 0 ? sqlite3_column_int64(stmt, STORE_ONLY) : 0;
	sqlite3_finalize(stmt);
	return found < 0 ? -1 : 0;
}

sqlite3_stmt *store_query(const struct store *store, const char *sql, const struct store_field *fields, size_t count,
                          struct err *err) {
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL);
	for (size_t i = 0; rc == SQLITE_OK && i < count; i++)
		rc = cell_bind(stmt, (int)i + 1, fields[i].type, &fields[i].as);
	if (rc == SQLITE_OK)
		return stmt;
	store_fail(store, rc, err);
	sqlite3_finalize(stmt);
	return NULL;
}

int store_rollback(struct store *store) {
	if (!sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	store->open = false;
	return -1;
}

const char *store_text_of(sqlite3_stmt *row, int column) {
	const unsigned char *text = sqlite3_column_text(row, column);
	return text ? (const char *)text : "";
}

json_t *store_json_of(const struct store *store, sqlite3_stmt *row, int column, const char *what, struct err *err) {
	const char *text = store_text_of(row, column);
	json_t *json = js_parse(text, (size_t)sqlite3_column_bytes(row, column), what, err);
	if (!json) {
		err_prefix(err, "store %s is damaged", store->path);
		err_hint(err, "move it away (`sqlite3 FILE .recover` prints what can still be read), " ELSEWHERE);
	}
	return json;
}

int store_bind(const struct store *store, sqlite3_stmt *stmt, int place, const struct store_column *columns, int count,
               const void *from, struct err *err) {
	int rc = stmt ? SQLITE_OK : SQLITE_MISUSE;
	for (int i = 0; rc == SQLITE_OK && i < count; i++)
		rc = cell_bind(stmt, place + i, columns[i].type, (const char *)from + columns[i].offset);
	return rc == SQLITE_OK ? 0 : stmt ? store_fail(store, rc, err) : -1;
}

#define SQL_TEXT(name)     " TEXT"
#define SQL_NAME(name)     " TEXT"
#define SQL_OBJECT(name)   " TEXT"
#define SQL_DOCUMENT(name) " TEXT"
#define SQL_SAMPLES(name)  " TEXT"
#define SQL_WHOLE(name)    " INTEGER"
#define SQL_NUMBER(name)   " INTEGER"
#define SQL_REAL(name)     " REAL"
#define SQL_FINITE(name)   " REAL"
#define SQL_FLAG(name)     " INTEGER CHECK (" name " IN (0, 1))"
#define SQL_STATE(name)    " TEXT DEFAULT 'running' CHECK (" name " IN ('running', 'interrupted', 'done', 'failed'))"
#define SQL_REQUIRED       " NOT NULL"
#define SQL_OPTIONAL       ""
#define SQL_LATER          ""

#define PROBED_REQUIRED(name) name ", "
#define PROBED_OPTIONAL(name) name ", "
#define PROBED_LATER(name)    ""
#define IS_REQUIRED           false
#define IS_OPTIONAL           false
#define IS_LATER              true

#define DECLARED(name, type, presence)    #name SQL_##type(#name) SQL_##presence
#define DECLARATION(name, type, presence) ", " DECLARED(name, type, presence)
#define PROBED(name, type, presence)      PROBED_##presence(#name)
#define SET(name, type, presence)         #name " = ?, "
#define MARK(name, type, presence)        "?, "

#define COLUMN(of, what, name, type, presence)                                                                         \
	STORE_COLUMN(of, what, name, CELL_##type, DECLARED(name, type, presence), IS_##presence)
#define OF_SESSION(name, type, presence) COLUMN(store_session, "a session's ", name, type, presence)
#define OF_SEARCH(name, type, presence)  COLUMN(store_search, "a search's ", name, type, presence)
#define OF_TRIAL(name, type, presence)   COLUMN(store_trial, "a trial's ", name, type, presence)
static const struct store_column session_columns[] = {SESSION_COLUMNS(OF_SESSION)};
static const struct store_column search_columns[] = {SEARCH_COLUMNS(OF_SEARCH)};
static const struct store_column trial_columns[] = {TRIAL_COLUMNS(OF_TRIAL)};
_Static_assert(offsetof(struct store_trial, sample_count) ==
                   offsetof(struct store_trial, samples) + offsetof(struct cell_samples, count),
               "struct cell_samples is in struct store_trial");

/* Times are seconds since 1970. `probe` fails to compile if the table or one of the columns is missing, `keys` or
 * others. The lists end with the number of a row, or with `of`: the row that it belongs to. */
#define TABLE(TITLE, table, array, keys, key_declarations, of, where)                                                  \
	.name = table, .columns = array, .begun = TITLE##_BEGUN(COLUMN_ONE) 0, .count = TITLE##_COLUMNS(COLUMN_ONE) 0,     \
	.create = "CREATE TABLE " table " (id INTEGER PRIMARY KEY" key_declarations TITLE##_COLUMNS(DECLARATION) ")",      \
	.probe = "SELECT " TITLE##_COLUMNS(PROBED) keys " FROM " table,                                                    \
	.select = "SELECT " TITLE##_COLUMNS(COLUMN_NAME) "id FROM " table " WHERE " where " = ? ORDER BY id",              \
	.insert = "INSERT INTO " table " (" TITLE##_COLUMNS(COLUMN_NAME) of ") VALUES (" TITLE##_COLUMNS(MARK) "?)"
#define END(TITLE, table, also)                                                                                        \
	.ended = "SELECT " TITLE##_ENDED(COLUMN_NAME) "id FROM " table " WHERE id = ?",                                    \
	.update = "UPDATE " table " SET " TITLE##_ENDED(SET) also " WHERE id = ?"

/* `finish` numbers the searches in the order they ended, because clocks may be set back. */
const struct store_table store_tables[TABLES] = {
	[TABLE_SESSIONS] = {TABLE(SESSION, "sessions", session_columns, "id", "", "id", "0"),
                        END(SESSION, "sessions", "seed = seed")},
	[TABLE_SEARCHES] = {TABLE(SEARCH, "searches", search_columns, "id, session, finish",
                              ", session INTEGER NOT NULL REFERENCES sessions(id), finish INTEGER", "session",
                              "session"),
                        END(SEARCH, "searches", "finish = (SELECT coalesce(max(finish), 0) + 1 FROM searches)")},
	[TABLE_TRIALS] = {TABLE(TRIAL, "trials", trial_columns, "id, search",
                            ", search INTEGER NOT NULL REFERENCES searches(id)", "search", "search")},
};

int store_begin(struct store *store, struct err *err) {
	return store_settle(store, err) || store_exec(store, "BEGIN IMMEDIATE", err) ? -1 : 0;
}

int store_plans_exist(const struct store *store, bool *exist, struct err *err) {
	int64_t tables;
	int failed = store_number(store, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'plans'", NULL,
	                          0, &tables, err);
	*exist = tables > 0;
	return failed;
}
