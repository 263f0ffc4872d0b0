/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/request.h"

#include <string.h>

#include "src/base/js.h"
#include "src/worker/word.h"

static bool has(const json_t *json, const char *key) {
	const json_t *member = json_object_get(json, key);
	return member && !json_is_null(member);
}

static int int_member(const json_t *json, const char *key, int64_t max, int64_t fallback, int64_t *out,
                      struct err *err) {
	*out = fallback;
	return has(json, key) ? js_int(json, key, 0, max, out, err) : 0;
}

static int real_member(const json_t *json, const char *key, double max, double fallback, double *out,
                       struct err *err) {
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

static int series_member(const json_t *json, bool *out, struct err *err) {
	const json_t *series = json_object_get(json, "series");
	*out = json_is_true(series);
	return !series || json_is_null(series) || json_is_boolean(series)
	           ? 0
	           : err_set(err, ERR_USAGE, NULL, "series takes true or false");
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

static const struct kernel_entry *kernel_member(struct arena *arena, struct libraries *libraries, const json_t *json,
                                                struct err *err) {
	enum { KERNELS_MAX = 256 };
	const char *name, *known[KERNELS_MAX];
	const struct kernel_entry *entries =
		js_string(json, "kernel", &name, err) == 0 ? entries_member(libraries, json, err) : NULL;
	if (!entries) {
		return NULL;
	}
	size_t count = 0;
	for (const struct kernel_entry *entry = entries; entry->kernel; entry++) {
		if (strcmp(entry->kernel->name, name) == 0) {
			return entry;
		}
		if (count < KERNELS_MAX) {
			known[count++] = entry->kernel->name;
		}
	}
	word_unknown(name, known, count, arena_printf(arena, "no kernel \"%.100s\"", name), err);
	return NULL;
}

int request_read(struct arena *arena, struct libraries *libraries, const json_t *json, struct request *request,
                 struct err *err) {
	static const char *const keys[] = {"op",     "id",           "kernel",  "problem", "config",  "seed",    "samples",
	                                   "warmup", "min_sample_s", "limit_s", "verify",  "counters", "library",
	                                   "series"};
	int64_t samples, warmup, seed;
	if (word_check_keys(json, keys, sizeof keys / sizeof *keys, err) != 0 ||
	    int_member(json, "samples", 100000, 5, &samples, err) != 0 ||
	    int_member(json, "warmup", 100000, 1, &warmup, err) != 0 ||
	    int_member(json, "seed", INT64_MAX, 1, &seed, err) != 0 ||
	    real_member(json, "min_sample_s", 3600, 0.001, &request->min_sample_s, err) != 0 ||
	    real_member(json, "limit_s", 1e9, 0, &request->limit_s, err) != 0 ||
	    verify_member(json, &request->verify, err) != 0 || series_member(json, &request->series, err) != 0 ||
	    request_counters(arena, json, &request->counters, err) != 0) {
		return -1;
	}
	const struct kernel_entry *entry = kernel_member(arena, libraries, json, err);
	if (!entry || call_read(arena, entry, json_object_get(json, "problem"), json_object_get(json, "config"),
	                        &request->call, err) != 0) {
		return -1;
	}
	request->samples = (int)samples;
	request->warmup = (int)warmup;
	request->call.seed = (uint64_t)seed;
	return 0;
}
