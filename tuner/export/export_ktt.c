/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results of KTT: every configuration that was measured, with its time in milliseconds and its counters. KTT has one
 * duration for a configuration, which is the median of the samples here. */
#include <math.h>

#include "base/json/js.h"
#include "tuner/export/export.h"
#include "tuner/export/export_impl.h"
#include "tuner/trial/trial.h"

static const char *status_word(const char *status) {
	static const struct {
		enum trial_status status;
		const char *word;
	} words[] = {{TRIAL_CORRECT, "Ok"},
	             {TRIAL_CENSORED, "Ok"},
	             {TRIAL_COMPILE, "CompilationFailed"},
	             {TRIAL_CORRECTNESS, "ValidationFailed"},
	             {TRIAL_CONSTRAINTS, "DeviceLimitsExceeded"}};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(status, trial_status_word(words[i].status)) == 0)
			return words[i].word;
	return "ComputationFailed";
}

static const char *type_of(const json_t *value) {
	if (json_is_integer(value))
		return json_integer_value(value) < 0 ? "Int" : "UnsignedInt";
	if (json_is_real(value))
		return "Double";
	return json_is_boolean(value) ? "Bool" : "String";
}

static json_t *configuration_of(const json_t *config) {
	json_t *list = json_array();
	js_members (name, value, config) {
		json_array_append_new(list,
		                      json_pack("{s:s,s:O,s:s}", "Name", name, "Value", value, "ValueType", type_of(value)));
	}
	return list;
}

static json_t *profiling_of(const json_t *counters) {
	json_t *list = json_array();
	js_each (counter, counters) {
		json_array_append_new(list, json_pack("{s:s,s:s,s:f}", "Name", js_string_or(counter, "name", ""), "Type",
		                                      "Double", "Value", js_real_or(counter, "value", 0)));
	}
	return json_pack("{s:o,s:i}", "Counters", list, "RemainingProfilingRuns", 0);
}

/* Our results do not have blocks and threads, but KTT requires their sizes. */
static json_t *one_size(void) {
	return json_pack("{s:i,s:i,s:i}", "X", 1, "Y", 1, "Z", 1);
}

static json_t *computations_of(const json_t *trial, const char *kernel, double ms) {
	json_t *list = json_array(), *counters = json_object_get(trial, "counters");
	if (isnan(ms))
		return list;
	json_t *one = json_pack("{s:s,s:f,s:i,s:o,s:o}", "KernelFunction", kernel, "Duration", ms, "Overhead", 0,
	                        "GlobalSize", one_size(), "LocalSize", one_size());
	if (json_array_size(counters))
		json_object_set_new(one, "ProfilingData", profiling_of(counters));
	json_array_append_new(list, one);
	return list;
}

static json_t *result_of(const json_t *trial, const char *kernel) {
	const char *word = status_word(js_string_or(trial, "status", ""));
	double ms = strcmp(word, "Ok") == 0 ? export_trial_ms(trial) : NAN;
	double setup = js_real_or(trial, "setup_s", 0) * 1e3, validation = js_real_or(trial, "verify_s", 0) * 1e3;
	return json_pack("{s:s,s:s,s:o,s:o,s:f,s:f,s:i,s:i,s:i,s:f}", "KernelName", kernel, "Status", word, "Configuration",
	                 configuration_of(json_object_get(trial, "config")), "ComputationResults",
	                 computations_of(trial, kernel, ms), "TotalDuration", isnan(ms) ? 0.0 : ms, "TotalOverhead",
	                 setup + validation, "ExtraDuration", 0, "DataMovementOverhead", 0, "SearcherOverhead", 0,
	                 "ValidationOverhead", validation);
}

static json_t *metadata_of(const struct profile *profile, const struct profile_entry *entry) {
	const char *device = js_string_or(entry->json, "device_name", NULL);
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "ComputeApi", device ? "CUDA" : "CPU", "GlobalSizeType",
	                 device ? "CUDA" : "OpenCL", "Platform", profile->generator, "Device", device ? device : "cpu",
	                 "KttVersion", "2.1.0", "TimeUnit", "Milliseconds", "Timestamp", profile->created);
}

static int ktt_write(const struct profile *profile, FILE *out, struct err *err) {
	const struct profile_entry *entry = export_trials_entry(profile, "ktt", err);
	if (!entry)
		return -1;
	json_t *results = json_array();
	js_each (trial, json_object_get(entry->json, "trials"))
		json_array_append_new(results, result_of(trial, entry->kernel));
	json_t *document = json_pack("{s:o,s:o}", "Metadata", metadata_of(profile, entry), "Results", results);
	return export_document(document, out, "results", err);
}

const struct export_format export_ktt = {
	.name = "ktt",
	.summary = "every configuration of one search, as results of KTT",
	.trials = true,
	.write = ktt_write,
};
