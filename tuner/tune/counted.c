/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adds counters to the result. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/base/json/js.h"
#include "tuner/tune/counting.h"

static const json_t *counted_of(const struct tune *tune, const json_t *config) {
	char *key = config ? js_canonical(config) : NULL;
	const json_t *row = key ? json_object_get(tune->counting.counted, key) : NULL;
	free(key);
	return row;
}

/* Adds the counters of the configuration in setup["config"]; setup may be NULL. */
static void setup_add(const struct tune *tune, json_t *setup) {
	static const char *const keys[] = {"counters", "metrics", "simulation", "regions", "regions_notes"};
	const json_t *row = counted_of(tune, json_object_get(setup, "config"));
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		json_t *member = json_object_get(row, keys[i]);
		if (member)
			json_object_set(setup, keys[i], member);
	}
}

/* The overhead of counting: the geometric mean over all configurations, less 1. */
static double overhead_of(const struct tune *tune) {
	double sum = 0;
	int count = 0;
	const char *key;
	json_t *row;
	json_object_foreach(tune->counting.counted, key, row) {
		double overhead = js_real_or(json_object_get(row, "counting"), "overhead", NAN);
		if (overhead > -1) {
			sum += log1p(overhead);
			count++;
		}
	}
	return count ? expm1(sum / count) : NAN;
}

static double start_stop_of(const struct tune *tune) {
	double most = NAN;
	const char *key;
	json_t *row;
	json_object_foreach(tune->counting.counted, key, row) most =
		fmax(most, js_real_or(json_object_get(row, "counting"), "start_stop_s", NAN));
	return most;
}

static json_t *counting_json(const struct tune *tune) {
	json_t *asked = json_array();
	for (const char *const *word = tune->task->counters.asked; *word; word++)
		json_array_append_new(asked, json_string(*word));
	return json_pack("{s:o,s:b,s:b,s:I,s:f,s:o,s:o,s:O}", "asked", asked, "default", tune->task->counters.optional,
	                 "every", tune->task->counters.every, "configurations",
	                 (json_int_t)json_object_size(tune->counting.counted), "seconds", tune->counting.seconds,
	                 "overhead", js_number(overhead_of(tune)), "start_stop_s", js_number(start_stop_of(tune)),
	                 "failures", tune->counting.uncounted);
}

void tune_counted_add(const struct tune *tune, json_t *result) {
	if (!counting_asked(tune))
		return;
	setup_add(tune, json_object_get(result, "baseline"));
	setup_add(tune, json_object_get(result, "best"));
	size_t i;
	json_t *finalist;
	json_array_foreach(json_object_get(result, "finalists"), i, finalist) setup_add(tune, finalist);
	json_object_set_new(result, "counting", counting_json(tune));
}
