/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/store/merge.h"

#include <string.h>
#include <sys/stat.h>

#include "tuner/store/merge_impl.h"

#define SESSION "fingerprint, machine, version, command, seed, started, uuid, state, ended, noise_floor"
#define SEARCH                                                                                                         \
	"kernel, source, problem, objective, strategy, seed, space_hash, cartesian, valid, baseline, uuid, state,"         \
	" ended, result, session"
#define TRIAL "phase, block, config, status, value, samples, started, elapsed, disturbed, message, detail, search"

static const char *const statements[MERGE_STATEMENTS] = {
	[MERGE_SESSION_ADD] = "INSERT INTO sessions (" SESSION ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[MERGE_SESSION_END] = "UPDATE sessions SET state = ?, ended = ?, noise_floor = ? WHERE id = ?",
	[MERGE_SEARCH_ADD] = "INSERT INTO searches (" SEARCH ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[MERGE_SEARCH_END] = "UPDATE searches SET state = ?, ended = ?, result = ? WHERE id = ?",
	[MERGE_PLAN_ADD] = "INSERT INTO plans (search, plan) VALUES (?, ?)",
	[MERGE_TRIAL_ADD] = "INSERT INTO trials (" TRIAL ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
};

int merge_damaged(const struct merge *merge, const char *what) {
	return err_set(merge->err, ERR_USAGE, "leave it out; nothing was merged", "store %s is damaged: %s",
	               merge->source->path, what);
}

int merge_bind(const struct merge *merge, sqlite3_stmt *to, int place, sqlite3_stmt *row, int from, int count) {
	int rc = SQLITE_OK;
	for (int i = 0; rc == SQLITE_OK && i < count; i++) {
		if (sqlite3_column_type(row, from + i) == SQLITE_BLOB)
			return merge_damaged(merge, "a cell holds a blob");
		rc = sqlite3_bind_value(to, place + i, sqlite3_column_value(row, from + i));
	}
	return rc == SQLITE_OK ? 0 : store_fail(merge->target, rc, merge->err);
}

/* If the target's tables refuse a cell, the source is damaged. */
int merge_step(const struct merge *merge, sqlite3_stmt *stmt) {
	int rc = sqlite3_step(stmt);
	sqlite3_reset(stmt);
	if (rc == SQLITE_DONE)
		return 0;
	return (rc & 0xff) == SQLITE_CONSTRAINT ? merge_damaged(merge, sqlite3_errmsg(merge->target->db))
	                                        : store_fail(merge->target, rc, merge->err);
}

bool merge_json(sqlite3_stmt *row, int column, json_type type, bool null) {
	if (sqlite3_column_type(row, column) != SQLITE_TEXT)
		return null && sqlite3_column_type(row, column) == SQLITE_NULL;
	const char *text = (const char *)sqlite3_column_text(row, column);
	json_t *json =
		text ? json_loadb(text, (size_t)sqlite3_column_bytes(row, column), JSON_REJECT_DUPLICATES, NULL) : NULL;
	bool right = json && json_typeof(json) == type;
	json_decref(json);
	return right;
}

static int rank(sqlite3_stmt *row, int column) {
	static const char *const states[] = {"running", "interrupted", "failed", "done"};
	int i = 3;
	while (i > 0 && strcmp(store_column(row, column), states[i]) != 0)
		i--;
	return i;
}

/* Orders numbers and texts of any kind, NULL first. */
static int compare(sqlite3_stmt *a, int column_a, sqlite3_stmt *b, int column_b) {
	int type_a = sqlite3_column_type(a, column_a), type_b = sqlite3_column_type(b, column_b);
	if (type_a == SQLITE_NULL || type_b == SQLITE_NULL)
		return (type_a != SQLITE_NULL) - (type_b != SQLITE_NULL);
	if (type_a != SQLITE_TEXT && type_b != SQLITE_TEXT) {
		double x = sqlite3_column_double(a, column_a), y = sqlite3_column_double(b, column_b);
		return (x > y) - (x < y);
	}
	return strcmp(store_column(a, column_a), store_column(b, column_b));
}

/* The state that ended later wins, then the one that got further, then any column decides: the choice must not depend
 * on the order of the files. */
static bool is_later(sqlite3_stmt *a, int from_a, sqlite3_stmt *b, int from_b, int count) {
	int order = compare(a, from_a + 1, b, from_b + 1);
	if (!order)
		order = rank(a, from_a) - rank(b, from_b);
	for (int i = 2; !order && i < count; i++)
		order = compare(a, from_a + i, b, from_b + i);
	return order > 0;
}

int merge_update(const struct merge *merge, const char *sql, enum merge_statement end, sqlite3_stmt *row, int from,
                 int count, int64_t id, int (*check)(const struct merge *merge, sqlite3_stmt *row)) {
	const struct store_field fields[] = {store_int(id)};
	sqlite3_stmt *old = store_query(merge->target, sql, fields, 1, merge->err), *stmt = merge->add[end];
	int failed = store_step(merge->target, old, merge->err) == 1 ? 0 : -1;
	if (!failed && is_later(row, from, old, 0, count)) {
		sqlite3_bind_int64(stmt, count + 1, id);
		failed =
			(check && check(merge, row)) || merge_bind(merge, stmt, 1, row, from, count) || merge_step(merge, stmt);
		merge->merged->updated++;
	}
	sqlite3_finalize(old);
	return failed ? -1 : 0;
}

/* Rows without a parent would be left behind without a word. */
static int source_check(struct merge *merge) {
	int64_t orphans;
	if (store_plans_exist(merge->source, &merge->plans, merge->err) ||
	    store_number(merge->source,
	                 "SELECT 1 FROM searches WHERE session NOT IN (SELECT id FROM sessions) UNION ALL"
	                 " SELECT 1 FROM trials WHERE search NOT IN (SELECT id FROM searches)",
	                 NULL, 0, &orphans, merge->err))
		return -1;
	return orphans ? merge_damaged(merge, "it has trials without their search, or searches without their session") : 0;
}

static bool is_same_file(const char *a, const char *b) {
	struct stat x, y;
	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Reads one snapshot, because other processes may be writing. */
static int file_merge(struct merge *merge, const char *path) {
	if (is_same_file(path, merge->target->path))
		return 0;
	merge->source = store_open(path, STORE_READ, merge->err);
	if (!merge->source && merge->err->code == ERR_NOTHING)
		return err_set(merge->err, ERR_USAGE, "name existing stores", "%s does not exist", path);
	int failed = !merge->source || store_exec(merge->source, "BEGIN", merge->err) || source_check(merge) ||
	             merge_sessions(merge);
	store_close(merge->source);
	merge->source = NULL;
	return failed ? -1 : 0;
}

static int statements_make(struct merge *merge) {
	if (store_plans_make(merge->target, merge->err))
		return -1;
	for (size_t i = 0; i < MERGE_STATEMENTS; i++)
		if (!(merge->add[i] = store_query(merge->target, statements[i], NULL, 0, merge->err)))
			return -1;
	return 0;
}

/* Numbers the searches of all files in the order they ended. Columns that do not depend on the order of the files
 * decide between equal times. */
static int finish_number(struct merge *merge) {
	return store_exec(
		merge->target,
		"CREATE TEMP TABLE merge_order AS SELECT q.id AS id, row_number() OVER (ORDER BY q.ended, s.started,"
		" q.kernel, q.problem, q.objective, q.seed, q.uuid, q.result, q.id) AS place FROM searches q"
		" JOIN sessions s ON s.id = q.session WHERE q.ended IS NOT NULL;"
		"CREATE UNIQUE INDEX temp.merge_order_id ON merge_order(id);"
		"UPDATE searches SET finish = (SELECT place FROM merge_order m WHERE m.id = searches.id);"
		"DROP TABLE merge_order",
		merge->err);
}

static int files_merge(struct merge *merge, const char *const *paths, size_t count, struct store_merged *merged) {
	bool changed = false;
	for (size_t i = 0; i < count; i++) {
		merge->merged = &merged[i];
		*merge->merged = (struct store_merged){0};
		if (file_merge(merge, paths[i]))
			return -1;
		changed = changed || merged[i].searches || merged[i].updated;
	}
	return changed ? finish_number(merge) : 0;
}

int store_merge(struct store *target, const char *const *paths, size_t count, struct store_merged *merged,
                struct err *err) {
	struct merge merge = {.target = target, .err = err};
	if (store_exec(target, "PRAGMA temp_store = MEMORY; BEGIN IMMEDIATE", err))
		return -1;
	int failed = statements_make(&merge) || files_merge(&merge, paths, count, merged);
	for (size_t i = 0; i < MERGE_STATEMENTS; i++)
		sqlite3_finalize(merge.add[i]);
	if (!failed && store_exec(target, "COMMIT", err) == 0)
		return 0;
	return store_rollback(target);
}
