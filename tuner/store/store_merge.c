/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <sys/stat.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/store/store_impl.h"

struct digest {
	uint64_t a, b;
};

struct key {
	struct digest digest;
	int64_t id;
	size_t next; /* in the first of equal keys: the first that was not claimed */
};

/* Rows by a digest of their cells. Each of several equal rows can be claimed once. */
struct keys {
	struct key *list;
	size_t count, room;
	bool sorted;
};

static void keys_free(struct keys *keys) {
	if (keys)
		free(keys->list);
	free(keys);
}

/* The finalizer of SplitMix64 (G. Steele, D. Lea, C. Flood, Fast Splittable Pseudorandom Number Generators, 2014), over
 * two states. Someone who constructs rows that collide only keeps rows of their own store out. */
static uint64_t mix(uint64_t x) {
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static void digest_word(struct digest *digest, uint64_t word) {
	digest->a = mix(digest->a ^ word);
	digest->b = mix(digest->b + word + 0x9e3779b97f4a7c15u);
}

static void digest_bytes(struct digest *digest, const unsigned char *bytes, size_t size) {
	uint64_t word;
	for (; size >= sizeof word; size -= sizeof word, bytes += sizeof word) {
		memcpy(&word, bytes, sizeof word);
		digest_word(digest, word);
	}
	word = 0;
	if (size)
		memcpy(&word, bytes, size);
	digest_word(digest, word);
}

/* The digest covers type, size and content of each cell. */
static struct digest row_digest(sqlite3_stmt *row, int count) {
	struct digest digest = {1, 2};
	for (int c = 0; c < count; c++) {
		int type = sqlite3_column_type(row, c);
		double real = type == SQLITE_FLOAT ? sqlite3_column_double(row, c) : 0;
		uint64_t word = type == SQLITE_INTEGER ? (uint64_t)sqlite3_column_int64(row, c) : 0;
		digest_word(&digest, (uint64_t)type);
		if (type == SQLITE_FLOAT)
			memcpy(&word, &real, sizeof word);
		digest_word(&digest, word);
		if (type != SQLITE_TEXT && type != SQLITE_BLOB)
			continue;
		const void *bytes = sqlite3_column_blob(row, c);
		size_t size = (size_t)sqlite3_column_bytes(row, c);
		digest_word(&digest, size);
		digest_bytes(&digest, bytes, size);
	}
	return digest;
}

static int digest_compare(const struct digest *x, const struct digest *y) {
	return x->a != y->a ? (x->a > y->a) - (x->a < y->a) : (x->b > y->b) - (x->b < y->b);
}

static void key_add(struct keys *keys, sqlite3_stmt *row, int count, int64_t id) {
	keys->list = mem_room(keys->list, keys->count, &keys->room, sizeof *keys->list);
	struct key *key = &keys->list[keys->count++];
	key->digest = row_digest(row, count);
	key->id = id;
	keys->sorted = false;
}

/* Reads the rows of a query by their first `count` cells; column `id` holds the id. NULL and err. Finalizes rows. */
static struct keys *keys_read(const struct store *store, sqlite3_stmt *rows, int count, int id, struct err *err) {
	struct keys *keys = mem_alloc(1, sizeof *keys);
	int more;
	while ((more = store_step(store, rows, err)) > 0)
		key_add(keys, rows, count, sqlite3_column_int64(rows, id));
	sqlite3_finalize(rows);
	if (more == 0)
		return keys;
	keys_free(keys);
	return NULL;
}

static int by_digest(const void *a, const void *b) {
	const struct key *x = a, *y = b;
	int order = digest_compare(&x->digest, &y->digest);
	return order ? order : (x->id > y->id) - (x->id < y->id);
}

static void keys_sort(struct keys *keys) {
	if (keys->count)
		qsort(keys->list, keys->count, sizeof *keys->list, by_digest);
	for (size_t i = 0; i < keys->count; i++)
		keys->list[i].next = i;
	keys->sorted = true;
}

/* The id of the next row with the same cells, in the order they were read; 0 if none is left. */
static int64_t keys_claim(struct keys *keys, sqlite3_stmt *row, int count) {
	size_t low = 0, high = keys->count;
	if (!keys->count)
		return 0;
	if (!keys->sorted)
		keys_sort(keys);
	const struct digest digest = row_digest(row, count);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (digest_compare(&keys->list[middle].digest, &digest) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == keys->count || digest_compare(&keys->list[low].digest, &digest) != 0)
		return 0;
	size_t at = keys->list[low].next;
	if (at == keys->count || digest_compare(&keys->list[at].digest, &digest) != 0)
		return 0;
	keys->list[low].next++;
	return keys->list[at].id;
}

struct merge {
	struct store *target, *source;
	sqlite3_stmt *add[TABLES], *end[TABLES], *plan; /* prepared on the target */
	bool plans;                                     /* the source has a table of plans */
	struct store_merged *merged;
	struct err *err;
};

/* These return -1 with merge->err set, which names the file. */
static int damaged(const struct merge *merge, const char *what, const char *but) {
	return err_set(merge->err, ERR_USAGE, "leave it out; nothing was merged", "store %s is damaged: %s%s",
	               merge->source->path, what, but);
}

/* If the target's tables refuse a cell, the source is damaged. */
static int run(const struct merge *merge, sqlite3_stmt *stmt) {
	int rc = sqlite3_step(stmt);
	sqlite3_reset(stmt);
	if (rc == SQLITE_DONE)
		return 0;
	return (rc & 0xff) == SQLITE_CONSTRAINT ? damaged(merge, sqlite3_errmsg(merge->target->db), "")
	                                        : store_fail(merge->target, rc, merge->err);
}

static bool is_json(sqlite3_stmt *row, int at, json_type type) {
	const char *text = (const char *)sqlite3_column_text(row, at);
	js_auto json_t *json =
		text ? json_loadb(text, (size_t)sqlite3_column_bytes(row, at), JSON_REJECT_DUPLICATES, NULL) : NULL;
	return json && json_typeof(json) == type;
}

/* The target's table decides whether NULL is allowed. */
static int cell_check(const struct merge *merge, sqlite3_stmt *row, int at, const struct store_column *column) {
	int type = sqlite3_column_type(row, at);
	bool object = column->type == CELL_OBJECT || column->type == CELL_DOCUMENT, array = column->type == CELL_SAMPLES;
	if (type == SQLITE_NULL)
		return 0;
	if (type == SQLITE_BLOB)
		return damaged(merge, column->what, " is a blob");
	if ((object || array) && (type != SQLITE_TEXT || !is_json(row, at, object ? JSON_OBJECT : JSON_ARRAY)))
		return damaged(merge, column->what, object ? " is not a JSON object" : " is not a JSON array");
	if (column->type == CELL_FINITE && !isfinite(sqlite3_column_double(row, at)))
		return damaged(merge, column->what, " is not a finite number");
	return 0;
}

/* Checks the cells of a row from `from` on, and binds them to the parameters of a statement. */
static int row_bind(const struct merge *merge, sqlite3_stmt *to, const struct store_table *table, sqlite3_stmt *row,
                    int from) {
	int rc = SQLITE_OK;
	for (int i = from; rc == SQLITE_OK && i < table->count; i++) {
		if (cell_check(merge, row, i, &table->columns[i]))
			return -1;
		rc = sqlite3_bind_value(to, 1 + i - from, sqlite3_column_value(row, i));
	}
	return rc == SQLITE_OK ? 0 : store_fail(merge->target, rc, merge->err);
}

static int row_add(const struct merge *merge, size_t t, sqlite3_stmt *row, int64_t parent, int64_t *id) {
	const struct store_table *table = &store_tables[t];
	int64_t *const counts[TABLES] = {&merge->merged->sessions, &merge->merged->searches, &merge->merged->trials};
	if (row_bind(merge, merge->add[t], table, row, 0))
		return -1;
	if (parent)
		sqlite3_bind_int64(merge->add[t], table->count + 1, parent);
	if (run(merge, merge->add[t]))
		return -1;
	*id = sqlite3_last_insert_rowid(merge->target->db);
	++*counts[t];
	return 0;
}

static int rank(sqlite3_stmt *row, int column) {
	static const char *const states[] = {"running", "interrupted", "failed", "done"};
	int i = 3;
	while (i > 0 && strcmp(store_text_of(row, column), states[i]) != 0)
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
	return strcmp(store_text_of(a, column_a), store_text_of(b, column_b));
}

/* The state that ended later wins, then the one that got further, then any column decides: the choice must not depend
 * on the order of the files. */
static bool is_later(const struct store_table *table, sqlite3_stmt *row, sqlite3_stmt *old) {
	int order = 0;
	for (int i = table->begun; !order && i < table->count; i++)
		order = table->columns[i].type == CELL_STATE ? rank(row, i) - rank(old, i - table->begun)
		                                             : compare(row, i, old, i - table->begun);
	return order > 0;
}

/* A session or search that was copied while it went on: the later of the two states stays. */
static int row_update(const struct merge *merge, size_t t, sqlite3_stmt *row, int64_t id) {
	const struct store_table *table = &store_tables[t];
	const struct store_field fields[] = {store_int(id)};
	sqlite3_stmt *old = store_query(merge->target, table->ended, fields, 1, merge->err), *end = merge->end[t];
	int failed = store_step(merge->target, old, merge->err) == 1 ? 0 : -1;
	if (!failed && is_later(table, row, old)) {
		sqlite3_bind_int64(end, table->count - table->begun + 1, id);
		failed = row_bind(merge, end, table, row, table->begun) || run(merge, end);
		merge->merged->updated++;
	}
	sqlite3_finalize(old);
	return failed ? -1 : 0;
}

/* The ids of searches and trials in a plan have no meaning in another file: a search that is resumed there keeps its
 * budget, but not its earlier results. */
static int plan_copy(const struct merge *merge, sqlite3_stmt *row, int64_t to) {
	sqlite3_stmt *add = merge->plan;
	js_auto json_t *plan = store_json_of(merge->source, row, STORE_ONLY, "a search's plan", merge->err);
	if (!plan)
		return -1;
	js_auto json_t *kept = json_pack("{s:I,s:[]}", "budget", (json_int_t)js_int_or(plan, "budget", 0), "sources");
	mem_auto char *text = json_dumps(kept, JSON_COMPACT);
	sqlite3_bind_int64(add, 1, to);
	sqlite3_bind_text(add, 2, text, -1, SQLITE_TRANSIENT);
	return run(merge, add);
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

static sqlite3_stmt *rows_of(const struct merge *merge, const struct store *store, size_t t, int64_t parent) {
	const struct store_field fields[] = {store_int(parent)};
	return store_query(store, store_tables[t].select, fields, 1, merge->err);
}

/* The sessions, or the searches of a session, or the trials of a search: `from` in the source, `to` in the target. */
static int rows_merge(const struct merge *merge, size_t t, int64_t from, int64_t to, bool is_new);

static int row_merge(const struct merge *merge, size_t t, sqlite3_stmt *row, struct keys *keys, int64_t to) {
	const struct store_table *table = &store_tables[t];
	int64_t from = sqlite3_column_int64(row, table->count), id = keys_claim(keys, row, table->begun);
	bool is_new = id == 0;
	if (is_new ? row_add(merge, t, row, to, &id) : table->update && row_update(merge, t, row, id))
		return -1;
	if (t == TABLE_SEARCHES && plan_merge(merge, from, id))
		return -1;
	return t + 1 < TABLES ? rows_merge(merge, t + 1, from, id, is_new) : 0;
}

static int rows_merge(const struct merge *merge, size_t t, int64_t from, int64_t to, bool is_new) {
	const struct store_table *table = &store_tables[t];
	struct keys *keys =
		is_new ? mem_alloc(1, sizeof *keys)
			   : keys_read(merge->target, rows_of(merge, merge->target, t, to), table->begun, table->count, merge->err);
	sqlite3_stmt *rows = keys ? rows_of(merge, merge->source, t, from) : NULL;
	int more;
	while ((more = store_step(merge->source, rows, merge->err)) > 0)
		if (row_merge(merge, t, rows, keys, to)) {
			more = -1;
			break;
		}
	sqlite3_finalize(rows);
	keys_free(keys);
	return more;
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
	return orphans ? damaged(merge, "it has trials without their search, or searches without their session", "") : 0;
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
	             rows_merge(merge, TABLE_SESSIONS, 0, 0, false);
	store_close(merge->source);
	merge->source = NULL;
	return failed ? -1 : 0;
}

static int statements_make(struct merge *merge) {
	const struct store *target = merge->target;
	if (store_plans_make(merge->target, merge->err) ||
	    !(merge->plan = store_query(target, "INSERT INTO plans (search, plan) VALUES (?, ?)", NULL, 0, merge->err)))
		return -1;
	for (size_t t = 0; t < TABLES; t++)
		if (!(merge->add[t] = store_query(target, store_tables[t].insert, NULL, 0, merge->err)) ||
		    (store_tables[t].update &&
		     !(merge->end[t] = store_query(target, store_tables[t].update, NULL, 0, merge->err))))
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
	sqlite3_finalize(merge.plan);
	for (size_t t = 0; t < TABLES; t++) {
		sqlite3_finalize(merge.add[t]);
		sqlite3_finalize(merge.end[t]);
	}
	if (!failed && store_exec(target, "COMMIT", err) == 0)
		return 0;
	return store_rollback(target);
}
