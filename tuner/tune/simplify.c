/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search leaves settings in its best configuration that never mattered, and people ask for a reason for each of them.
 * So the same configuration, with the baseline values of those settings, takes part in the race, where it wins if it is
 * as fast. */
#include <config.h>

#include <string.h>

#include "base/json/js.h"
#include "tuner/tune/state.h"

/* A parameter clearly matters if the interval of its effect excludes 1. */
static bool matters(const json_t *effects, const char *param) {
	size_t i;
	json_t *effect;
	json_array_foreach((json_t *)effects, i, effect) {
		if (strcmp(js_string_or(effect, "param", ""), param) != 0)
			continue;
		double low = json_number_value(json_array_get(json_object_get(effect, "ci"), 0));
		return js_bool_or(effect, "known", false) && low > 1.01;
	}
	return false;
}

static void put_back(json_t *config, const json_t *baseline, const char *param) {
	json_t *today = json_object_get(baseline, param);
	if (today)
		json_object_set(config, param, today);
	else
		json_object_del(config, param);
}

/* Resets a parameter to its baseline value, together with parameters that depend on its old one, if that gives a valid
 * configuration. */
static json_t *without(const struct tune *tune, json_t *config, const json_t *effects, const char *param) {
	const json_t *baseline = tune->task->baseline;
	json_t *changed = json_copy(config);
	const char *name;
	json_t *value;
	uint64_t index;
	put_back(changed, baseline, param);
	for (int also = 0; also < 2; also++) {
		if (!space_config_read(tune->task->space, changed, NULL, &index, NULL)) {
			json_decref(config);
			return changed;
		}
		json_object_foreach(config, name, value) if (!json_object_get(baseline, name) && !matters(effects, name))
			json_object_del(changed, name);
	}
	json_decref(changed);
	return config;
}

json_t *tune_simplified(const struct tune *tune, const json_t *config) {
	json_t *effects = tune_effects(tune), *simple = json_copy((json_t *)config);
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)config, name, value) {
		const json_t *today = json_object_get(tune->task->baseline, name);
		if (json_object_get(simple, name) && !json_equal(value, today) && !matters(effects, name))
			simple = without(tune, simple, effects, name);
	}
	json_decref(effects);
	if (!json_equal(simple, config))
		return simple;
	json_decref(simple);
	return NULL;
}
