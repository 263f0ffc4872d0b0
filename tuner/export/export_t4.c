/* SPDX-License-Identifier: GPL-3.0-or-later */
/* T4 results: every configuration that was measured, with its times in milliseconds and its status. */
#include <math.h>

#include "base/json/js.h"
#include "tuner/export/export.h"
#include "tuner/export/export_impl.h"
#include "tuner/trial/trial.h"

/* The time, then the counters. */
static json_t *measurements(const json_t *trial, double ms) {
	json_t *list = json_array();
	if (!isnan(ms))
		json_array_append_new(list, json_pack("{s:s,s:f,s:s}", "name", "time", "value", ms, "unit", "ms"));
	json_array_extend(list, json_object_get(trial, "counters"));
	return list;
}

/* Our status words are those of T4. A trial that was cut short because it was slow is "correct" there. */
static json_t *result_of(const json_t *trial) {
	const char *status = js_string_or(trial, "status", "");
	double setup = js_real_or(trial, "setup_s", 0) * 1e3, validation = js_real_or(trial, "verify_s", 0) * 1e3;
	if (strcmp(status, trial_status_word(TRIAL_CENSORED)) == 0)
		status = trial_status_word(TRIAL_CORRECT);
	bool right = strcmp(status, trial_status_word(TRIAL_CORRECT)) == 0;
	json_t *times = json_pack("{s:f,s:o,s:i,s:i,s:f}", "compilation", setup, "runtimes", export_samples_ms(trial),
	                          "framework", 0, "search_algorithm", 0, "validation", validation);
	return json_pack("{s:o,s:O,s:o,s:s,s:i,s:o,s:[s]}", "timestamp", export_timestamp(trial), "configuration",
	                 json_object_get(trial, "config"), "times", times, "invalidity", status, "correctness", right,
	                 "measurements", measurements(trial, right ? export_trial_ms(trial) : NAN), "objectives", "time");
}

static int t4_write(const struct profile *profile, FILE *out, struct err *err) {
	const struct profile_entry *entry = export_trials_entry(profile, "t4", err);
	if (!entry)
		return -1;
	json_t *results = json_array();
	js_each (trial, json_object_get(entry->json, "trials"))
		json_array_append_new(results, result_of(trial));
	json_t *document = json_pack("{s:s,s:{s:s,s:s},s:o}", "schema_version", "1.0.0", "metadata", "timeunit",
	                             "milliseconds", "benchmark", entry->kernel, "results", results);
	return export_document(document, out, "results", err);
}

const struct export_format export_t4 = {
	.name = "t4",
	.summary = "every configuration of one search, as T4 results",
	.trials = true,
	.write = t4_write,
};
