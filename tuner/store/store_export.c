/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/json/js.h"
#include "tuner/store/store_impl.h"
#include "tuner/trial/trial.h"

/* Facts are picked by their names, because a fact that a later version adds may be private. */
static const char *const facts[] = {"cpu",         "packages", "numa_nodes", "llcs",     "cores",  "threads",
                                    "caches",      "virtual",  "synthetic",  "compiler", "cflags", "openmp",
                                    "fingerprint", "gpu",      "device",     NULL};
static const char *const gpu_facts[] = {
	"name", "architecture", "compute_capability", "multiprocessors", "memory", "bytes", "driver", "clock_hz", NULL};

/* Is `word` in the text, and not only as a part of a longer word? */
static bool has_word(const char *text, const char *word) {
	size_t size = word ? strlen(word) : 0;
	for (const char *at = size ? strstr(text, word) : NULL; at; at = strstr(at + 1, word))
		if ((at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[size]))
			return true;
	return false;
}

static bool names_private(const char *text) {
	char host[256] = "";
	if (strpbrk(text, "/\\~"))
		return true;
	if (gethostname(host, sizeof host - 1))
		*host = '\0';
	return has_word(text, host) || has_word(text, getenv("USER")) || has_word(text, getenv("LOGNAME"));
}

static bool is_private(const json_t *value) {
	const char *name;
	json_t *member;
	size_t i;
	if (json_is_string(value))
		return names_private(json_string_value(value));
	json_object_foreach((json_t *)value, name, member) {
		if (names_private(name) || is_private(member))
			return true;
	}
	json_array_foreach((json_t *)value, i, member) {
		if (is_private(member))
			return true;
	}
	return false;
}

static json_t *picked(const json_t *from, const char *const *names) {
	json_t *to = json_object();
	for (; *names; names++) {
		json_t *fact = json_object_get(from, *names);
		if (fact && !is_private(fact))
			json_object_set(to, *names, fact);
	}
	return to;
}

json_t *share_machine(const json_t *machine) {
	json_t *shared = picked(machine, facts);
	if (json_is_object(json_object_get(machine, "gpu")))
		json_object_set_new(shared, "gpu", picked(json_object_get(machine, "gpu"), gpu_facts));
	if (json_object_get(machine, "hypervisor"))
		json_object_set_new(shared, "virtual", json_true());
	return shared;
}

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
	if (!exporting->wish->private && is_private(search))
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

struct gather {
	json_t *list, *by_config;
};

static bool is_named(const json_t *rows, const char *name) {
	size_t i;
	json_t *row;
	json_array_foreach((json_t *)rows, i, row) {
		if (strcmp(js_string_or(row, "name", ""), name) == 0)
			return true;
	}
	return false;
}

/* Counters come from the first trial that counted them. */
static void counters_add(json_t *json, const json_t *detail) {
	json_t *rows = json_object_get(json, "counters"), *counter;
	size_t i;
	json_array_foreach(json_object_get(detail, "counters"), i, counter) {
		const char *name = js_string_or(counter, "name", "");
		double value = js_real_or(counter, "value", NAN);
		if (!*name || !isfinite(value) || is_named(rows, name))
			continue;
		json_array_append_new(rows, json_pack("{s:s,s:O,s:s}", "name", name, "value", json_object_get(counter, "value"),
		                                      "unit", js_string_or(counter, "unit", "")));
	}
}

static json_t *trial_json(const struct store_trial *trial) {
	json_t *config = json_loads(trial->config, 0, NULL), *json = json_object();
	json_object_set_new(json, "config", json_is_object(config) ? json_incref(config) : json_object());
	json_object_set_new(json, "status", json_string(trial->status));
	json_object_set_new(json, "samples", json_array());
	json_object_set_new(json, "counters", json_array());
	counters_add(json, trial->detail);
	json_object_set_new(json, "started", js_number(trial->started));
	json_object_set_new(json, "elapsed_s", js_number(trial->elapsed));
	json_object_set_new(json, "setup_s", js_number(js_real_or(trial->detail, "setup_s", 0)));
	json_object_set_new(json, "verify_s", js_number(js_real_or(trial->detail, "verify_s", 0)));
	if (trial->message)
		json_object_set_new(json, "message", json_string(trial->message));
	json_decref(config);
	return json;
}

/* A later trial adds its samples. A failure decides the status, because the configuration may fail again. Runs of the
 * counters contribute nothing else. */
static int configuration_add(void *ctx, const struct store_trial *trial) {
	struct gather *gather = ctx;
	bool cut = strcmp(trial->status, trial_status_word(TRIAL_CENSORED)) == 0;
	bool counted = strcmp(trial->phase, "counters") == 0;
	json_t *json = json_object_get(gather->by_config, trial->config);
	if (json && trial->detail)
		counters_add(json, trial->detail);
	if (counted || (cut && trial->sample_count == 0))
		return 0;
	if (!json) {
		json = trial_json(trial);
		json_object_set_new(gather->by_config, trial->config, json);
		json_array_append(gather->list, json);
	}
	if (cut || strcmp(trial->status, trial_status_word(TRIAL_CORRECT)) == 0) {
		for (size_t i = 0; i < trial->sample_count; i++)
			json_array_append_new(json_object_get(json, "samples"), js_number(trial->samples[i]));
	} else {
		json_object_set_new(json, "status", json_string(trial->status));
	}
	return 0;
}

json_t *store_trials_json(struct store *store, int64_t search, struct err *err) {
	struct gather gather = {.list = json_array(), .by_config = json_object()};
	int failed = store_trials_each(store, search, NULL, configuration_add, &gather, err);
	json_decref(gather.by_config);
	if (!failed)
		return gather.list;
	json_decref(gather.list);
	return NULL;
}
