/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/sha256.h"
#include "tuner/store/share.h"
#include "tuner/store/share_impl.h"

struct exporting {
	struct store *store;
	const struct share_wish *wish;
	json_t *searches;
	size_t hidden;
	struct err *err;
	bool failed;
};

static json_t *parsed(const char *text) {
	json_t *json = js_parse(text, strlen(text), "the store", NULL);
	return json ? json : json_object();
}

static json_t *text_or_null(const char *text) {
	return text && *text ? js_text(text) : json_null();
}

static int trial_add(void *ctx, const struct store_trial *trial) {
	json_array_append_new(ctx, json_pack("{s:o,s:o,s:o,s:o,s:o}", "config", parsed(trial->config), "status",
	                                     js_text(trial->status), "value", js_number(trial->value), "samples",
	                                     js_reals(trial->samples, trial->sample_count), "elapsed_s",
	                                     js_number(trial->elapsed)));
	return 0;
}

static bool is_wanted(const struct share_wish *wish, const char *kernel) {
	if (!wish->kernels)
		return true;
	for (const char *const *name = wish->kernels; *name; name++)
		if (strcmp(*name, kernel) == 0)
			return true;
	return false;
}

static json_t *search_json(struct exporting *exporting, const struct store_row *row) {
	json_t *trials = json_array();
	if (store_evaluations_each(exporting->store, row->search, INT64_MAX, trial_add, trials, exporting->err)) {
		json_decref(trials);
		exporting->failed = true;
		return NULL;
	}
	return json_pack(
		"{s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:o,s:o,s:o,s:o}", "kernel", js_text(row->kernel), "source",
		text_or_null(row->source), "problem", parsed(row->problem), "objective", js_text(row->objective), "strategy",
		text_or_null(row->strategy), "seed", (json_int_t)row->seed, "valid", (json_int_t)row->valid, "started",
		js_number(row->started), "fingerprint", js_text(row->fingerprint), "machine",
		exporting->wish->private ? json_deep_copy(row->machine) : share_machine(row->machine), "trials", trials);
}

static int search_add(void *ctx, const struct store_row *row) {
	struct exporting *exporting = ctx;
	if (!is_wanted(exporting->wish, row->kernel))
		return 0;
	json_t *search = search_json(exporting, row);
	if (!search)
		return 1;
	if (!exporting->wish->private && share_is_private(search))
		exporting->hidden++;
	else if (json_array_size(json_object_get(search, "trials")))
		json_array_append(exporting->searches, search);
	json_decref(search);
	return 0;
}

void share_hash(const json_t *value, char out[SHA256_TEXT]) {
	char *text = js_canonical(value);
	sha256_text(text, strlen(text), out);
	free(text);
}

json_t *share_searches(struct store *store, const struct share_wish *wish, size_t *hidden, struct err *err) {
	struct exporting exporting = {.store = store, .wish = wish, .searches = json_array(), .err = err};
	int failed = store_each(store, STORE_SHARED, NULL, search_add, &exporting, err);
	*hidden = exporting.hidden;
	if (!failed && !exporting.failed)
		return exporting.searches;
	json_decref(exporting.searches);
	return NULL;
}

json_t *share_export(struct store *store, const struct share_wish *wish, size_t *hidden, struct err *err) {
	char hash[SHA256_TEXT];
	json_t *searches = share_searches(store, wish, hidden, err);
	if (!searches)
		return NULL;
	share_hash(searches, hash);
	return json_pack("{s:s,s:s,s:o}", "schema", SHARE_SCHEMA, "hash", hash, "searches", searches);
}
