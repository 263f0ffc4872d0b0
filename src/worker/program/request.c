/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/program/request.h"

#include <string.h>

#include "src/base/json/js.h"
#include "src/worker/kernel/word.h"

enum { PROGRAM_WORDS = 4096, PROGRAM_RUNS = 100000, PROGRAM_COUNTERS = 32 };

static bool has(const json_t *json, const char *key) {
	const json_t *member = json_object_get(json, key);
	return member && !json_is_null(member);
}

/* NULL-terminated; NULL and err for what is not an array of strings. */
static const char **words_member(struct arena *arena, const json_t *json, const char *key, size_t most,
                                 struct err *err) {
	json_t *array = NULL, *item;
	size_t i;
	if (has(json, key) && js_array(json, key, most, &array, err) != 0) {
		return NULL;
	}
	const char **words = arena_alloc(arena, json_array_size(array) + 1, sizeof *words);
	json_array_foreach(array, i, item) {
		words[i] = json_string_value(item);
		if (!words[i]) {
			err_set(err, ERR_USAGE, "numbers are written as strings, too", "%s takes strings only", key);
			return NULL;
		}
	}
	return words;
}

static int argv_member(struct arena *arena, const json_t *json, struct program_request *request, struct err *err) {
	request->argv = words_member(arena, json, "argv", PROGRAM_WORDS, err);
	if (!request->argv) {
		return -1;
	}
	if (!request->argv[0] || !request->argv[0][0]) {
		return err_set(err, ERR_USAGE, "argv is [PROGRAM, ARGUMENT, ...]", "no program is named");
	}
	return 0;
}

/* A star may end it. */
static int unset_member(struct arena *arena, const json_t *json, struct program_request *request, struct err *err) {
	const char **names = words_member(arena, json, "unset", PROGRAM_WORDS, err);
	for (size_t i = 0; names && names[i]; i++) {
		const char *star = strchr(names[i], '*');
		if (!names[i][0] || strchr(names[i], '=') || (star && star[1])) {
			return err_set(err, ERR_USAGE, "write NAME or PREFIX*", "\"%.100s\" in unset is no name of a variable",
			               names[i]);
		}
	}
	request->unset = names;
	return names ? 0 : -1;
}

static int env_member(struct arena *arena, const json_t *json, struct program_request *request, struct err *err) {
	json_t *object = NULL, *value;
	const char *name;
	if (has(json, "env") && js_object(json, "env", &object, err) != 0) {
		return -1;
	}
	if (json_object_size(object) > PROGRAM_WORDS) {
		return err_set(err, ERR_USAGE, NULL, "env has more than %d variables", PROGRAM_WORDS);
	}
	request->set = arena_alloc(arena, json_object_size(object) + 2, sizeof *request->set);
	size_t count = 1;
	json_object_foreach(object, name, value) {
		if (!name[0] || strchr(name, '=')) {
			return err_set(err, ERR_USAGE, NULL, "\"%.100s\" in env is no name of a variable", name);
		}
		if (!json_is_string(value)) {
			return err_set(err, ERR_USAGE, "numbers are written as strings, too", "%.100s in env takes a string", name);
		}
		request->set[count++] = arena_printf(arena, "%s=%s", name, json_string_value(value));
	}
	return 0;
}

static int text_member(const json_t *json, const char *key, const char **out, struct err *err) {
	*out = NULL;
	if (!has(json, key)) {
		return 0;
	}
	if (js_string(json, key, out, err) != 0) {
		return -1;
	}
	return **out ? 0 : err_set(err, ERR_USAGE, "leave it out", "%s is empty", key);
}

static int texts_read(const json_t *json, struct program_request *request, struct err *err) {
	const struct {
		const char *key, **out;
	} texts[] = {{"cwd", &request->cwd},
	             {"input", &request->input},
	             {"before", &request->before},
	             {"verify", &request->verify},
	             {"metric", &request->metric}};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		if (text_member(json, texts[i].key, texts[i].out, err) != 0) {
			return -1;
		}
	}
	return 0;
}

static int int_member(const json_t *json, const char *key, int64_t min, int64_t max, int64_t *value, struct err *err) {
	return has(json, key) ? js_int(json, key, min, max, value, err) : 0;
}

static int numbers_read(const json_t *json, struct program_request *request, struct err *err) {
	int64_t samples = 1, warmup = 0, file_limit = 0;
	request->timeout_s = request->limit_s = request->cut_s = 0;
	request->hash = request->regions = false;
	if (int_member(json, "samples", 1, PROGRAM_RUNS, &samples, err) != 0 ||
	    int_member(json, "warmup", 0, PROGRAM_RUNS, &warmup, err) != 0 ||
	    int_member(json, "file_limit", 0, INT64_MAX, &file_limit, err) != 0 ||
	    (has(json, "timeout_s") && js_real(json, "timeout_s", 0, 1e9, &request->timeout_s, err) != 0) ||
	    (has(json, "limit_s") && js_real(json, "limit_s", 0, 1e9, &request->limit_s, err) != 0) ||
	    (has(json, "cut_s") && js_real(json, "cut_s", 0, 1e9, &request->cut_s, err) != 0) ||
	    (has(json, "hash") && js_bool(json, "hash", &request->hash, err) != 0) ||
	    (has(json, "regions") && js_bool(json, "regions", &request->regions, err) != 0)) {
		return -1;
	}
	request->samples = (int)samples;
	request->warmup = (int)warmup;
	request->file_limit = (uint64_t)file_limit;
	return 0;
}

int program_request_read(struct arena *arena, const json_t *json, struct program_request *request, struct err *err) {
	static const char *const keys[] = {"op",     "id",     "argv",       "env",      "unset",     "cwd",     "input",
	                                   "before", "verify", "samples",    "warmup",   "timeout_s", "limit_s", "cut_s",
	                                   "metric", "hash",   "file_limit", "counters", "regions"};
	if (word_check_keys(json, keys, sizeof keys / sizeof *keys, err) != 0 ||
	    argv_member(arena, json, request, err) != 0 || env_member(arena, json, request, err) != 0 ||
	    unset_member(arena, json, request, err) != 0 || texts_read(json, request, err) != 0) {
		return -1;
	}
	request->counters = words_member(arena, json, "counters", PROGRAM_COUNTERS, err);
	return request->counters ? numbers_read(json, request, err) : -1;
}
