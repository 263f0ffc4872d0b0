/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "tuner/store/merge_impl.h"

/* The columns: id, 11 that are set at the beginning, 3 that are set at the end. */
#define BEGUN "kernel, source, problem, objective, strategy, seed, space_hash, cartesian, valid, baseline"
enum { BEGIN = 1, BEGIN_COUNT = 11, END = 12, END_COUNT = 3, RESULT = 14 };

static sqlite3_stmt *searches_of(const struct merge *merge, const struct store *store, int64_t session) {
	const struct store_field fields[] = {store_int(session)};
	const char *sql =
		store_has_uuids(store)
			? "SELECT id, " BEGUN ", uuid, state, ended, result FROM searches WHERE session = ? ORDER BY id"
			: "SELECT id, " BEGUN ", NULL, state, ended, result FROM searches WHERE session = ? ORDER BY id";
	return store_query(store, sql, fields, 1, merge->err);
}

static int search_check(const struct merge *merge, sqlite3_stmt *row) {
	if (!merge_json(row, 3, JSON_OBJECT, false) || !merge_json(row, 10, JSON_OBJECT, true))
		return merge_damaged(merge, "a search's problem or baseline is not a JSON object");
	return merge_json(row, RESULT, JSON_OBJECT, true) ? 0
	                                                  : merge_damaged(merge, "a search's result is not a JSON object");
}

static int search_add(struct merge *merge, sqlite3_stmt *row, int64_t session, int64_t *id) {
	sqlite3_stmt *add = merge->add[MERGE_SEARCH_ADD];
	if (search_check(merge, row) || merge_bind(merge, add, 1, row, BEGIN, BEGIN_COUNT + END_COUNT))
		return -1;
	sqlite3_bind_int64(add, BEGIN_COUNT + END_COUNT + 1, session);
	if (merge_step(merge, add))
		return -1;
	*id = sqlite3_last_insert_rowid(merge->target->db);
	merge->merged->searches++;
	return 0;
}

/* The ids of searches and trials in a plan have no meaning in another file: a search that is resumed there keeps its
 * budget, but not its earlier results. */
static int plan_copy(const struct merge *merge, sqlite3_stmt *row, int64_t to) {
	sqlite3_stmt *add = merge->add[MERGE_PLAN_ADD];
	json_t *plan = store_column_json(merge->source, row, 0, "a search's plan", merge->err);
	if (!plan)
		return -1;
	json_t *kept = json_pack("{s:I,s:[]}", "budget", (json_int_t)js_int_or(plan, "budget", 0), "sources");
	char *text = json_dumps(kept, JSON_COMPACT);
	sqlite3_bind_int64(add, 1, to);
	sqlite3_bind_text(add, 2, text, -1, SQLITE_TRANSIENT);
	int failed = merge_step(merge, add);
	free(text);
	json_decref(kept);
	json_decref(plan);
	return failed;
}

static int plan_merge(const struct merge *merge, int64_t from, int64_t to) {
	const struct store_field source[] = {store_int(from)}, target[] = {store_int(to)};
	int64_t plans;
	if (!merge->plans)
		return 0;
	if (store_number(merge->target, "SELECT count(*) FROM plans WHERE search = ?", target, 1, &plans, merge->err))
		return -1;
	if (plans)
		return 0;
	sqlite3_stmt *row = store_query(merge->source, "SELECT plan FROM plans WHERE search = ?", source, 1, merge->err);
	int found = store_step(merge->source, row, merge->err);
	if (found > 0 && plan_copy(merge, row, to))
		found = -1;
	sqlite3_finalize(row);
	return found < 0 ? -1 : 0;
}

int merge_searches(struct merge *merge, int64_t from, int64_t to) {
	static const char old[] = "SELECT state, ended, result FROM searches WHERE id = ?";
	struct merge_keys *keys = merge_keys_read(merge, searches_of(merge, merge->target, to), BEGIN, BEGIN_COUNT, 0);
	sqlite3_stmt *rows = keys ? searches_of(merge, merge->source, from) : NULL;
	int more;
	while ((more = store_step(merge->source, rows, merge->err)) > 0) {
		int64_t search = sqlite3_column_int64(rows, 0), id = merge_keys_claim(keys, rows, BEGIN, BEGIN_COUNT);
		bool is_new = id == 0;
		int failed = is_new ? search_add(merge, rows, to, &id)
		                    : merge_update(merge, old, MERGE_SEARCH_END, rows, END, END_COUNT, id, search_check);
		if (failed || plan_merge(merge, search, id) || merge_trials(merge, search, id, is_new)) {
			more = -1;
			break;
		}
	}
	sqlite3_finalize(rows);
	merge_keys_free(keys);
	return more;
}
