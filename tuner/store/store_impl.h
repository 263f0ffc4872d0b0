/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef TUNER_STORE_STORE_IMPL_H
#define TUNER_STORE_STORE_IMPL_H
#include <sqlite3.h>
#include <sys/types.h>

#include "base/hash.h"
#include "tuner/store/store.h"

/* The columns of the store. A new one is a row here and a member of the same name in its struct of store.h: the tables,
 * the statements that read, write and merge them, and the check of an older file all follow from these rows.
 *
 *     X(name, type, presence)
 *
 * type: how the member is stored, a CELL_ of the enum below. presence: REQUIRED is NOT NULL; a column that is LATER may
 * be absent in the file of an earlier version, and is NULL in its rows. */

/* Two sessions, or two searches, are the same if all that was set when they began is equal. Of two states of the same
 * one the later stays: the columns that are set at its end decide, in their order. */
#define SESSION_BEGUN(X)                                                                                               \
	X(fingerprint, NAME, REQUIRED)                                                                                     \
	X(machine, DOCUMENT, REQUIRED)                                                                                     \
	X(version, NAME, REQUIRED)                                                                                         \
	X(command, NAME, REQUIRED)                                                                                         \
	X(seed, WHOLE, REQUIRED)                                                                                           \
	X(started, REAL, REQUIRED)                                                                                         \
	X(uuid, TEXT, LATER)
#define SESSION_ENDED(X)                                                                                               \
	X(ended, REAL, OPTIONAL)                                                                                           \
	X(state, STATE, REQUIRED)                                                                                          \
	X(noise_floor, REAL, OPTIONAL)
#define SESSION_COLUMNS(X) SESSION_BEGUN(X) SESSION_ENDED(X)

/* --resume compares these. */
#define SEARCH_TASK(X)                                                                                                 \
	X(kernel, NAME, REQUIRED)                                                                                          \
	X(source, TEXT, OPTIONAL)                                                                                          \
	X(problem, OBJECT, REQUIRED)                                                                                       \
	X(objective, TEXT, OPTIONAL)                                                                                       \
	X(strategy, TEXT, OPTIONAL)                                                                                        \
	X(seed, WHOLE, REQUIRED)                                                                                           \
	X(space_hash, TEXT, OPTIONAL)                                                                                      \
	X(cartesian, REAL, OPTIONAL)                                                                                       \
	X(valid, WHOLE, OPTIONAL)                                                                                          \
	X(baseline, OBJECT, OPTIONAL)
#define SEARCH_BEGUN(X) SEARCH_TASK(X) X(uuid, TEXT, LATER)
#define SEARCH_ENDED(X)                                                                                                \
	X(ended, REAL, OPTIONAL)                                                                                           \
	X(state, STATE, REQUIRED)                                                                                          \
	X(result, DOCUMENT, OPTIONAL)
#define SEARCH_COLUMNS(X) SEARCH_BEGUN(X) SEARCH_ENDED(X)

/* Samples and detail are most of a trial's bytes, so that queries without a use for them leave them out. */
#define TRIAL_FACTS(X)                                                                                                 \
	X(phase, NAME, REQUIRED)                                                                                           \
	X(block, NUMBER, REQUIRED)                                                                                         \
	X(config, OBJECT, REQUIRED)                                                                                        \
	X(status, NAME, REQUIRED)                                                                                          \
	X(value, FINITE, OPTIONAL)                                                                                         \
	X(started, REAL, REQUIRED)                                                                                         \
	X(elapsed, REAL, REQUIRED)                                                                                         \
	X(disturbed, FLAG, REQUIRED)                                                                                       \
	X(message, TEXT, OPTIONAL)
#define TRIAL_BEGUN(X) TRIAL_FACTS(X) X(samples, SAMPLES, REQUIRED) X(detail, DOCUMENT, OPTIONAL)
#define TRIAL_COLUMNS  TRIAL_BEGUN

/* X: the name in a list that goes on; 1 in a sum. */
#define COLUMN_NAME(name, type, presence) #name ", "
#define COLUMN_ONE(name, type, presence)  1 +

/* The members of struct store_row, each with its SQL for a search q of a session s. */
#define ROW_COLUMNS(X, machine_sql, result_sql, sessions_sql, searches_sql, trials_sql)                                \
	X(session, WHOLE, "s.id")                                                                                          \
	X(fingerprint, NAME, "s.fingerprint")                                                                              \
	X(command, NAME, "s.command")                                                                                      \
	X(version, NAME, "s.version")                                                                                      \
	X(kernel, NAME, STORE_NAME_OF("q"))                                                                                \
	X(source, NAME, "q.source")                                                                                        \
	X(problem, NAME, "q.problem")                                                                                      \
	X(objective, NAME, "q.objective")                                                                                  \
	X(strategy, NAME, "q.strategy")                                                                                    \
	X(state, NAME, "q.state")                                                                                          \
	X(seed, WHOLE, "q.seed")                                                                                           \
	X(valid, WHOLE, "q.valid")                                                                                         \
	X(started, REAL, "s.started")                                                                                      \
	X(ended, REAL, "q.ended")                                                                                          \
	X(noise_floor, REAL, "s.noise_floor")                                                                              \
	X(machine, DOCUMENT, machine_sql)                                                                                  \
	X(result, DOCUMENT, result_sql)                                                                                    \
	X(sessions, WHOLE, sessions_sql)                                                                                   \
	X(searches, WHOLE, searches_sql)                                                                                   \
	X(trials, WHOLE, trials_sql)

/* The members of struct store_about. */
#define ABOUT_COLUMNS(X)                                                                                               \
	X(sessions, WHOLE, "(SELECT count(*) FROM sessions)")                                                              \
	X(searches, WHOLE, "(SELECT count(*) FROM searches)")                                                              \
	X(done, WHOLE, "(SELECT count(*) FROM searches WHERE state = 'done')")                                             \
	X(trials, WHOLE, "(SELECT count(*) FROM trials)")                                                                  \
	X(first, REAL, "(SELECT min(started) FROM sessions)")                                                              \
	X(last, REAL, "(SELECT max(started) FROM sessions)")

enum cell {
	CELL_TEXT,     /* const char *; NULL where the column may be NULL */
	CELL_NAME,     /* const char *, "" for NULL */
	CELL_STATE,    /* const char *: "running", "interrupted", "failed" or "done" */
	CELL_OBJECT,   /* const char *: an object as canonical JSON */
	CELL_REAL,     /* double; NAN for NULL */
	CELL_FINITE,   /* a double that must not be infinite in a file from elsewhere */
	CELL_DOCUMENT, /* const json_t *: an object */
	CELL_SAMPLES,  /* struct cell_samples */
	CELL_WHOLE,    /* int64_t or uint64_t */
	CELL_NUMBER,   /* int */
	CELL_FLAG      /* bool */
};
/* Each type of a member with its first and last cell. */
#define CELL_FITS(member, cell)                                                                                        \
	((cell) >= _Generic(member, const char *: CELL_TEXT, double: CELL_REAL, default: CELL_OF(member)) &&               \
	 (cell) <= _Generic(member, const char *: CELL_OBJECT, double: CELL_FINITE, default: CELL_OF(member)))
#define CELL_OF(member)                                                                                                \
	_Generic(member, const json_t *: CELL_DOCUMENT, const double *: CELL_SAMPLES, int64_t: CELL_WHOLE,                 \
	         uint64_t: CELL_WHOLE, int: CELL_NUMBER, bool: CELL_FLAG, default: -1)

/* Two members of struct store_trial. */
struct cell_samples {
	const double *values;
	size_t count;
};

struct store_column {
	const char *name, *what; /* "detail", "a trial's detail" */
	const char *sql;         /* its declaration */
	enum cell type;
	bool later;
	size_t offset; /* of the member */
};

/* Does not compile if the member cannot hold the cell. */
#define STORE_COLUMN(of, of_what, member, cell, declaration, is_later)                                                 \
	{.name = #member,                                                                                                  \
	 .what = of_what #member,                                                                                          \
	 .sql = declaration,                                                                                               \
	 .type = cell,                                                                                                     \
	 .later = is_later,                                                                                                \
	 .offset = offsetof(struct of, member) + 0 * sizeof(char[CELL_FITS(((struct of *)0)->member, cell) ? 1 : -1])},

/* The statements end with the number of a row, or of the row that it belongs to, after the columns. */
struct store_table {
	const char *name, *create, *probe;
	const char *select, *insert; /* all rows of a session or search; a row */
	const char *ended, *update;  /* what is set at the end; NULL: nothing */
	const struct store_column *columns;
	int begun, count; /* columns: those that are set at the beginning come first */
};
enum { TABLE_SESSIONS, TABLE_SEARCHES, TABLE_TRIALS, TABLES };
extern const struct store_table store_tables[TABLES];

/* Shared by the files of the store: the connection, and short helpers over SQLite. */
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

/* Ends a transaction that failed, and returns -1. */
int store_rollback(struct store *store);
/* Commits the trials that store_group_begin holds back, and flushes later commits. */
int store_settle(struct store *store, struct err *err);
/* Begins a transaction. IMMEDIATE waits for the write lock before anything is read, so that two writers cannot
 * deadlock. */
int store_begin(struct store *store, struct err *err);
/* A column as text, "" for NULL, which lives until the statement's next step; as JSON, NULL and err. */
const char *store_text_of(sqlite3_stmt *row, int column);
json_t *store_json_of(const struct store *store, sqlite3_stmt *row, int column, const char *what, struct err *err);

#define SHARE_SCHEMA "sweetspot-share/1"
void share_hash(const json_t *value, char out[SHA256_TEXT]); /* of the canonical text */
/* Checks each member of a document's searches. */
int share_check(const json_t *searches, struct err *err);
#endif
