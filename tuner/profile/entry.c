/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares entries of two profiles. */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/hash.h"
#include "base/text.h"
#include "tuner/profile/profile.h"
#include "tuner/profile/profile_impl.h"
#include "tuner/result/result.h"

/* Wisdom files of Kernel Launcher 1.0 (S. Heldens and B. van Werkhoven, "Kernel Launcher", 2023): a line of JSON names
 * the kernel, its parameters and the objective; each further one is a configuration that was measured for a size on a
 * device. The best of each size becomes an entry, without a baseline, because wisdom does not tell any. */
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
		if (count > 3 || number < 1)
			return err_null(err_set(err, ERR_USAGE, NULL, "problem_size must be up to three whole numbers"));
		used += (size_t)snprintf(word + used, sizeof word - used, "%s%lld", i ? "x" : "", (long long)number);
	}
	return count == 0   ? json_object()
	       : count == 1 ? json_pack("{s:O}", "size", json_array_get(size, 0))
	                    : json_pack("{s:s}", "size", word);
}

static json_t *config_json(const struct wisdom *w, const json_t *values, struct err *err) {
	if (json_array_size(values) != json_array_size(w->params))
		return err_null(err_set(err, ERR_USAGE, NULL, "config must have a value for each of tunable_parameters"));
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

void profile_device_kind(const json_t *entry, char *kind, size_t size) {
	const char *device = js_string_or(entry, "device", "cpu");
	snprintf(kind, size, "%.*s", (int)strcspn(device, ":"), device);
}

char *profile_entry_key(const json_t *entry) {
	char kind[32];
	profile_device_kind(entry, kind, sizeof kind);
	js_auto json_t *json = json_pack("[s,s,s,O]", js_string_or(entry, "kernel", ""),
	                                 js_string_or(entry, "objective", "time"), kind, json_object_get(entry, "problem"));
	return js_canonical(json);
}

const char *profile_entry_date(const json_t *entry) {
	return js_string_or(json_object_get(entry, "provenance"), "measured", "");
}

char *profile_entry_busy(const json_t *entry) {
	const json_t *busy = json_object_get(entry, "busy"), *load = json_object_get(busy, "load");
	long long processors = (long long)js_int_or(busy, "processors", 0);
	bool open = !verdict_is_decided(entry);
	const char *what = open ? "measured" : "decided";
	const char *narrower = open || verdict_of(entry) == VERDICT_FASTER ? js_string_or(busy, "narrower", NULL) : NULL;
	if (!busy)
		return NULL;
	if (!json_is_number(load))
		return mem_printf("%s on a busy machine", what);
	return mem_printf("%s on a busy machine: load %.3g on %lld processor%s%s%s%s", what, json_number_value(load),
	                  processors, processors == 1 ? "" : "s", narrower ? "; it uses fewer " : "",
	                  narrower ? narrower : "",
	                  !narrower ? ""
	                  : open    ? " than the baseline and may lead only because of that"
	                            : " than the baseline and may win only because of that");
}

static bool is_rate(const json_t *entry) {
	return js_bool_or(json_object_get(entry, "program"), "maximize", false);
}

static const char *metric_of(const json_t *entry) {
	return js_string_or(json_object_get(entry, "program"), "metric", "");
}

/* Orders entries by the quantity that they measure; 0 if it is the same. */
static int measure_order(const json_t *a, const json_t *b) {
	int order = strcmp(js_string_or(a, "unit", ""), js_string_or(b, "unit", ""));
	if (order == 0)
		order = strcmp(metric_of(a), metric_of(b));
	return order ? order : is_rate(a) - is_rate(b);
}

bool profile_entry_comparable(const json_t *a, const json_t *b) {
	return measure_order(a, b) == 0;
}

/* Above 0: a has the better median, 0: an equal one. Entries that cannot be compared have some fixed order. */
static int profile_entry_better(const json_t *a, const json_t *b) {
	double x = js_real_or(a, "median", 0), y = js_real_or(b, "median", 0);
	int order = measure_order(a, b), less = (x < y) - (x > y);
	return order ? order : is_rate(a) ? -less : less;
}

void profile_array_pick(json_t *array, const char *const *kernels) {
	for (size_t i = json_array_size(array); *kernels && i-- > 0;)
		if (!text_is_listed(js_string_or(json_array_get(array, i), "kernel", ""), kernels))
			json_array_remove(array, i);
}

int profile_pick(json_t *profile, const char *const *kernels, struct err *err) {
	json_t *entries = json_object_get(profile, "entries");
	if (!kernels || !*kernels)
		return 0;
	profile_array_pick(entries, kernels);
	profile_array_pick(json_object_get(profile, "sizes"), kernels);
	return json_array_size(entries)
	           ? 0
	           : err_set(err, ERR_NOTHING, NULL, "the profile does not have an entry for kernel %s", kernels[0]);
}

/* A part of a profile: of members with the same key only one may stay. */
struct part {
	const char *name, *word;
	char *(*key)(const json_t *one);
	const char *(*date)(const json_t *one);
	json_t *(*choice)(const json_t *one); /* the part that makes two members different recommendations */
	bool timed;                           /* a median tells which one is faster */
};

static json_t *entry_choice(const json_t *entry) {
	return json_incref(json_object_get(entry, "config"));
}

static char *sizes_key(const json_t *sizes) {
	char kind[32];
	profile_device_kind(sizes, kind, sizeof kind);
	js_auto json_t *json =
		json_pack("[s,s,s,s,O]", js_string_or(sizes, "kernel", ""), js_string_or(sizes, "objective", "time"), kind,
	              js_string_or(sizes, "over", ""), json_object_get(sizes, "problem"));
	return js_canonical(json);
}

static const char *sizes_date(const json_t *sizes) {
	return js_string_or(sizes, "created", "");
}

static json_t *sizes_choice(const json_t *sizes) {
	json_t *choice = json_array();
	js_each (range, json_object_get(sizes, "thresholds"))
		json_array_append_new(choice, json_pack("[O,O,O]", json_object_get(range, "from"), json_object_get(range, "to"),
		                                        json_object_get(range, "config")));
	return choice;
}

static const struct part parts[] = {
	{"entries", "entry", profile_entry_key, profile_entry_date, entry_choice, true},
	{"sizes", "sizes", sizes_key, sizes_date, sizes_choice, false},
};

struct merge {
	enum profile_prefer prefer;
	const char *fingerprint;
	json_t *conflicts;
	size_t open; /* unresolved conflicts */
};

/* Any order will do as long as it depends only on the two texts. */
static int text_order(const json_t *a, const json_t *b) {
	mem_auto char *left = js_canonical(a), *right = js_canonical(b);
	return strcmp(left, right);
}

static bool is_preferred(const struct part *part, enum profile_prefer prefer, const json_t *a, const json_t *b) {
	int order = 0;
	if (prefer == PROFILE_PREFER_FASTER && part->timed)
		order = profile_entry_better(a, b);
	if (order == 0)
		order = strcmp(part->date(a), part->date(b));
	return (order ? order : text_order(a, b)) > 0;
}

static bool is_same_choice(const struct part *part, const json_t *a, const json_t *b) {
	js_auto json_t *left = part->choice(a), *right = part->choice(b);
	return json_equal(left, right);
}

static json_t *brief(const struct part *part, const json_t *one) {
	json_t *json = json_pack("{s:s}", "measured", part->date(one));
	json_object_set_new(json, part->timed ? "config" : "thresholds", part->choice(one));
	if (part->timed)
		json_object_set(json, "median", json_object_get(one, "median"));
	return json;
}

/* Does a candidate contradict the kept one without being comparable with it? */
static bool is_open(const struct merge *merge, const struct part *part, const json_t *kept, const json_t *candidates) {
	if (merge->prefer != PROFILE_PREFER_FASTER || !part->timed)
		return merge->prefer == PROFILE_PREFER_NONE;
	js_each (one, candidates)
		if (!profile_entry_comparable(kept, one))
			return true;
	return false;
}

static int text_compare(const void *a, const void *b) {
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Keys of an object, sorted; the caller frees the array. */
static const char **keys_sorted(const json_t *object) {
	const char **keys = mem_alloc(json_object_size(object) + 1, sizeof *keys);
	size_t count = 0;
	js_members (key, value, object)
		keys[count++] = key;
	qsort(keys, count, sizeof *keys, text_compare);
	return keys;
}

/* Sorted, and each once. */
static json_t *set_array(json_t *set) {
	json_t *array = json_array();
	mem_auto const char **keys = keys_sorted(set);
	for (size_t i = 0; keys[i]; i++)
		json_array_append(array, json_object_get(set, keys[i]));
	json_decref(set);
	return array;
}

static json_t *left_of(const struct part *part, const json_t *kept, const json_t *candidates, bool open) {
	json_t *set = json_object();
	js_each (one, candidates) {
		if (!open && is_same_choice(part, kept, one))
			continue;
		json_t *short_form = brief(part, one);
		mem_auto char *text = js_canonical(short_form);
		json_object_set_new(set, text, short_form);
	}
	return set_array(set);
}

static void conflict_add(struct merge *merge, const struct part *part, const json_t *kept, const json_t *candidates) {
	bool open = is_open(merge, part, kept, candidates);
	merge->open += open;
	json_array_append_new(merge->conflicts,
	                      json_pack("{s:s,s:s,s:s,s:s,s:O,s:o,s:o}", "fingerprint", merge->fingerprint, "part",
	                                part->word, "kernel", js_string_or(kept, "kernel", ""), "objective",
	                                js_string_or(kept, "objective", "time"), "problem",
	                                json_object_get(kept, "problem"), "kept", open ? json_null() : brief(part, kept),
	                                "left", left_of(part, kept, candidates, open)));
}

/* Chooses one of the candidates for a key. Borrowed. */
static json_t *settle(struct merge *merge, const struct part *part, const json_t *candidates) {
	json_t *kept = json_array_get(candidates, 0);
	bool differ = false;
	js_each (one, candidates) {
		differ = differ || !is_same_choice(part, kept, one);
		if (is_preferred(part, merge->prefer, one, kept))
			kept = one;
	}
	if (differ)
		conflict_add(merge, part, kept, candidates);
	return kept;
}

/* {"key": [candidates]} */
static void candidates_add(json_t *keys, const struct part *part, json_t *one) {
	mem_auto char *key = part->key(one);
	json_t *candidates = json_object_get(keys, key);
	if (!candidates)
		json_object_set_new(keys, key, candidates = json_array());
	json_array_append(candidates, one);
}

/* Ranges carry the date of the profile that they come from, which a merged profile no longer has. */
static json_t *dated(const struct part *part, json_t *one, const json_t *profile) {
	if (part->timed || json_object_get(one, "created"))
		return json_incref(one);
	json_t *copy = json_copy(one);
	json_object_set(copy, "created", json_object_get(profile, "created"));
	return copy;
}

/* The newest last, as readers expect it. */
static json_t *part_merge(struct merge *merge, const struct part *part, const json_t *group) {
	json_t *keys = json_object(), *merged = json_object();
	size_t i;
	js_each (profile, group) {
		js_each (one, json_object_get(profile, part->name)) {
			js_auto json_t *candidate = dated(part, one, profile);
			candidates_add(keys, part, candidate);
		}
	}
	mem_auto const char **sorted = keys_sorted(keys);
	for (i = 0; sorted[i]; i++) {
		json_t *kept = settle(merge, part, json_object_get(keys, sorted[i]));
		mem_auto char *place = mem_printf("%s %s", part->date(kept), sorted[i]);
		json_object_set(merged, place, kept);
	}
	json_decref(keys);
	return set_array(merged);
}

/* The largest value of a member by its text: dates, and machines, which differ only in members outside the fingerprint.
 */
static json_t *largest(const json_t *group, const char *member) {
	json_t *found = json_object_get(json_array_get(group, 0), member);
	js_each (profile, group)
		if (text_order(json_object_get(profile, member), found) > 0)
			found = json_object_get(profile, member);
	return found;
}

static json_t *group_merge(struct merge *merge, const json_t *group) {
	json_t *profile =
		json_pack("{s:s,s:s,s:O,s:O}", "schema", "sweetspot-profile/1", "generator", "sweetspot " PACKAGE_VERSION,
	              "created", largest(group, "created"), "machine", largest(group, "machine"));
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		js_auto json_t *merged = part_merge(merge, &parts[i], group);
		if (parts[i].timed || json_array_size(merged))
			json_object_set(profile, parts[i].name, merged);
	}
	return profile;
}

static json_t *groups_of(const json_t *profiles) {
	json_t *groups = json_object();
	js_each (profile, profiles) {
		const char *fingerprint = js_string_or(json_object_get(profile, "machine"), "fingerprint", "");
		json_t *group = json_object_get(groups, fingerprint);
		if (!group)
			json_object_set_new(groups, fingerprint, group = json_array());
		json_array_append(group, profile);
	}
	return groups;
}

json_t *profile_merge(const json_t *profiles, enum profile_prefer prefer, json_t **conflicts, struct err *err) {
	struct merge merge = {.prefer = prefer, .conflicts = json_array()};
	js_auto json_t *groups = groups_of(profiles), *merged = json_array();
	mem_auto const char **fingerprints = keys_sorted(groups);
	for (size_t i = 0; fingerprints[i]; i++) {
		merge.fingerprint = fingerprints[i];
		json_array_append_new(merged, group_merge(&merge, json_object_get(groups, fingerprints[i])));
	}
	*conflicts = merge.conflicts;
	if (!merge.open)
		return json_incref(merged);
	return err_null(
		err_set(err, ERR_USAGE,
	            prefer == PROFILE_PREFER_NONE ? "settle it with --prefer newest or --prefer faster"
	                                          : "they measured different quantities: settle it with --prefer newest",
	            "%zu conflict%s: different configurations for the same machine, kernel, problem and objective",
	            merge.open, merge.open == 1 ? "" : "s"));
}
