/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/request.h"

#include <string.h>

#include "src/base/json/js.h"
#include "src/worker/source/source.h"
#include "src/worker/kernel/word.h"

static bool has(const json_t *json, const char *key) {
	const json_t *member = json_object_get(json, key);
	return member && !json_is_null(member);
}

static int int_member(const json_t *json, const char *key, int64_t max, int64_t fallback, int64_t *out,
                      struct err *err) {
	*out = fallback;
	return has(json, key) ? js_int(json, key, 0, max, out, err) : 0;
}

static int real_member(const json_t *json, const char *key, double max, double fallback, double *out, struct err *err) {
	*out = fallback;
	return has(json, key) ? js_real(json, key, 0, max, out, err) : 0;
}

static int verify_member(const json_t *json, enum verify *out, struct err *err) {
	const json_t *verify = json_object_get(json, "verify");
	*out = VERIFY_ONCE;
	if (!verify || json_is_null(verify)) {
		return 0;
	}
	if (json_is_boolean(verify)) {
		*out = json_is_true(verify) ? VERIFY_ONCE : VERIFY_NEVER;
		return 0;
	}
	if (json_is_string(verify) && strcmp(json_string_value(verify), "always") == 0) {
		*out = VERIFY_ALWAYS;
		return 0;
	}
	return err_set(err, ERR_USAGE, NULL, "verify takes true, false or \"always\"");
}

static int bool_member(const json_t *json, const char *key, bool *out, struct err *err) {
	const json_t *member = json_object_get(json, key);
	*out = json_is_true(member);
	return !member || json_is_null(member) || json_is_boolean(member)
	           ? 0
	           : err_set(err, ERR_USAGE, NULL, "%s takes true or false", key);
}

static int objective_member(const json_t *json, bool *energy, struct err *err) {
	static const char *const words[] = {"time", "energy", "edp"};
	const char *word = words[0];
	if (has(json, "objective") && js_string(json, "objective", &word, err) != 0) {
		return -1;
	}
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (strcmp(word, words[i]) == 0) {
			*energy = i > 0;
			return 0;
		}
	}
	return word_unknown(word, words, sizeof words / sizeof *words, "objective takes another word", err);
}

static int device_member(const json_t *json, int *out, struct err *err) {
	const char *word = "cpu";
	return has(json, "device") && js_string(json, "device", &word, err) != 0 ? -1 : device_read(word, out, err);
}

int request_counters(struct arena *arena, const json_t *json, const char ***out, struct err *err) {
	json_t *names = NULL, *name;
	size_t i;
	if (has(json, "counters") && js_array(json, "counters", REQUEST_COUNTERS_MAX, &names, err) != 0) {
		return -1;
	}
	*out = arena_alloc(arena, json_array_size(names) + 1, sizeof **out);
	json_array_foreach(names, i, name) {
		if (!json_is_string(name)) {
			return err_set(err, ERR_USAGE, NULL, "counters takes names");
		}
		(*out)[i] = json_string_value(name);
	}
	return 0;
}

/* The built-in kernels, or those of the plug-in that the request names. */
static const struct kernel_entry *entries_member(struct libraries *libraries, const json_t *json, struct err *err) {
	const char *path;
	if (!has(json, "library")) {
		return kernel_registry;
	}
	return js_string(json, "library", &path, err) == 0 ? libraries_load(libraries, path, err) : NULL;
}

/* Kernels with a table for this device, each name once. */
static size_t names_on(const struct kernel_entry *entries, const char *device, const char **names, size_t most) {
	size_t count = 0;
	for (const struct kernel_entry *entry = entries; entry->kernel && count < most; entry++) {
		if (strcmp(kernel_device(entry->kernel), device) == 0) {
			names[count++] = entry->kernel->name;
		}
	}
	return count;
}

static const struct kernel_entry *kernel_member(struct arena *arena, struct libraries *libraries, const json_t *json,
                                                const char *device, struct err *err) {
	enum { KERNELS_MAX = 256 };
	const char *name, *known[KERNELS_MAX];
	const struct kernel_entry *entries =
		js_string(json, "kernel", &name, err) == 0 ? entries_member(libraries, json, err) : NULL;
	const struct kernel_entry *entry = entries ? kernel_find_on(entries, name, device) : NULL;
	if (entries == kernel_registry && !entry) {
		entry = kernel_find_on(source_entries, name, device);
	}
	if (entry || !entries) {
		return entry;
	}
	bool elsewhere = false;
	for (const struct kernel_entry *e = entries; e->kernel; e++) {
		elsewhere = elsewhere || strcmp(e->kernel->name, name) == 0;
	}
	size_t count = names_on(entries, device, known, KERNELS_MAX);
	const char *what =
		arena_printf(arena, elsewhere ? "kernel %.100s does not run on %s" : "no kernel \"%.100s\"", name, device);
	word_unknown(elsewhere ? "" : name, known, count, what, err);
	return NULL;
}

int request_read(struct arena *arena, struct libraries *libraries, const json_t *json, struct request *request,
                 struct err *err) {
	static const char *const keys[] = {"op",      "id",     "kernel",       "problem",  "config",   "seed",
	                                   "samples", "warmup", "min_sample_s", "limit_s",  "verify",   "counters",
	                                   "library", "series", "device",       "flush_l2", "objective"};
	int64_t samples, warmup, seed;
	int device;
	if (word_check_keys(json, keys, sizeof keys / sizeof *keys, err) != 0 ||
	    int_member(json, "samples", 100000, 5, &samples, err) != 0 ||
	    int_member(json, "warmup", 100000, 1, &warmup, err) != 0 ||
	    int_member(json, "seed", INT64_MAX, 1, &seed, err) != 0 ||
	    real_member(json, "min_sample_s", 3600, 0.001, &request->min_sample_s, err) != 0 ||
	    real_member(json, "limit_s", 1e9, 0, &request->limit_s, err) != 0 ||
	    verify_member(json, &request->verify, err) != 0 || bool_member(json, "series", &request->series, err) != 0 ||
	    bool_member(json, "flush_l2", &request->flush_l2, err) != 0 || device_member(json, &device, err) != 0 ||
	    objective_member(json, &request->energy, err) != 0 ||
	    request_counters(arena, json, &request->counters, err) != 0) {
		return -1;
	}
	const struct kernel_entry *entry = kernel_member(arena, libraries, json, device_kind(device), err);
	if (!entry || call_read(arena, entry, json_object_get(json, "problem"), json_object_get(json, "config"),
	                        &request->call, err) != 0) {
		return -1;
	}
	if (device == DEVICE_CPU && (request->flush_l2 || request->energy)) {
		return err_set(err, ERR_USAGE, "name a GPU: \"device\":\"cuda\"", "%s is for GPUs",
		               request->energy ? "measuring energy" : "flush_l2");
	}
	request->samples = (int)samples;
	request->warmup = (int)warmup;
	request->call.seed = (uint64_t)seed;
	request->call.device = device;
	return 0;
}
