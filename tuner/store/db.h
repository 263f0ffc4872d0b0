/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of the store: the connection, and short helpers over SQLite. Only tuner/store includes it. */
#ifndef TUNER_STORE_DB_H
#define TUNER_STORE_DB_H
#include <sqlite3.h>
#include <sys/types.h>

#include "tuner/store/store.h"

enum {
	STORE_APPLICATION_ID = 0x53575354, /* "SWST" in the file's header */
	STORE_VERSION = 1,                 /* user_version: raised when the tables change */
	STORE_BUSY_MS = 60000,             /* how long one process waits for another */
	STORE_BUSY_STOPPED_MS = 5000,      /* the same once the user wants to end */
	STORE_BUSY_NO_LOCKS_MS = 2000      /* the same where the file system says that it has no locks */
};

struct store {
	sqlite3 *db;
	char *path;
	enum store_mode mode;
	dev_t device; /* of the file that was opened */
	ino_t inode;
	double busy_since;    /* monotonic: when the wait for another process began */
	int busy_error;       /* ENOLCK: it was not for another process, because files cannot be locked here */
	bool wal;             /* the log is written beside the file */
	double synced;        /* monotonic: when a trial was last flushed to the disk */
	bool lazy;            /* commits are not flushed at the moment */
	bool grouping, open;  /* trials are committed together; their transaction is open */
	bool whole;           /* store_whole_begin: one transaction holds all changes */
	sqlite3_stmt *insert; /* inserts a trial; NULL: not prepared yet */
};

/* file.c: examines a path without SQLite, so that nothing is written to a foreign file. */
enum store_file { STORE_FILE_ABSENT, STORE_FILE_EMPTY, STORE_FILE_STORE };
int store_file_probe(const char *path, enum store_file *kind, struct err *err);
bool store_file_beside(const char *path, const char *suffix); /* does a non-empty PATH-wal or PATH-journal exist? */

/* schema.c */
int store_schema_create(struct store *store, struct err *err); /* does nothing if another process was quicker */
int store_schema_verify(struct store *store, struct err *err); /* only reads */
int store_schema_step(struct store *store, struct err *err);   /* adds the columns that an older file lacks */
bool store_has_uuids(const struct store *store);

int store_plans_make(struct store *store, struct err *err); /* plan.c: their table, unless it exists */
int store_plans_exist(const struct store *store, bool *exist, struct err *err);

void store_there_note(struct store *store); /* there.c: which file was opened */

/* busy.c: sqlite3_busy_handler for a struct store */
int store_busy(void *context, int tries);

/* db.c. store_fail explains a result code to the user and returns -1. */
int store_fail(const struct store *store, int rc, struct err *err);
int store_exec(struct store *store, const char *sql, struct err *err);

struct store_field {
	enum { STORE_TEXT, STORE_INT, STORE_REAL } type;
	union {
		const char *t; /* NULL: SQL's NULL; must live until the statement has run */
		int64_t i;
		double r; /* NAN: SQL's NULL */
	} as;
};
static inline struct store_field store_text(const char *t) {
	return (struct store_field){STORE_TEXT, {.t = t}};
}
static inline struct store_field store_int(int64_t i) {
	return (struct store_field){STORE_INT, {.i = i}};
}
static inline struct store_field store_real(double r) {
	return (struct store_field){STORE_REAL, {.r = r}};
}

/* A statement with its parameters bound; NULL and err. The caller finalizes it. */
sqlite3_stmt *store_query(const struct store *store, const char *sql, const struct store_field *fields, size_t count,
                          struct err *err);
/* Binds the parameters of a statement that is used again. */
int store_bind(const struct store *store, sqlite3_stmt *stmt, const struct store_field *fields, size_t count,
               struct err *err);
/* The next row of a statement. 1: there is one, 0: the end, -1: failed, also where stmt is NULL. */
int store_step(const struct store *store, sqlite3_stmt *stmt, struct err *err);
/* The first cell of a query; 0 where it returns no row. */
int store_number(const struct store *store, const char *sql, const struct store_field *fields, size_t count,
                 int64_t *number, struct err *err);
/* The columns of struct store_row from searches q and sessions s, and the rows of a query that selects them. Finalizes
 * stmt, which may be NULL. */
#define STORE_NAME "work_name"
/* The name of a search q, which is that of what does the work, whatever the version that stored it. */
#define STORE_NAME_OF(q) STORE_NAME "(" q ".kernel, " q ".problem)"
/* Has a search q this name? The index finds those that are stored under it, or under that of an interpreter or
 * launcher, which the function answers with NULL where it is not told the problem. */
#define STORE_IS_NAMED(q, name)                                                                                        \
	q ".kernel IN (SELECT kernel FROM searches WHERE kernel = " name " OR " STORE_NAME                                 \
	  "(kernel, NULL) IS NULL) AND " STORE_NAME_OF(q) " = " name
#define STORE_ROW(machine, result, counts, from)                                                                       \
	"SELECT q.id, s.id, s.fingerprint, s.command, s.version, " STORE_NAME_OF(                                          \
		"q") ", q.source, q.problem, q.objective, q.strategy,"                                                         \
			 " q.state, q.seed, q.valid, s.started, q.ended, s.noise_floor, " machine ", " result ", " counts from
#define STORE_JOINED " FROM searches q JOIN sessions s ON s.id = q.session"
int store_rows_each(const struct store *store, sqlite3_stmt *stmt, store_row_fn fn, void *ctx, struct err *err);
/* All changes until store_whole_end are stored, or, if one failed, none is. */
int store_whole_begin(struct store *store, struct err *err);
int store_whole_end(struct store *store, bool failed, struct err *err); /* -1 if failed */
/* Ends a transaction that failed, and returns -1. */
int store_rollback(struct store *store);
/* One INSERT or UPDATE of exactly one row, committed. id may be NULL, else it gets the row's. */
int store_change(struct store *store, const char *sql, const struct store_field *fields, size_t count, int64_t *id,
                 struct err *err);
/* Commits the trials that store_group_begin holds back, and flushes later commits. */
int store_settle(struct store *store, struct err *err);
/* A column as text; "" for NULL. Lives until the statement's next step. */
const char *store_column(sqlite3_stmt *stmt, int column);
double store_column_real(sqlite3_stmt *stmt, int column); /* NAN for NULL */
/* A column that holds a JSON array of numbers; NAN for other elements. The caller frees the array. */
int store_column_reals(const struct store *store, sqlite3_stmt *stmt, int column, double **reals, size_t *count,
                       struct err *err);
/* A column that holds JSON: a new reference, or NULL and err if it does not parse. */
json_t *store_column_json(const struct store *store, sqlite3_stmt *stmt, int column, const char *what, struct err *err);
/* The same for a column that may be NULL; -1 if it does not parse. */
int store_column_json_or_null(const struct store *store, sqlite3_stmt *stmt, int column, const char *what,
                              json_t **json, struct err *err);

#endif
