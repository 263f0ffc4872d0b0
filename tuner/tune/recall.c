/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/stats.h"
#include "tuner/tune/tune_impl.h"

enum kind { KIND_BASELINE, KIND_SEARCH, KIND_PROBE, KIND_NODE, KIND_COUNT };
struct row {
	char *config;
	enum kind kind;
	bool taken;
	double merged; /* the stored value, which merges all attempts so far */
	struct trial_result result;
};
struct recall {
	struct row *rows;
	size_t count, left;    /* left: rows of the search not taken yet */
	size_t at[KIND_COUNT]; /* all rows of this kind before this index are taken */
	bool searched, counted;
	double seconds;
};

static bool kind_find(const char *phase, enum kind *kind) {
	static const char *const phases[KIND_COUNT] = {"baseline", "search", "probe", "node"};
	for (int i = 0; i < KIND_COUNT; i++) {
		*kind = i;
		if (strcmp(phase, phases[i]) == 0)
			return true;
	}
	return false;
}

/* The value of a row may merge several trials, but its samples are its own. */
static struct trial_result result_of(const struct store_trial *trial, enum trial_status status) {
	struct trial_result result = {.status = status,
	                              .value = trial->value,
	                              .least = NAN,
	                              .elapsed_s = trial->elapsed,
	                              .disturbed = trial->disturbed,
	                              .sample_count = trial->sample_count};
	if (trial->sample_count) {
		result.samples = mem_alloc(trial->sample_count, sizeof *result.samples);
		memcpy(result.samples, trial->samples, trial->sample_count * sizeof *result.samples);
		result.least = stats_min(result.samples, result.sample_count);
	}
	if (status == TRIAL_CORRECT && trial->sample_count)
		result.value = stats_median(result.samples, result.sample_count);
	snprintf(result.message, sizeof result.message, "%s", trial->message ? trial->message : "");
	result.reply = json_incref((json_t *)trial->detail);
	return result;
}

static bool samples_good(const struct store_trial *trial) {
	for (size_t i = 0; i < trial->sample_count; i++)
		if (!(trial->samples[i] > 0 && isfinite(trial->samples[i])))
			return false;
	return true;
}

/* The other phases follow the search, but the baseline may have been counted before it. */
static void other_add(struct recall *recall, const char *phase) {
	bool counters = strcmp(phase, "counters") == 0;
	recall->searched = recall->searched || recall->counted || !counters;
	recall->counted = recall->counted || counters;
}

static int row_add(void *ctx, const struct store_trial *trial) {
	struct recall *recall = ctx;
	struct row row = {0};
	enum trial_status status;
	if (trial->elapsed > 0 && isfinite(trial->elapsed))
		recall->seconds += trial->elapsed;
	if (!kind_find(trial->phase, &row.kind)) {
		other_add(recall, trial->phase);
		return 0;
	}
	if (!trial_status_find(trial->status, &status) || !samples_good(trial) ||
	    ((status == TRIAL_CORRECT || status == TRIAL_CENSORED) && !(trial->value > 0)))
		return 0; /* implausible, so it is measured again */
	row.config = mem_strdup(trial->config);
	row.merged = trial->value;
	row.result = result_of(trial, status);
	recall->left += row.kind == KIND_SEARCH;
	recall->searched = recall->searched && row.kind != KIND_SEARCH; /* it went on after a comparison */
	recall->rows = mem_grow(recall->rows, recall->count + 1, sizeof *recall->rows);
	recall->rows[recall->count++] = row;
	return 0;
}

struct recall *recall_new(struct store *store, int64_t search, struct err *err) {
	struct recall *recall = mem_alloc(1, sizeof *recall);
	if (search == 0 || store_trials_each(store, search, NULL, row_add, recall, err) == 0)
		return recall;
	recall_free(recall);
	return NULL;
}

void recall_free(struct recall *recall) {
	if (!recall)
		return;
	for (size_t i = 0; i < recall->count; i++) {
		free(recall->rows[i].config);
		trial_result_clear(&recall->rows[i].result);
	}
	free(recall->rows);
	free(recall);
}

/* The first untaken row of this kind and configuration (NULL: any); recall->count if there is none. */
static size_t row_find(const struct recall *recall, enum kind kind, const json_t *config) {
	size_t i = recall->at[kind];
	char *text = i < recall->count ? js_canonical(config) : NULL;
	for (; i < recall->count; i++) {
		const struct row *row = &recall->rows[i];
		if (row->kind == kind && !row->taken && (!text || strcmp(row->config, text) == 0))
			break;
	}
	free(text);
	return i;
}

static void row_take(struct recall *recall, size_t i, struct trial_result *result) {
	struct row *row = &recall->rows[i];
	*result = row->result;
	row->result = (struct trial_result){.value = NAN, .least = NAN};
	row->taken = true;
	recall->left -= row->kind == KIND_SEARCH;
	for (size_t *at = &recall->at[row->kind]; *at < recall->count; ++*at)
		if (recall->rows[*at].kind == row->kind && !recall->rows[*at].taken)
			break;
}

bool recall_take(struct recall *recall, const char *phase, const json_t *config, struct trial_result *result) {
	enum kind kind;
	size_t i = kind_find(phase, &kind) ? row_find(recall, kind, config) : recall->count;
	if (i == recall->count)
		return false;
	row_take(recall, i, result);
	return true;
}

bool recall_probe(struct recall *recall, const json_t *next, struct trial_result *result) {
	size_t before = next ? row_find(recall, KIND_SEARCH, next) : recall->count;
	size_t i = row_find(recall, KIND_PROBE, NULL);
	if (i >= before)
		return false;
	row_take(recall, i, result);
	return true;
}

static int by_config(const void *a, const void *b) {
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
	int order = strcmp(x->config, y->config);
	return order ? order : (x > y) - (x < y);
}

static int by_row(const void *a, const void *b) {
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
	return (x > y) - (x < y);
}

/* Keeps the last successful row of each configuration, else its last one. The rows must be sorted by_config; returns
 * how many stay. */
static size_t last_of_each(struct row **rows, size_t count) {
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		bool other = kept == 0 || strcmp(rows[kept - 1]->config, rows[i]->config) != 0;
		if (other)
			kept++;
		else if (rows[i]->result.status != TRIAL_CORRECT && rows[kept - 1]->result.status == TRIAL_CORRECT)
			continue;
		rows[kept - 1] = rows[i];
	}
	return kept;
}

void recall_each(struct recall *recall, void (*each)(void *ctx, const char *config, const struct trial_result *result),
                 void *ctx) {
	struct row **rows = mem_alloc(recall->left + 1, sizeof *rows);
	size_t count = 0;
	for (size_t i = 0; i < recall->count; i++) {
		struct row *row = &recall->rows[i];
		if (row->kind == KIND_SEARCH && !row->taken)
			rows[count++] = row;
		row->taken = row->taken || row->kind == KIND_SEARCH;
	}
	qsort(rows, count, sizeof *rows, by_config);
	count = last_of_each(rows, count);
	qsort(rows, count, sizeof *rows, by_row);
	for (size_t i = 0; i < count; i++) {
		if (rows[i]->result.status == TRIAL_CORRECT && rows[i]->merged > 0)
			rows[i]->result.value = rows[i]->merged;
		each(ctx, rows[i]->config, &rows[i]->result);
	}
	recall->left = 0;
	free(rows);
}

size_t recall_row(const struct recall *recall, const json_t *config) {
	size_t row = row_find(recall, KIND_SEARCH, config);
	return row < recall->count ? row : SIZE_MAX;
}

bool recall_has(const struct recall *recall, const json_t *config) {
	return row_find(recall, KIND_SEARCH, config) < recall->count;
}

size_t recall_left(const struct recall *recall) {
	return recall->left;
}

bool recall_searched(const struct recall *recall) {
	return recall->searched;
}

double recall_seconds(const struct recall *recall) {
	return recall->seconds;
}
