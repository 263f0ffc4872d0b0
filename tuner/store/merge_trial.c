/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>

#include "tuner/store/merge_impl.h"

#define TRIAL "phase, block, config, status, value, samples, started, elapsed, disturbed, message, detail"
enum { CONFIG = 2, VALUE = 4, SAMPLES = 5, DETAIL = 10, COUNT = 11, ID = 11 };

static sqlite3_stmt *trials_of(const struct merge *merge, const struct store *store, int64_t search) {
	const struct store_field fields[] = {store_int(search)};
	return store_query(store, "SELECT " TRIAL ", id FROM trials WHERE search = ? ORDER BY id", fields, 1, merge->err);
}

static int trial_check(const struct merge *merge, sqlite3_stmt *row) {
	if (!merge_json(row, CONFIG, JSON_OBJECT, false))
		return merge_damaged(merge, "a trial's configuration is not a JSON object");
	if (!merge_json(row, SAMPLES, JSON_ARRAY, false))
		return merge_damaged(merge, "a trial's samples are not a JSON array");
	if (!merge_json(row, DETAIL, JSON_OBJECT, true))
		return merge_damaged(merge, "a trial's detail is not a JSON object");
	return isfinite(sqlite3_column_double(row, VALUE)) ? 0
	                                                   : merge_damaged(merge, "a trial's value is not a finite number");
}

static int trial_add(struct merge *merge, sqlite3_stmt *row, int64_t search) {
	sqlite3_stmt *add = merge->add[MERGE_TRIAL_ADD];
	if (trial_check(merge, row) || merge_bind(merge, add, 1, row, 0, COUNT))
		return -1;
	sqlite3_bind_int64(add, COUNT + 1, search);
	if (merge_step(merge, add))
		return -1;
	merge->merged->trials++;
	return 0;
}

int merge_trials(struct merge *merge, int64_t from, int64_t to, bool is_new) {
	struct merge_keys *keys =
		is_new ? merge_keys_new() : merge_keys_read(merge, trials_of(merge, merge->target, to), 0, COUNT, ID);
	sqlite3_stmt *rows = keys ? trials_of(merge, merge->source, from) : NULL;
	int more;
	while ((more = store_step(merge->source, rows, merge->err)) > 0)
		if ((is_new || !merge_keys_claim(keys, rows, 0, COUNT)) && trial_add(merge, rows, to)) {
			more = -1;
			break;
		}
	sqlite3_finalize(rows);
	merge_keys_free(keys);
	return more;
}
