/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every query for searches selects the same columns, so that one reader serves all of them. */
#include <math.h>
#include <sys/stat.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/store/store_impl.h"

enum { EVALUATIONS_MAX = 20000 /* rows read of one search */ };
enum { RELATIVES_MAX = 256, UNFINISHED_MAX = 100, UNLIMITED = -1 };

#define ITEM(name, type, sql) sql ", "
#define STORE_ROW(machine, result, sessions, searches, trials, from)                                                   \
	"SELECT " ROW_COLUMNS(ITEM, machine, result, sessions, searches, trials) "q.id" from

#define OF_ROW(name, type, sql)   STORE_COLUMN(store_row, "a search's ", name, CELL_##type, NULL, false)
#define OF_ABOUT(name, type, sql) STORE_COLUMN(store_about, "", name, CELL_##type, NULL, false)
static const struct store_column row_columns[] = {ROW_COLUMNS(OF_ROW, NULL, NULL, NULL, NULL, NULL)};
static const struct store_column about_columns[] = {ABOUT_COLUMNS(OF_ABOUT)};
enum {
	ROW_COUNT = sizeof row_columns / sizeof *row_columns,
	ABOUT_COUNT = sizeof about_columns / sizeof *about_columns
};

/* A missing machine means that the store is damaged, which the parser reports for the empty text. */
#define MACHINE "coalesce(s.machine, '')"

/* In all of them ?1 is the fingerprint, ?2 the kernel, ?3 the objective, ?4 the number of rows at most; in results, ?5
 * the latest end, in searches the only search. */
#define SEARCHES(where)                                                                                                \
	STORE_ROW("NULL", "q.result", "0", "0", "0",                                                                       \
	          STORE_JOINED " WHERE (?1 IS NULL OR (s.fingerprint = ?1 AND s.command <> '" STORE_IMPORT "'))"           \
	                       " AND (?5 = 0 OR q.id = ?5) AND " where " ORDER BY q.id LIMIT ?4")
static const char searches[] = SEARCHES("?2 IS NULL"), searches_of[] = SEARCHES(STORE_IS_NAMED("q", "?2"));

#define NAMES(where)                                                                                                   \
	STORE_ROW("NULL", "NULL", "0", "0", "0",                                                                           \
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
	STORE_ROW(MACHINE, "q.result", "0", "0", "0",                                                                      \
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
	STORE_ROW(MACHINE, "q.result", "0", "0", "0",
              " FROM searches o JOIN sessions p ON p.id = o.session JOIN searches q ON q.kernel = o.kernel"
              " AND q.problem = o.problem AND q.objective IS o.objective AND q.finish > o.finish"
              " JOIN sessions s ON s.id = q.session AND s.fingerprint = p.fingerprint"
              " WHERE o.id = ?1 AND q.state = 'interrupted' AND q.result IS NOT NULL AND (?2 = 0 OR q.ended <= ?2)"
              " ORDER BY q.finish DESC LIMIT 100");

static const char shared[] = STORE_ROW(MACHINE, "NULL", "0", "0", "0", STORE_JOINED " ORDER BY q.id LIMIT ?4");

static const char relatives[] =
	STORE_ROW(MACHINE, "NULL", "0", "0", "0",
              STORE_JOINED " WHERE " STORE_IS_NAMED("q", "?2") " AND q.objective = ?3 ORDER BY q.id DESC LIMIT ?4");

static const char unfinished[] =
	STORE_ROW("NULL", "NULL", "0", "0", "(SELECT count(*) FROM trials t WHERE t.search = q.id)",
              STORE_JOINED " WHERE q.id IN (SELECT max(o.id) FROM searches o JOIN sessions p ON p.id = o.session"
                           " WHERE p.fingerprint = ?1 AND p.state IN ('running', 'interrupted')"
                           " AND o.state IN ('running', 'interrupted')"
                           " AND NOT EXISTS (SELECT 1 FROM searches d JOIN sessions e ON e.id = d.session"
                           " WHERE e.fingerprint = ?1 AND d.kernel = o.kernel AND d.problem = o.problem"
                           " AND d.objective IS o.objective AND d.state = 'done' AND d.id > o.id)"
                           " GROUP BY " STORE_NAME_OF("o") ", o.problem, o.objective) ORDER BY q.id DESC LIMIT ?4");

/* Bare columns again: the session is the newest of its machine. */
static const char machines[] =
	STORE_ROW(MACHINE, "NULL", "s.sessions",
              "(SELECT count(*) FROM searches a JOIN sessions b ON b.id = a.session"
              " WHERE b.fingerprint = s.fingerprint)",
              "0",
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
	js_auto json_t *array = store_json_of(store, row, column, what, err);
	samples->count = json_array_size(array);
	samples->values = values = mem_grow(values, samples->count + 1, sizeof *values);
	js_each (sample, array)
		values[sample_at] = json_is_number(sample) ? json_number_value(sample) : NAN;
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

/* Fills the members of a struct from a row, in which the columns come first; `to` is then cleared with row_clear. */
static int row_fill(const struct store *store, sqlite3_stmt *row, const struct store_column *columns, int count,
                    void *to, struct err *err) {
	for (int i = 0; i < count; i++)
		if (cell_fill(store, row, i, &columns[i], (char *)to + columns[i].offset, err))
			return -1;
	return 0;
}

static void row_clear(const struct store_column *columns, int count, void *to) {
	for (int i = 0; i < count; i++) {
		void *at = (char *)to + columns[i].offset;
		if (columns[i].type == CELL_DOCUMENT)
			json_decref(*(json_t **)at);
		else if (columns[i].type == CELL_SAMPLES)
			free(*(double **)at);
	}
}

/* Finalizes stmt, which may be NULL. */
static int rows_each(const struct store *store, sqlite3_stmt *stmt, store_row_fn fn, void *ctx, struct err *err) {
	int more = 0, stop = 0;
	while (stop == 0 && (more = store_step(store, stmt, err)) > 0) {
		struct store_row row = {.search = sqlite3_column_int64(stmt, ROW_COUNT)};
		stop = row_fill(store, stmt, row_columns, ROW_COUNT, &row, err) ? -1 : fn(ctx, &row) != 0;
		row_clear(row_columns, ROW_COUNT, &row);
	}
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
	quieter->failed = rows_each(quieter->store, stmt, quieter_take, quieter, quieter->err) != 0;
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
		return rows_each(store, stmt, fn, ctx, err);
	return rows_each(store, stmt, result_each, &quieter, err) || quieter.failed ? -1 : 0;
}

#define TRIALS(samples, detail)                                                                                        \
	"SELECT " TRIAL_FACTS(COLUMN_NAME) samples ", " detail ", search FROM trials WHERE search = ?1"

static int trials_each(const struct store *store, const char *sql, const struct store_field *fields, size_t count,
                       store_trial_fn fn, void *ctx, struct err *err) {
	const struct store_table *table = &store_tables[TABLE_TRIALS];
	sqlite3_stmt *stmt = store_query(store, sql, fields, count, err);
	int more = 0, stop = 0;
	while (stop == 0 && (more = store_step(store, stmt, err)) > 0) {
		struct store_trial trial = {.search = sqlite3_column_int64(stmt, table->count)};
		stop = row_fill(store, stmt, table->columns, table->count, &trial, err) ? -1 : fn(ctx, &trial) != 0;
		row_clear(table->columns, table->count, &trial);
	}
	sqlite3_finalize(stmt);
	return more < 0 || stop < 0 ? -1 : 0;
}

int store_trials_each(struct store *store, int64_t search, const char *phase, store_trial_fn fn, void *ctx,
                      struct err *err) {
	const struct store_field fields[] = {store_int(search), store_text(phase)};
	return trials_each(store, TRIALS("samples", "detail") " AND (?2 IS NULL OR phase = ?2) ORDER BY id", fields, 2, fn,
	                   ctx, err);
}

int store_outcomes_each(struct store *store, int64_t search, store_trial_fn fn, void *ctx, struct err *err) {
	const struct store_field fields[] = {store_int(search)};
	return trials_each(store, TRIALS("'[]'", "NULL") " ORDER BY id", fields, 1, fn, ctx, err);
}

int store_evaluations_each(struct store *store, int64_t search, int64_t until, store_trial_fn fn, void *ctx,
                           struct err *err) {
	const struct store_field fields[] = {store_int(search), store_int(until), store_int(EVALUATIONS_MAX)};
	return trials_each(
		store, TRIALS("samples", "NULL") " AND id <= ?2 AND phase IN ('baseline', 'search') ORDER BY id LIMIT ?3",
		fields, 3, fn, ctx, err);
}

/* A member that the caller leaves out, NULL or 0, matches anything. */
#define MATCHES(name, type, presence) " AND coalesce(?, 0) IN (0, q." #name ")"
static const char resumable[] = STORE_ROW(
	"NULL", "q.result", "0", "0", "0",
	STORE_JOINED " WHERE s.fingerprint = ?1 AND s.state IN ('running', 'interrupted') AND " STORE_IS_NAMED("q", "?2")
		SEARCH_TASK(MATCHES) " ORDER BY q.id DESC LIMIT 1");

static sqlite3_stmt *resume_query(struct store *store, const char *fingerprint, const struct store_search *wanted,
                                  struct err *err) {
	const struct store_field fields[] = {store_text(fingerprint), store_text(wanted->kernel)};
	struct store_search task = *wanted;
	sqlite3_stmt *stmt = store_query(store, resumable, fields, 2, err);
	task.kernel = NULL;
	task.seed = 0;
	if (store_bind(store, stmt, 3, store_tables[TABLE_SEARCHES].columns, SEARCH_TASK(COLUMN_ONE) 0, &task, err) == 0)
		return stmt;
	sqlite3_finalize(stmt);
	return NULL;
}

static int resumed_read(void *ctx, const struct store_row *row) {
	struct store_resumed *found = ctx;
	*found =
		(struct store_resumed){.search = row->search,
	                           .session = row->session,
	                           .seed = row->seed,
	                           .result = strcmp(row->state, "done") == 0 ? json_incref((json_t *)row->result) : NULL};
	snprintf(found->state, sizeof found->state, "%s", row->state);
	return 0;
}

int store_resume_find(struct store *store, const char *fingerprint, const struct store_search *wanted,
                      struct store_resumed *found, struct err *err) {
	*found = (struct store_resumed){0};
	if (rows_each(store, resume_query(store, fingerprint, wanted, err), resumed_read, found, err))
		return -1;
	return found->search != 0;
}

static int64_t file_bytes(const char *path, const char *suffix) {
	struct stat info;
	mem_auto char *name = mem_printf("%s%s", path, suffix);
	return stat(name, &info) == 0 ? info.st_size : 0;
}

int store_about(struct store *store, struct store_about *about, struct err *err) {
	sqlite3_stmt *stmt = store_query(store, "SELECT " ABOUT_COLUMNS(ITEM) "0", NULL, 0, err);
	int found = store_step(store, stmt, err);
	if (found > 0 && row_fill(store, stmt, about_columns, ABOUT_COUNT, about, err))
		found = -1;
	about->bytes = file_bytes(store->path, "") + file_bytes(store->path, "-wal");
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
