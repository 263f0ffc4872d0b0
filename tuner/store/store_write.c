/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "tuner/store/store_impl.h"
#include "tuner/trial/trial.h"

enum { UUID_TEXT = 33 };

static int change_row(const struct store *store, sqlite3_stmt *stmt, struct err *err) {
	errno = 0;
	int rc = sqlite3_step(stmt);
	if (rc != SQLITE_DONE)
		return store_fail(store, rc, err);
	if (sqlite3_changes(store->db) != 1)
		return err_set(err, ERR_FAILED, NULL, "store %s: the row to change does not exist", store->path);
	return 0;
}

/* Runs an INSERT or UPDATE of exactly one row and commits it. Finalizes stmt, which may be NULL. id may be NULL, else
 * it gets the row's. */
static int change(struct store *store, sqlite3_stmt *stmt, int64_t *id, struct err *err) {
	bool inside = store->whole;
	int failed = !stmt || (!inside && store_begin(store, err)) || change_row(store, stmt, err);
	sqlite3_finalize(stmt);
	if (failed || (!inside && store_exec(store, "COMMIT", err)))
		return store_rollback(store);
	if (id)
		*id = sqlite3_last_insert_rowid(store->db);
	return 0;
}

/* One row of a table; `of` is the row that it belongs to. */
static int row_add(struct store *store, const struct store_table *table, const void *row, int64_t of, int64_t *id,
                   struct err *err) {
	sqlite3_stmt *stmt = store_query(store, table->insert, NULL, 0, err);
	int failed = store_bind(store, stmt, 1, table->columns, table->count, row, err);
	if (!failed && of)
		sqlite3_bind_int64(stmt, table->count + 1, of);
	if (!failed)
		return change(store, stmt, id, err);
	sqlite3_finalize(stmt);
	return -1;
}

static int row_end(struct store *store, const struct store_table *table, const void *row, int64_t id, struct err *err) {
	int count = table->count - table->begun;
	sqlite3_stmt *stmt = store_query(store, table->update, NULL, 0, err);
	if (store_bind(store, stmt, 1, table->columns + table->begun, count, row, err) == 0) {
		sqlite3_bind_int64(stmt, count + 1, id);
		return change(store, stmt, NULL, err);
	}
	sqlite3_finalize(stmt);
	return -1;
}

/* Distinguishes rows of copies that were used separately when these are merged. */
static void uuid_make(char text[UUID_TEXT]) {
	unsigned char bytes[UUID_TEXT / 2];
	sqlite3_randomness(sizeof bytes, bytes);
	for (size_t i = 0; i < sizeof bytes; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
}

int store_session_begin(struct store *store, struct store_session *session, struct err *err) {
	char uuid[UUID_TEXT];
	struct store_session row = *session;
	uuid_make(uuid);
	row.version = PACKAGE_VERSION;
	row.uuid = uuid;
	row.state = "running";
	row.ended = row.noise_floor = NAN;
	return row_add(store, &store_tables[TABLE_SESSIONS], &row, 0, &session->id, err);
}

int store_session_end(struct store *store, int64_t session, const char *state, double noise_floor, struct err *err) {
	const struct store_session row = {.state = state, .ended = sys_wall(), .noise_floor = noise_floor};
	return row_end(store, &store_tables[TABLE_SESSIONS], &row, session, err);
}

int store_search_begin(struct store *store, struct store_search *search, struct err *err) {
	char uuid[UUID_TEXT];
	struct store_search row = *search;
	uuid_make(uuid);
	row.uuid = uuid;
	row.state = "running";
	row.ended = NAN;
	row.result = NULL;
	return row_add(store, &store_tables[TABLE_SEARCHES], &row, search->session, &search->id, err);
}

int store_search_end(struct store *store, int64_t search, const char *state, const json_t *result, struct err *err) {
	const struct store_search row = {.state = state, .ended = sys_wall(), .result = result};
	return row_end(store, &store_tables[TABLE_SEARCHES], &row, search, err);
}

/* A flush takes milliseconds, and a trial on a GPU may take less. A commit without a flush is in the log: it outlives
 * the process and is flushed with the next one. (In WAL mode NORMAL never damages the file: sqlite.org/pragma.html,
 * synchronous.) */
static const double SYNC_SECONDS = 0.25;

static int group_open(struct store *store, struct err *err) {
	/* IMMEDIATE: as in store_change. */
	if (store_exec(store, "BEGIN IMMEDIATE", err))
		return -1;
	store->open = true;
	return 0;
}

/* synchronous cannot change within a transaction, but it takes effect when the transaction is committed. */
static int group_flush(struct store *store, struct err *err) {
	if (!store->open)
		return 0;
	if (store_exec(store, "COMMIT", err))
		return store_rollback(store);
	store->open = false;
	return 0;
}

static int trial_insert(struct store *store, const struct store_trial *trial, struct err *err) {
	const struct store_table *table = &store_tables[TABLE_TRIALS];
	if (!store->insert) {
		int rc = sqlite3_prepare_v3(store->db, table->insert, -1, SQLITE_PREPARE_PERSISTENT, &store->insert, NULL);
		if (rc != SQLITE_OK)
			return store_fail(store, rc, err);
	}
	if (store_bind(store, store->insert, 1, table->columns, table->count, trial, err))
		return -1;
	sqlite3_bind_int64(store->insert, table->count + 1, trial->search);
	errno = 0;
	int rc = sqlite3_step(store->insert), failed = rc == SQLITE_DONE ? 0 : store_fail(store, rc, err);
	sqlite3_reset(store->insert);
	sqlite3_clear_bindings(store->insert); /* the bindings point to memory that the caller frees */
	return failed;
}

static int sync_set(struct store *store, bool lazy, struct err *err) {
	if (lazy == store->lazy)
		return 0;
	store->lazy = lazy;
	return store_exec(store, lazy ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL", err);
}

int store_settle(struct store *store, struct err *err) {
	return group_flush(store, err) || sync_set(store, false, err) ? -1 : 0;
}

static int group_begin(struct store *store, struct err *err) {
	double now = sys_now();
	bool lazy = store->wal && store->synced > 0 && now - store->synced < SYNC_SECONDS;
	if (store->open || store->whole)
		return 0;
	if (!lazy)
		store->synced = now;
	return sync_set(store, lazy, err) || group_open(store, err) ? -1 : 0;
}

int store_trial_add(struct store *store, const struct store_trial *trial, struct err *err) {
	if (group_begin(store, err))
		return -1;
	if (trial_insert(store, trial, err))
		return store_rollback(store);
	return store->grouping ? 0 : group_flush(store, err);
}

void store_group_begin(struct store *store) {
	store->grouping = true;
}

int store_group_end(struct store *store, struct err *err) {
	store->grouping = false;
	return group_flush(store, err);
}

int trial_store(struct store *store, int64_t search, const char *phase, int block, const json_t *config,
                const struct trial_result *result, struct err *err) {
	mem_auto char *text = js_canonical(config);
	json_object_del(result->reply, "evidence"); /* it is long, and compared by now */
	const struct store_trial trial = {
		.search = search,
		.phase = phase,
		.block = block,
		.config = text,
		.status = trial_status_word(result->status),
		.value = result->value,
		.samples = result->samples,
		.sample_count = result->sample_count,
		.started = (result->ended > 0 ? result->ended : sys_wall()) - result->elapsed_s,
		.elapsed = result->elapsed_s,
		.disturbed = result->disturbed,
		.message = *result->message ? result->message : NULL,
		.detail = result->reply,
	};
	return store_trial_add(store, &trial, err);
}

int store_plans_make(struct store *store, struct err *err) {
	return store_exec(store,
	                  "CREATE TABLE IF NOT EXISTS plans (search INTEGER PRIMARY KEY REFERENCES searches(id),"
	                  " plan TEXT NOT NULL)",
	                  err);
}

int store_plan_set(struct store *store, int64_t search, const json_t *plan, struct err *err) {
	mem_auto char *text = json_dumps(plan, JSON_COMPACT | JSON_REAL_PRECISION(17));
	const struct store_field fields[] = {store_int(search), store_text(text)};
	int rc = store_plans_make(store, err);
	if (rc == 0)
		rc = change(store,
		            store_query(store, "INSERT OR REPLACE INTO plans (search, plan) VALUES (?, ?)", fields, 2, err),
		            NULL, err);
	return rc;
}

int store_plan_get(struct store *store, int64_t search, json_t **plan, struct err *err) {
	const struct store_field fields[] = {store_int(search)};
	bool exist;
	*plan = NULL;
	if (store_plans_exist(store, &exist, err))
		return -1;
	if (!exist)
		return 0;
	sqlite3_stmt *stmt = store_query(store, "SELECT plan FROM plans WHERE search = ?", fields, 1, err);
	int found = store_step(store, stmt, err);
	if (found > 0 && !(*plan = store_json_of(store, stmt, STORE_ONLY, "a search's plan", err)))
		found = -1;
	sqlite3_finalize(stmt);
	return found < 0 ? -1 : 0;
}

#define WANTED                                                                                                         \
	"(SELECT q.id FROM searches q WHERE ?1 IS NULL AND q.id = ?2"                                                      \
	" UNION SELECT q.id FROM searches q WHERE " STORE_IS_NAMED("q", "?1") ")"

/* Inside the transaction, which store_change would begin anew. */
static int run(const struct store *store, const char *sql, const struct store_field *fields, size_t count,
               struct err *err) {
	sqlite3_stmt *stmt = store_query(store, sql, fields, count, err);
	int rc = store_step(store, stmt, err);
	sqlite3_finalize(stmt);
	return rc < 0 ? -1 : 0;
}

static int remove_all(const struct store *store, const struct store_field *fields, bool plans, struct err *err) {
	if (plans && run(store, "DELETE FROM plans WHERE search IN " WANTED, fields, 2, err))
		return -1;
	return run(store, "DELETE FROM trials WHERE search IN " WANTED, fields, 2, err) ||
	               run(store, "DELETE FROM searches WHERE id IN " WANTED, fields, 2, err) ||
	               run(store,
	                   "DELETE FROM sessions WHERE state != 'running' AND id NOT IN (SELECT session FROM searches)",
	                   NULL, 0, err)
	           ? -1
	           : 0;
}

int store_remove_look(struct store *store, const char *kernel, int64_t search, struct store_removed *found,
                      struct err *err) {
	const struct store_field fields[] = {store_text(kernel), store_int(search)};
	return store_number(store, "SELECT count(*) FROM " WANTED, fields, 2, &found->searches, err) ||
	               store_number(store, "SELECT count(*) FROM trials WHERE search IN " WANTED, fields, 2, &found->trials,
	                            err)
	           ? -1
	           : 0;
}

int store_remove(struct store *store, const char *kernel, int64_t search, struct store_removed *removed,
                 struct err *err) {
	const struct store_field fields[] = {store_text(kernel), store_int(search)};
	bool plans;
	if (store_plans_exist(store, &plans, err) || store_exec(store, "BEGIN IMMEDIATE", err))
		return -1;
	if (store_remove_look(store, kernel, search, removed, err) == 0 && remove_all(store, fields, plans, err) == 0 &&
	    store_exec(store, "COMMIT", err) == 0)
		return 0;
	return store_rollback(store);
}
