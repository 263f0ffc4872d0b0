/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <sys/stat.h>

#include "base/mem.h"
#include "tuner/store/store_impl.h"

/* The check reads every page, which takes 2 to 3 ms a MiB (measured). Larger stores are checked only where they are
 * read. */
enum { QUICK_CHECK_BYTES = 4 << 20 };

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

static int quick_check(const struct store *store, struct err *err) {
	struct stat st;
	if (stat(store->path, &st) != 0 || st.st_size > QUICK_CHECK_BYTES)
		return 0;
	sqlite3_stmt *stmt = store_query(store, "PRAGMA quick_check(1)", NULL, 0, err);
	int found = store_step(store, stmt, err);
	if (found >= 0 && (found == 0 || strcmp(store_text_of(stmt, STORE_ONLY), "ok") != 0))
		found = store_fail(store, SQLITE_CORRUPT, err);
	sqlite3_finalize(stmt);
	return found < 0 ? -1 : 0;
}

static int probe(const struct store *store, const char *sql) {
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL);
	sqlite3_finalize(stmt);
	return rc;
}

static int probe_tables(const struct store *store, struct err *err) {
	for (size_t i = 0; i < TABLES; i++) {
		int rc = probe(store, store_tables[i].probe);
		if (rc != SQLITE_OK)
			return store_fail(store, rc == SQLITE_ERROR ? SQLITE_CORRUPT : rc, err);
	}
	return 0;
}

/* The SQL that gives a table what an earlier version did not have; "" if it has all. Where nothing may be written, a
 * view takes the place of the table. The caller frees it. */
static char *step_sql(const struct store *store, const struct store_table *table) {
	char *sql = mem_strdup(""), *whole;
	for (int i = 0; i < table->count; i++) {
		const struct store_column *column = &table->columns[i];
		mem_auto char *select = mem_printf("SELECT %s FROM %s", column->name, table->name);
		if (column->later && probe(store, select) == SQLITE_ERROR) {
			whole = store->mode == STORE_READ
			            ? mem_printf("%s, NULL AS %s", sql, column->name)
			            : mem_printf("%sALTER TABLE %s ADD COLUMN %s;", sql, table->name, column->sql);
			free(sql);
			sql = whole;
		}
	}
	if (store->mode != STORE_READ || !*sql)
		return sql;
	whole = mem_printf("CREATE TEMP VIEW %s AS SELECT *%s FROM main.%s", table->name, sql, table->name);
	free(sql);
	return whole;
}

static int step_table(struct store *store, const struct store_table *table, struct err *err) {
	char *sql = step_sql(store, table);
	bool locks = *sql && store->mode == STORE_WRITE;
	int rc = locks ? store_exec(store, "BEGIN IMMEDIATE", err) : 0;
	if (locks && rc == 0) { /* another process may have been quicker */
		free(sql);
		sql = step_sql(store, table);
	}
	rc = rc || (*sql && store_exec(store, sql, err)) || (locks && store_exec(store, "COMMIT", err));
	free(sql);
	return rc ? store_rollback(store) : 0;
}

/* Older programs neither read nor fill the new columns, so that the format keeps its number. */
int store_schema_step(struct store *store, struct err *err) {
	for (size_t i = 0; i < TABLES; i++)
		if (step_table(store, &store_tables[i], err))
			return -1;
	return 0;
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
