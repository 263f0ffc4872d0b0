/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "tuner/store/store.h"
#include "tuner/trial/trial.h"

struct gather {
	json_t *list, *by_config;
};

static bool is_named(const json_t *rows, const char *name) {
	js_each (row, rows)
		if (strcmp(js_string_or(row, "name", ""), name) == 0)
			return true;
	return false;
}

/* Counters come from the first trial that counted them. */
static void counters_add(json_t *json, const json_t *detail) {
	json_t *rows = json_object_get(json, "counters");
	js_each (counter, json_object_get(detail, "counters")) {
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
static int trial_add(void *ctx, const struct store_trial *trial) {
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
	if (cut || strcmp(trial->status, trial_status_word(TRIAL_CORRECT)) == 0)
		for (size_t i = 0; i < trial->sample_count; i++)
			json_array_append_new(json_object_get(json, "samples"), js_number(trial->samples[i]));
	else
		json_object_set_new(json, "status", json_string(trial->status));
	return 0;
}

json_t *store_trials_json(struct store *store, int64_t search, struct err *err) {
	struct gather gather = {.list = json_array(), .by_config = json_object()};
	int failed = store_trials_each(store, search, NULL, trial_add, &gather, err);
	json_decref(gather.by_config);
	if (!failed)
		return gather.list;
	json_decref(gather.list);
	return NULL;
}
