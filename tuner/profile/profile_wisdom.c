/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wisdom files of Kernel Launcher 1.0 (S. Heldens and B. van Werkhoven, "Kernel Launcher", 2023): a line of JSON names
 * the kernel, its parameters and the objective; each further one is a configuration that was measured for a size on a
 * device. The best of each size becomes an entry, without a baseline, because wisdom does not tell any. */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/hash.h"
#include "tuner/profile/profile.h"
#include "tuner/profile/profile_wisdom_impl.h"

enum { WISDOM_PARAMS = 64 };
static const double MILLISECONDS = 1e3;

struct wisdom {
	const char *kernel, *objective;
	const json_t *params;
	const char *device; /* of the first record */
	json_t *entries;    /* {size: entry} */
};

static json_t *size_json(const json_t *size, struct err *err) {
	char word[80] = "";
	size_t used = 0, count = json_array_size(size);
	for (size_t i = 0; i < count; i++) {
		json_int_t number = json_integer_value(json_array_get(size, i));
		if (count > 3 || number < 1) {
			err_set(err, ERR_USAGE, NULL, "problem_size must be up to three whole numbers");
			return NULL;
		}
		used += (size_t)snprintf(word + used, sizeof word - used, "%s%lld", i ? "x" : "", (long long)number);
	}
	return count == 0   ? json_object()
	       : count == 1 ? json_pack("{s:O}", "size", json_array_get(size, 0))
	                    : json_pack("{s:s}", "size", word);
}

static json_t *config_json(const struct wisdom *w, const json_t *values, struct err *err) {
	if (json_array_size(values) != json_array_size(w->params)) {
		err_set(err, ERR_USAGE, NULL, "config must have a value for each of tunable_parameters");
		return NULL;
	}
	json_t *config = json_object();
	js_each (value, values)
		json_object_set(config, json_string_value(json_array_get(w->params, value_at)), value);
	return config;
}

static json_t *entry_make(const struct wisdom *w, const json_t *problem, json_t *config, double cost,
                          const char *date) {
	bool time = strcmp(w->objective, "time") == 0;
	json_t *entry =
		json_pack("{s:s,s:s,s:O,s:s,s:s,s:s,s:o,s:{},s:f,s:n,s:s,s:n,s:n,s:s,s:n,s:s}", "kernel", w->kernel, "source",
	              "wisdom", "problem", problem, "objective", w->objective, "device", "cuda", "device_name", w->device,
	              "config", config, "environment", "median", time ? cost / MILLISECONDS : cost, "ci", "unit",
	              time ? "s" : "", "baseline", "speedup", "verdict", "no baseline", "noise_floor", "state", "current");
	json_object_set_new(entry, "provenance",
	                    json_pack("{s:s,s:s,s:s,s:i,s:i,s:s,s:i,s:i}", "version", "1.0", "command", "Kernel Launcher",
	                              "strategy", "wisdom", "seed", 0, "evaluations", 1, "measured", date, "session", 0,
	                              "search", 0));
	return entry;
}

static int record_read(struct wisdom *w, const json_t *record, const char *date, struct err *err) {
	const char *device = js_string_or(json_object_get(record, "environment"), "device_name", "");
	double cost;
	if (js_real(record, w->objective, 0, HUGE_VAL, &cost, err))
		return -1;
	if (w->device && strcmp(w->device, device) != 0)
		return err_set(err, ERR_USAGE,
		               "a profile is of one GPU: keep the first line and the lines with one device_name",
		               "it has results of \"%.60s\" and of \"%.60s\"", w->device, device);
	w->device = device;
	js_auto json_t *problem = size_json(json_object_get(record, "problem_size"), err);
	json_t *config = problem ? config_json(w, json_object_get(record, "config"), err) : NULL;
	if (!config)
		return -1;
	mem_auto char *key = js_canonical(problem);
	js_auto json_t *entry = entry_make(w, problem, config, cost, date);
	const json_t *before = json_object_get(w->entries, key);
	if (!before || js_real_or(entry, "median", 0) < js_real_or(before, "median", 0))
		json_object_set(w->entries, key, entry);
	return 0;
}

static int header_read(struct wisdom *w, const json_t *header, struct err *err) {
	json_t *params;
	if (js_string(header, "key", &w->kernel, err) || js_string(header, "objective", &w->objective, err) ||
	    js_array(header, "tunable_parameters", WISDOM_PARAMS, &params, err))
		return -1;
	js_each (name, params)
		if (!json_is_string(name))
			return err_set(err, ERR_USAGE, NULL, "tunable_parameters must be names");
	w->params = params;
	return 0;
}

/* The next line that is neither empty nor a comment; NULL at the end. */
static const char *line_next(const char **text, size_t *size, size_t *number) {
	while (**text) {
		const char *line = *text + strspn(*text, " \t\r");
		*size = strcspn(line, "\n");
		*text = line + *size + (line[*size] == '\n');
		++*number;
		if (*size && *line != '#')
			return line;
	}
	return NULL;
}

static bool is_wisdom(const char *text) {
	size_t line = strcspn(text, "\n");
	const char *mark = strstr(text, "\"tunable_parameters\"");
	return mark && (size_t)(mark - text) < line;
}

static json_t *document(const struct wisdom *w, const char *date) {
	json_t *entries = json_array();
	char hash[SHA256_TEXT];
	js_members (key, entry, w->entries)
		json_array_append(entries, entry);
	sha256_text(w->device, strlen(w->device), hash);
	return json_pack("{s:s,s:s,s:s,s:{s:s,s:{s:s}},s:o}", "schema", "sweetspot-profile/1", "generator",
	                 "Kernel Launcher", "created", date, "machine", "fingerprint", hash, "gpu", "name", w->device,
	                 "entries", entries);
}

bool profile_wisdom_read(const char *text, const char *date, json_t **profile, struct err *err) {
	size_t size, number = 0;
	*profile = NULL;
	if (!is_wisdom(text))
		return false;
	const char *line = line_next(&text, &size, &number);
	js_auto json_t *header = line ? js_parse(line, size, "line 1", err) : NULL;
	struct wisdom w = {.entries = json_object()};
	int failed = !header || header_read(&w, header, err), records = 0;
	js_auto json_t *kept = json_array(); /* the records, whose texts are borrowed */
	while (!failed && (line = line_next(&text, &size, &number))) {
		json_t *record = js_parse(line, size, "it", err);
		failed = !record || record_read(&w, record, date, err);
		if (record)
			json_array_append_new(kept, record);
		if (failed)
			err_prefix(err, "line %zu", number);
		records++;
	}
	if (!failed && records == 0)
		failed = err_set(err, ERR_USAGE, NULL, "it does not have any results");
	if (!failed)
		*profile = document(&w, date);
	json_decref(w.entries);
	return true;
}
