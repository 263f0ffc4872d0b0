/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of the store. A new one is a row here and a member of the same name in its struct of store.h: the tables,
 * the statements that read, write and merge them, and the check of an older file all follow from these rows.
 *
 *     X(name, type, presence)
 *
 * type: how the member is stored, a CELL_ of the enum below. presence: REQUIRED is NOT NULL; a column that is LATER may
 * be absent in the file of an earlier version, and is NULL in its rows. */
#ifndef TUNER_STORE_COLUMNS_IMPL_H
#define TUNER_STORE_COLUMNS_IMPL_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
#endif
