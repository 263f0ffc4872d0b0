/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every query for searches selects the same columns, so that one reader serves all of them. */
#include <config.h>

#include "base/json/js.h"
#include "tuner/store/db.h"

enum { RELATIVES_MAX = 256, UNFINISHED_MAX = 100, UNLIMITED = -1 };

/* A missing machine means that the store is damaged, which the parser reports for the empty text. */
#define MACHINE "coalesce(s.machine, '')"

/* In all of them ?1 is the fingerprint, ?2 the kernel, ?3 the objective, ?4 the number of rows at most; in results, ?5
 * the latest end, in searches the only search. */
#define SEARCHES(where)                                                                                                \
	STORE_ROW("NULL", "q.result", "0, 0, 0",                                                                           \
	          STORE_JOINED " WHERE (?1 IS NULL OR (s.fingerprint = ?1 AND s.command <> '" STORE_IMPORT "'))"           \
	                       " AND (?5 = 0 OR q.id = ?5) AND " where " ORDER BY q.id LIMIT ?4")
static const char searches[] = SEARCHES("?2 IS NULL"), searches_of[] = SEARCHES(STORE_IS_NAMED("q", "?2"));

#define NAMES(where)                                                                                                   \
	STORE_ROW("NULL", "NULL", "0, 0, 0",                                                                               \
	          STORE_JOINED " WHERE q.id IN (SELECT max(o.id) FROM searches o JOIN sessions p ON p.id = o.session"      \
	                       " WHERE (?1 IS NULL OR (p.fingerprint = ?1 AND p.command <> '" STORE_IMPORT                 \
	                       "')) AND " where " GROUP BY " STORE_NAME_OF("o") ") ORDER BY q.id LIMIT ?4")
static const char names[] = NAMES("?2 IS NULL"), names_of[] = NAMES(STORE_IS_NAMED("o", "?2"));

/* `finish` counts the searches that ended. A search that was interrupted before its proof has a result as well, which
 * counts only where nothing was proven. */
#define PROVEN_FIRST "1000000000000"

/* The inner query finds the newest of each without reading results, because SQLite takes o.id from the row that has the
 * maximum (sqlite.org/lang_select.html, "Bare columns in an aggregate query"). */
#define RESULTS(where)                                                                                                 \
	STORE_ROW(MACHINE, "q.result", "0, 0, 0",                                                                          \
	          " FROM (SELECT o.id AS id, o.finish AS newest, max((o.state = 'done') * " PROVEN_FIRST " + o.finish)"    \
	          " FROM searches o JOIN sessions p ON p.id = o.session"                                                   \
	          " WHERE o.state IN ('done', 'interrupted') AND o.result IS NOT NULL"                                     \
	          " AND (?1 IS NULL OR p.fingerprint = ?1) AND (?5 = 0 OR o.ended <= ?5) AND " where                       \
	          " GROUP BY p.fingerprint, " STORE_NAME_OF(                                                               \
				  "o") ", o.problem, o.objective ORDER BY newest DESC LIMIT ?4) n"                                     \
	                   " JOIN searches q ON q.id = n.id JOIN sessions s ON s.id = q.session ORDER BY n.newest")
static const char results[] = RESULTS("?2 IS NULL"), results_of[] = RESULTS(STORE_IS_NAMED("o", "?2"));

/* Later searches than ?1, of the same, that ended before a proof: newest first, up to ?2 if it is not 0. */
static const char later[] =
	STORE_ROW(MACHINE, "q.result", "0, 0, 0",
              " FROM searches o JOIN sessions p ON p.id = o.session JOIN searches q ON q.kernel = o.kernel"
              " AND q.problem = o.problem AND q.objective IS o.objective AND q.finish > o.finish"
              " JOIN sessions s ON s.id = q.session AND s.fingerprint = p.fingerprint"
              " WHERE o.id = ?1 AND q.state = 'interrupted' AND q.result IS NOT NULL AND (?2 = 0 OR q.ended <= ?2)"
              " ORDER BY q.finish DESC LIMIT 100");

static const char shared[] = STORE_ROW(MACHINE, "NULL", "0, 0, 0", STORE_JOINED " ORDER BY q.id LIMIT ?4");

static const char relatives[] =
	STORE_ROW(MACHINE, "NULL", "0, 0, 0",
              STORE_JOINED " WHERE " STORE_IS_NAMED("q", "?2") " AND q.objective = ?3 ORDER BY q.id DESC LIMIT ?4");

static const char unfinished[] =
	STORE_ROW("NULL", "NULL", "0, 0, (SELECT count(*) FROM trials t WHERE t.search = q.id)",
              STORE_JOINED " WHERE q.id IN (SELECT max(o.id) FROM searches o JOIN sessions p ON p.id = o.session"
                           " WHERE p.fingerprint = ?1 AND p.state IN ('running', 'interrupted')"
                           " AND o.state IN ('running', 'interrupted')"
                           " AND NOT EXISTS (SELECT 1 FROM searches d JOIN sessions e ON e.id = d.session"
                           " WHERE e.fingerprint = ?1 AND d.kernel = o.kernel AND d.problem = o.problem"
                           " AND d.objective IS o.objective AND d.state = 'done' AND d.id > o.id)"
                           " GROUP BY " STORE_NAME_OF("o") ", o.problem, o.objective) ORDER BY q.id DESC LIMIT ?4");

/* Bare columns again: the session is the newest of its machine. */
static const char machines[] =
	STORE_ROW(MACHINE, "NULL",
              "s.sessions, (SELECT count(*) FROM searches a JOIN sessions b ON b.id = a.session"
              " WHERE b.fingerprint = s.fingerprint), 0",
              " FROM (SELECT *, count(*) AS sessions, max(started) AS last FROM sessions GROUP BY fingerprint) s"
              " LEFT JOIN searches q ON 0 ORDER BY s.last DESC LIMIT ?4");

static const struct {
	const char *sql;
	int64_t most;    /* where the caller sets no limit */
	const char *one; /* where the caller names a kernel; NULL: sql uses it */
} queries[] = {
	[STORE_SEARCHES] = {searches, UNLIMITED, searches_of}, [STORE_NAMES] = {names, UNLIMITED, names_of},
	[STORE_RESULTS] = {results, UNLIMITED, results_of},    [STORE_SHARED] = {shared, UNLIMITED, NULL},
	[STORE_RELATIVES] = {relatives, RELATIVES_MAX, NULL},  [STORE_UNFINISHED] = {unfinished, UNFINISHED_MAX, NULL},
	[STORE_MACHINES] = {machines, UNLIMITED, NULL},
};

/* Returns the callback's answer as 0 or 1, or -1. */
static int row_read(const struct store *store, sqlite3_stmt *stmt, store_row_fn fn, void *ctx, struct err *err) {
	json_t *machine = NULL, *result = NULL;
	int stop = -1;
	if (store_column_json_or_null(store, stmt, 16, "a session's machine", &machine, err) == 0 &&
	    store_column_json_or_null(store, stmt, 17, "a search's result", &result, err) == 0) {
		const struct store_row row = {.search = sqlite3_column_int64(stmt, 0),
		                              .session = sqlite3_column_int64(stmt, 1),
		                              .fingerprint = store_column(stmt, 2),
		                              .command = store_column(stmt, 3),
		                              .version = store_column(stmt, 4),
		                              .kernel = store_column(stmt, 5),
		                              .source = store_column(stmt, 6),
		                              .problem = store_column(stmt, 7),
		                              .objective = store_column(stmt, 8),
		                              .strategy = store_column(stmt, 9),
		                              .state = store_column(stmt, 10),
		                              .seed = (uint64_t)sqlite3_column_int64(stmt, 11),
		                              .valid = (uint64_t)sqlite3_column_int64(stmt, 12),
		                              .started = store_column_real(stmt, 13),
		                              .ended = store_column_real(stmt, 14),
		                              .noise_floor = store_column_real(stmt, 15),
		                              .machine = machine,
		                              .result = result,
		                              .sessions = sqlite3_column_int64(stmt, 18),
		                              .searches = sqlite3_column_int64(stmt, 19),
		                              .trials = sqlite3_column_int64(stmt, 20)};
		stop = fn(ctx, &row) ? 1 : 0;
	}
	json_decref(result);
	json_decref(machine);
	return stop;
}

int store_rows_each(const struct store *store, sqlite3_stmt *stmt, store_row_fn fn, void *ctx, struct err *err) {
	int more = 0, stop = 0;
	while (stop == 0 && (more = store_step(store, stmt, err)) > 0)
		stop = row_read(store, stmt, fn, ctx, err);
	sqlite3_finalize(stmt);
	return more < 0 || stop < 0 ? -1 : 0;
}

/* Looks for what counts instead of a verdict of a busy machine. */
struct quieter {
	struct store *store;
	double until;
	store_row_fn fn;
	void *ctx;
	struct err *err;
	bool found, failed;
	int answer;
};

static bool is_busy(const struct store_row *row) {
	return js_bool_or(json_object_get(row->result, "load"), "busy", false);
}

/* It was interrupted before its proof, but pairs were measured, and nobody disturbed them. */
static int quieter_take(void *ctx, const struct store_row *row) {
	struct quieter *quieter = ctx;
	if (is_busy(row) || !json_is_object(json_object_get(row->result, "speedup")))
		return 0;
	quieter->found = true;
	quieter->answer = quieter->fn(quieter->ctx, row);
	return 1;
}

/* A verdict that was reached beside other programs gives way to a later comparison without them, decided or not. */
static int result_each(void *ctx, const struct store_row *row) {
	struct quieter *quieter = ctx;
	if (!is_busy(row))
		return quieter->fn(quieter->ctx, row);
	const struct store_field fields[] = {store_int(row->search), store_real(quieter->until)};
	quieter->found = false;
	sqlite3_stmt *stmt = store_query(quieter->store, later, fields, 2, quieter->err);
	quieter->failed = store_rows_each(quieter->store, stmt, quieter_take, quieter, quieter->err) != 0;
	if (quieter->failed)
		return 1;
	return quieter->found ? quieter->answer : quieter->fn(quieter->ctx, row);
}

int store_each(struct store *store, enum store_rows rows, const struct store_filter *filter, store_row_fn fn, void *ctx,
               struct err *err) {
	const struct store_filter all = {0}, *given = filter ? filter : &all;
	const struct store_field fields[] = {store_text(given->fingerprint), store_text(given->kernel),
	                                     store_text(given->objective),
	                                     store_int(given->most ? given->most : queries[rows].most),
	                                     rows == STORE_RESULTS ? store_real(given->until) : store_int(given->search)};
	struct quieter quieter = {.store = store, .until = given->until, .fn = fn, .ctx = ctx, .err = err};
	size_t count =
		rows == STORE_RESULTS || rows == STORE_SEARCHES ? 5 : 4; /* SQLite refuses a value that a query does not read */
	sqlite3_stmt *stmt = store_query(store, given->kernel && queries[rows].one ? queries[rows].one : queries[rows].sql,
	                                 fields, count, err);
	if (rows != STORE_RESULTS)
		return store_rows_each(store, stmt, fn, ctx, err);
	return store_rows_each(store, stmt, result_each, &quieter, err) || quieter.failed ? -1 : 0;
}
