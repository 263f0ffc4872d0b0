/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of the store: the connection, and short helpers over SQLite. */
#ifndef TUNER_STORE_STORE_IMPL_H
#define TUNER_STORE_STORE_IMPL_H
#include <sqlite3.h>
#include <sys/types.h>

#include "base/sha256.h"
#include "tuner/store/columns_impl.h"
#include "tuner/store/store.h"

enum {
	STORE_APPLICATION_ID = 0x53575354, /* "SWST" in the file's header */
	STORE_VERSION = 1,                 /* user_version: raised when the tables change */
	STORE_BUSY_MS = 60000,             /* how long one process waits for another */
	STORE_BUSY_STOPPED_MS = 5000,      /* the same once the user wants to end */
	STORE_BUSY_NO_LOCKS_MS = 2000      /* the same where the file system says that it has no locks */
};

enum { STORE_ONLY }; /* the column of a query for one */

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

int store_schema_create(struct store *store, struct err *err); /* does nothing if another process was quicker */
int store_schema_verify(struct store *store, struct err *err); /* only reads */
int store_schema_step(struct store *store, struct err *err);   /* gives it the columns that an older file lacks */

int store_plans_make(struct store *store, struct err *err); /* their table, unless it exists */
int store_plans_exist(const struct store *store, bool *exist, struct err *err);

/* store_fail explains a result code to the user and returns -1. */
int store_fail(const struct store *store, int rc, struct err *err);
int store_exec(struct store *store, const char *sql, struct err *err);

struct store_field {
	enum cell type; /* a text, whole or real */
	union {
		const char *t; /* NULL: SQL's NULL; must live until the statement has run */
		int64_t i;
		double r; /* NAN: SQL's NULL */
	} as;
};
static inline struct store_field store_text(const char *t) {
	return (struct store_field){CELL_TEXT, {.t = t}};
}
static inline struct store_field store_int(int64_t i) {
	return (struct store_field){CELL_WHOLE, {.i = i}};
}
static inline struct store_field store_real(double r) {
	return (struct store_field){CELL_REAL, {.r = r}};
}

/* A statement with its parameters bound; NULL and err. The caller finalizes it. */
sqlite3_stmt *store_query(const struct store *store, const char *sql, const struct store_field *fields, size_t count,
                          struct err *err);
/* Binds the members of a struct to the parameters from `place` on. What it points to must live until the statement has
 * run. */
int store_bind(const struct store *store, sqlite3_stmt *stmt, int place, const struct store_column *columns, int count,
               const void *from, struct err *err);
/* The next row of a statement. 1: there is one, 0: the end, -1: failed, also where stmt is NULL. */
int store_step(const struct store *store, sqlite3_stmt *stmt, struct err *err);
/* The first cell of a query; 0 where it returns no row. */
int store_number(const struct store *store, const char *sql, const struct store_field *fields, size_t count,
                 int64_t *number, struct err *err);

#define STORE_NAME "work_name"
/* The name of a search q, which is that of what does the work, whatever the version that stored it. */
#define STORE_NAME_OF(q) STORE_NAME "(" q ".kernel, " q ".problem)"
/* Has a search q this name? The index finds those that are stored under it, or under that of an interpreter or
 * launcher, which the function answers with NULL where it is not told the problem. */
#define STORE_IS_NAMED(q, name)                                                                                        \
	q ".kernel IN (SELECT kernel FROM searches WHERE kernel = " name " OR " STORE_NAME                                 \
	  "(kernel, NULL) IS NULL) AND " STORE_NAME_OF(q) " = " name
#define STORE_JOINED " FROM searches q JOIN sessions s ON s.id = q.session"

/* All changes until store_whole_end are stored, or, if one failed, none is. */
int store_whole_begin(struct store *store, struct err *err);
int store_whole_end(struct store *store, bool failed, struct err *err); /* -1 if failed */
/* Ends a transaction that failed, and returns -1. */
int store_rollback(struct store *store);
/* Commits the trials that store_group_begin holds back, and flushes later commits. */
int store_settle(struct store *store, struct err *err);
/* A column as text, "" for NULL, which lives until the statement's next step; as JSON, NULL and err. */
const char *store_text_of(sqlite3_stmt *row, int column);
json_t *store_json_of(const struct store *store, sqlite3_stmt *row, int column, const char *what, struct err *err);

#define SHARE_SCHEMA "sweetspot-share/1"
void share_hash(const json_t *value, char out[SHA256_TEXT]); /* of the canonical text */
/* Checks each member of a document's searches. */
int share_check(const json_t *searches, struct err *err);
#endif
