/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "tuner/store/db.h"

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

static int bind_field(sqlite3_stmt *stmt, int place, const struct store_field *field) {
	switch (field->type) {
	case STORE_TEXT:
		return sqlite3_bind_text(stmt, place, field->as.t, -1, SQLITE_STATIC);
	case STORE_INT:
		return sqlite3_bind_int64(stmt, place, field->as.i);
	case STORE_REAL:
		return sqlite3_bind_double(stmt, place, field->as.r); /* NAN becomes NULL */
	}
	return SQLITE_MISUSE;
}

int store_bind(const struct store *store, sqlite3_stmt *stmt, const struct store_field *fields, size_t count,
               struct err *err) {
	int rc = SQLITE_OK;
	for (size_t i = 0; rc == SQLITE_OK && i < count; i++)
		rc = bind_field(stmt, (int)i + 1, &fields[i]);
	return rc == SQLITE_OK ? 0 : store_fail(store, rc, err);
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
	*number = found > 0 ? sqlite3_column_int64(stmt, 0) : 0;
	sqlite3_finalize(stmt);
	return found < 0 ? -1 : 0;
}

sqlite3_stmt *store_query(const struct store *store, const char *sql, const struct store_field *fields, size_t count,
                          struct err *err) {
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL);
	for (size_t i = 0; rc == SQLITE_OK && i < count; i++)
		rc = bind_field(stmt, (int)i + 1, &fields[i]);
	if (rc == SQLITE_OK)
		return stmt;
	store_fail(store, rc, err);
	sqlite3_finalize(stmt);
	return NULL;
}

static int change_row(struct store *store, const char *sql, const struct store_field *fields, size_t count,
                      struct err *err) {
	sqlite3_stmt *stmt = store_query(store, sql, fields, count, err);
	if (!stmt)
		return -1;
	errno = 0;
	int rc = sqlite3_step(stmt);
	int result = 0;
	if (rc != SQLITE_DONE)
		result = store_fail(store, rc, err);
	else if (sqlite3_changes(store->db) != 1)
		result = err_set(err, ERR_FAILED, NULL, "store %s: the row to change does not exist", store->path);
	sqlite3_finalize(stmt);
	return result;
}

/* IMMEDIATE waits for the write lock before anything is read, so that two writers cannot deadlock. */
static int store_begin(struct store *store, struct err *err) {
	return store_settle(store, err) || store_exec(store, "BEGIN IMMEDIATE", err) ? -1 : 0;
}

int store_change(struct store *store, const char *sql, const struct store_field *fields, size_t count, int64_t *id,
                 struct err *err) {
	bool inside = store->whole;
	if (!inside && store_begin(store, err))
		return -1;
	if (change_row(store, sql, fields, count, err) == 0 && (inside || store_exec(store, "COMMIT", err) == 0)) {
		if (id)
			*id = sqlite3_last_insert_rowid(store->db);
		return 0;
	}
	return store_rollback(store);
}

int store_whole_begin(struct store *store, struct err *err) {
	if (store_begin(store, err))
		return -1;
	store->whole = true;
	return 0;
}

int store_whole_end(struct store *store, bool failed, struct err *err) {
	store->whole = false;
	return failed || store_exec(store, "COMMIT", err) ? store_rollback(store) : 0;
}

int store_rollback(struct store *store) {
	if (!sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	store->open = false;
	return -1;
}

double store_column_real(sqlite3_stmt *stmt, int column) {
	return sqlite3_column_type(stmt, column) == SQLITE_NULL ? NAN : sqlite3_column_double(stmt, column);
}

const char *store_column(sqlite3_stmt *stmt, int column) {
	const unsigned char *text = sqlite3_column_text(stmt, column);
	return text ? (const char *)text : "";
}

json_t *store_column_json(const struct store *store, sqlite3_stmt *stmt, int column, const char *what,
                          struct err *err) {
	const char *text = store_column(stmt, column);
	json_t *json = js_parse(text, (size_t)sqlite3_column_bytes(stmt, column), what, err);
	if (!json) {
		err_prefix(err, "store %s is damaged", store->path);
		err_hint(err, "move it away (`sqlite3 FILE .recover` prints what can still be read), " ELSEWHERE);
	}
	return json;
}

int store_column_json_or_null(const struct store *store, sqlite3_stmt *stmt, int column, const char *what,
                              json_t **json, struct err *err) {
	*json = NULL;
	if (sqlite3_column_type(stmt, column) == SQLITE_NULL)
		return 0;
	*json = store_column_json(store, stmt, column, what, err);
	return *json ? 0 : -1;
}
