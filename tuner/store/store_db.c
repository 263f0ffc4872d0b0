/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/base/mem.h"
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
		rc = bind_field(stmt, (int)i + 1, &fields[i]);
	if (rc == SQLITE_OK)
		return stmt;
	store_fail(store, rc, err);
	sqlite3_finalize(stmt);
	return NULL;
}

static int change_row(const struct store *store, sqlite3_stmt *stmt, struct err *err) {
	errno = 0;
	int rc = sqlite3_step(stmt);
	if (rc != SQLITE_DONE)
		return store_fail(store, rc, err);
	if (sqlite3_changes(store->db) != 1)
		return err_set(err, ERR_FAILED, NULL, "store %s: the row to change does not exist", store->path);
	return 0;
}

/* IMMEDIATE waits for the write lock before anything is read, so that two writers cannot deadlock. */
static int store_begin(struct store *store, struct err *err) {
	return store_settle(store, err) || store_exec(store, "BEGIN IMMEDIATE", err) ? -1 : 0;
}

int store_change(struct store *store, sqlite3_stmt *stmt, int64_t *id, struct err *err) {
	bool inside = store->whole;
	int failed = !stmt || (!inside && store_begin(store, err)) || change_row(store, stmt, err);
	sqlite3_finalize(stmt);
	if (failed || (!inside && store_exec(store, "COMMIT", err)))
		return store_rollback(store);
	if (id)
		*id = sqlite3_last_insert_rowid(store->db);
	return 0;
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

/* Reads a JSON number of at most 15 digits before the point. Returns its end, or NULL for anything else. */
static const char *real_read(const char *text, double *value) {
	const char *at = text + (*text == '-'), *digits = at;
	char *end;
	at += strspn(at, "0123456789");
	bool whole = *at != '.' && *at != 'e' && *at != 'E', good = at > digits && at - digits <= 15;
	good = good && (*digits != '0' || at == digits + 1);
	if (*at == '.') {
		size_t count = strspn(++at, "0123456789");
		good = good && count > 0;
		at += count;
	}
	if (!whole && (*at == 'e' || *at == 'E')) {
		at += 1 + (at[1] == '+' || at[1] == '-');
		size_t count = strspn(at, "0123456789");
		good = good && count > 0;
		at += count;
	}
	*value = good ? strtod(text, &end) : NAN;
	return good && end == at && isfinite(*value) ? at : NULL;
}

/* Reads "[1.5,2]", the usual form of samples, without a JSON parser, because a store has many trials. False for any
 * other form. */
static bool reals_read(const char *text, double *samples, size_t *count) {
	bool more = text[0] == '[' && text[1] != ']';
	*count = 0;
	if (!more)
		return strcmp(text, "[]") == 0;
	while (more) {
		text += text[1] == ' ' ? 2 : 1;
		text = real_read(text, &samples[(*count)++]);
		if (!text)
			return false;
		more = *text == ',';
	}
	return strcmp(text, "]") == 0;
}

static size_t commas(const char *text) {
	size_t count = 0;
	for (; *text; text++)
		count += *text == ',';
	return count;
}

/* An array of numbers; NAN for other elements. */
static int samples_of(const struct store *store, sqlite3_stmt *row, int column, const char *what,
                      struct cell_samples *samples, struct err *err) {
	const char *text = store_text_of(row, column);
	double *values = mem_alloc(commas(text) + 1, sizeof *values);
	samples->values = values;
	if (sqlite3_column_bytes(row, column) == (int)strlen(text) && reals_read(text, values, &samples->count))
		return 0;
	json_t *array = store_json_of(store, row, column, what, err), *sample;
	size_t i;
	samples->count = json_array_size(array);
	samples->values = values = mem_grow(values, samples->count + 1, sizeof *values);
	json_array_foreach(array, i, sample) values[i] = json_is_number(sample) ? json_number_value(sample) : NAN;
	json_decref(array);
	return array ? 0 : -1;
}

static int cell_fill(const struct store *store, sqlite3_stmt *row, int at, const struct store_column *column, void *to,
                     struct err *err) {
	bool is_null = sqlite3_column_type(row, at) == SQLITE_NULL;
	switch (column->type) {
	case CELL_TEXT:
	case CELL_NAME:
	case CELL_STATE:
	case CELL_OBJECT:
		*(const char **)to = is_null && column->type == CELL_TEXT ? NULL : store_text_of(row, at);
		return 0;
	case CELL_DOCUMENT:
		*(const json_t **)to = is_null ? NULL : store_json_of(store, row, at, column->what, err);
		return is_null || *(const json_t **)to ? 0 : -1;
	case CELL_SAMPLES:
		return samples_of(store, row, at, column->what, to, err);
	case CELL_WHOLE:
		*(int64_t *)to = sqlite3_column_int64(row, at);
		return 0;
	case CELL_NUMBER:
		*(int *)to = sqlite3_column_int(row, at);
		return 0;
	case CELL_FLAG:
		*(bool *)to = sqlite3_column_int(row, at) != 0;
		return 0;
	case CELL_REAL:
	case CELL_FINITE:
		*(double *)to = is_null ? NAN : sqlite3_column_double(row, at);
		return 0;
	}
	return -1;
}

int store_fill(const struct store *store, sqlite3_stmt *row, const struct store_column *columns, int count, void *to,
               struct err *err) {
	for (int i = 0; i < count; i++)
		if (cell_fill(store, row, i, &columns[i], (char *)to + columns[i].offset, err))
			return -1;
	return 0;
}

void store_clear(const struct store_column *columns, int count, void *to) {
	for (int i = 0; i < count; i++) {
		void *at = (char *)to + columns[i].offset;
		if (columns[i].type == CELL_DOCUMENT)
			json_decref(*(json_t **)at);
		else if (columns[i].type == CELL_SAMPLES)
			free(*(double **)at);
	}
}

/* The stored form of JSON: compact, with members in their order and reals that read back the same. */
static int json_bind(sqlite3_stmt *stmt, int place, const json_t *json) {
	char *text = json ? json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)) : NULL;
	return sqlite3_bind_text(stmt, place, text, -1, free); /* NULL becomes SQL's */
}

static int samples_bind(sqlite3_stmt *stmt, int place, const struct cell_samples *samples) {
	json_t *array = js_reals(samples->values, samples->count);
	int rc = json_bind(stmt, place, array);
	json_decref(array);
	return rc;
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

int store_bind(const struct store *store, sqlite3_stmt *stmt, int place, const struct store_column *columns, int count,
               const void *from, struct err *err) {
	int rc = stmt ? SQLITE_OK : SQLITE_MISUSE;
	for (int i = 0; rc == SQLITE_OK && i < count; i++)
		rc = cell_bind(stmt, place + i, columns[i].type, (const char *)from + columns[i].offset);
	return rc == SQLITE_OK ? 0 : stmt ? store_fail(store, rc, err) : -1;
}
