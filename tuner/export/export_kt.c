/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernel Tuner's cache file: every configuration that was measured, under its values, with times in milliseconds.
 * Failures have a word in place of the time. */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/value.h"
#include "tuner/export/export.h"
#include "tuner/export/export_impl.h"
#include "tuner/trial/trial.h"

static const char *failure_word(const char *status) {
	static const struct {
		enum trial_status status;
		const char *word;
	} words[] = {{TRIAL_CONSTRAINTS, "InvalidConfig"}, {TRIAL_COMPILE, "CompilationFailedConfig"}};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(status, trial_status_word(words[i].status)) == 0)
			return words[i].word;
	return "RuntimeFailedConfig";
}

static bool is_failed(const char *status) {
	return strcmp(status, trial_status_word(TRIAL_CORRECT)) != 0 &&
	       strcmp(status, trial_status_word(TRIAL_CENSORED)) != 0;
}

/* Values as Python's str() writes them; a missing parameter is empty. */
static char *key_of(const json_t *config, const json_t *names) {
	char *key = mem_strdup("");
	js_each (name, names) {
		char text[64] = "";
		struct value value = value_int(0);
		const json_t *member = json_object_get(config, json_string_value(name));
		bool there = member && value_from_json(member, &value);
		if (there && value.type != VALUE_WORD)
			value_text(value, text, sizeof text);
		bool whole = value.type == VALUE_REAL && !strpbrk(text, ".en");
		mem_append(&key, "%s%s%s", name_at ? "," : "", there && value.type == VALUE_WORD ? value.as.w : text,
		           whole ? ".0" : "");
	}
	return key;
}

static json_t *line_of(const json_t *trial) {
	const char *status = js_string_or(trial, "status", "");
	json_t *line = json_copy(json_object_get(trial, "config"));
	double validation = js_real_or(trial, "verify_s", 0) * 1e3, setup = js_real_or(trial, "setup_s", 0) * 1e3;
	double benchmark = js_real_or(trial, "elapsed_s", 0) * 1e3 - validation - setup;
	json_object_set_new(line, "time",
	                    is_failed(status) ? json_string(failure_word(status)) : js_number(export_trial_ms(trial)));
	if (!is_failed(status))
		json_object_set_new(line, "times", export_samples_ms(trial));
	json_object_update_new(line,
	                       json_pack("{s:o,s:o,s:o,s:i,s:i,s:o}", "compile_time", js_number(setup), "verification_time",
	                                 js_number(validation), "benchmark_time", js_number(fmax(benchmark, 0)),
	                                 "strategy_time", 0, "framework_time", 0, "timestamp", export_timestamp(trial)));
	return line;
}

static bool has(const json_t *list, const json_t *value) {
	js_each (one, list)
		if (json_equal(one, value))
			return true;
	return false;
}

/* The parameters in the order of the winner, then of the first configuration that has them, each with the values that
 * were tried. */
static json_t *params_of(const json_t *best, const json_t *trials) {
	json_t *params = json_object();
	js_members (name, value, best)
		json_object_set_new(params, name, json_array());
	js_each (trial, trials) {
		js_members (name, value, json_object_get(trial, "config")) {
			if (!json_object_get(params, name))
				json_object_set_new(params, name, json_array());
			if (!has(json_object_get(params, name), value))
				json_array_append(json_object_get(params, name), value);
		}
	}
	return params;
}

/* {"size": "64x48"} is [64, 48], {"n": 2048} is [2048]. */
static json_t *size_of(const json_t *problem) {
	json_t *list = json_array();
	const char *size = js_string_or(problem, "size", NULL);
	for (char *end; size && *size; size = *end ? end + 1 : end) {
		json_array_append_new(list, json_integer(strtoll(size, &end, 10)));
		if (end == size)
			break;
	}
	js_members (name, value, problem)
		if (json_is_integer(value))
			json_array_append(list, value);
	return list;
}

static json_t *cache_of(const struct profile_entry *entry) {
	const json_t *trials = json_object_get(entry->json, "trials");
	json_t *params = params_of(entry->config, trials), *names = json_array(), *cache = json_object();
	js_members (name, value, params)
		json_array_append_new(names, json_string(name));
	for (size_t i = 0; i < json_array_size(trials); i++) {
		const json_t *trial = json_array_get(trials, i);
		mem_auto char *key = key_of(json_object_get(trial, "config"), names);
		json_object_set_new(cache, key, line_of(trial));
	}
	return json_pack("{s:s,s:s,s:o,s:o,s:o,s:s,s:o}", "device_name", js_string_or(entry->json, "device_name", "cpu"),
	                 "kernel_name", entry->kernel, "problem_size", size_of(entry->problem), "tune_params_keys", names,
	                 "tune_params", params, "objective", "time", "cache", cache);
}

static int kt_write(const struct profile *profile, FILE *out, struct err *err) {
	const struct profile_entry *entry = export_trials_entry(profile, "kt", err);
	if (!entry)
		return -1;
	json_t *document = cache_of(entry);
	return export_document(document, out, "cache file", err);
}

const struct export_format export_kt = {
	.name = "kt",
	.summary = "every configuration of one search, as Kernel Tuner's cache file",
	.trials = true,
	.write = kt_write,
};
