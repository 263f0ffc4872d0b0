/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/kernel/member.h"

#include <string.h>

#include "src/base/json/js.h"
#include "src/worker/kernel/word.h"

static int number_read(const json_t *json, const struct member *member, void *field, struct err *err) {
	int64_t value;
	if (js_int(json, member->key, member->min, member->type == MEMBER_INT ? member->max : INT64_MAX, &value, err) !=
	    0) {
		return -1;
	}
	if (member->type == MEMBER_INT) {
		*(int *)field = (int)value;
	} else {
		*(uint64_t *)field = (uint64_t)value;
	}
	return 0;
}

static int text_read(const json_t *json, const struct member *member, const char **out, struct err *err) {
	if (js_string(json, member->key, out, err) != 0) {
		return -1;
	}
	return strlen(*out) >= (size_t)member->min ? 0
	                                           : err_set(err, ERR_USAGE, "leave it out", "'%s' is empty", member->key);
}

static int words_read(struct arena *arena, const json_t *json, const struct member *member, const char ***out,
                      struct err *err) {
	json_t *array = json_object_get(json, member->key), *item;
	size_t i;
	if (array && !json_is_null(array) && js_array(json, member->key, (size_t)member->max, &array, err) != 0) {
		return -1;
	}
	*out = arena_alloc(arena, json_array_size(array) + 1, sizeof **out);
	json_array_foreach(array, i, item) {
		(*out)[i] = json_string_value(item);
		if (!(*out)[i]) {
			return err_set(err, ERR_USAGE, "write numbers as strings, too", "'%s' takes strings only", member->key);
		}
	}
	return 0;
}

static int member_read(struct arena *arena, const struct member *member, const json_t *json, void *field,
                       struct err *err) {
	const json_t *value = json_object_get(json, member->key);
	if (member->type == MEMBER_WORDS) {
		return words_read(arena, json, member, field, err);
	}
	if (!value || json_is_null(value)) {
		return 0;
	}
	switch (member->type) {
	case MEMBER_INT:
	case MEMBER_WHOLE:
		return number_read(json, member, field, err);
	case MEMBER_REAL:
		return js_real(json, member->key, 0, (double)member->max, field, err);
	case MEMBER_BOOL:
		return js_bool(json, member->key, field, err);
	case MEMBER_TEXT:
		return text_read(json, member, field, err);
	case MEMBER_READ:
		return member->read(value, field, err);
	default:
		return 0;
	}
}

int members_read(struct arena *arena, const struct member *members, size_t count, const json_t *json, void *out,
                 struct err *err) {
	const char **keys = arena_alloc(arena, count + 1, sizeof *keys);
	for (size_t i = 0; i < count; i++) {
		keys[i] = members[i].key;
	}
	if (word_check_keys(json, keys, count, err) != 0) {
		return -1;
	}
	for (size_t i = 0; i < count; i++) {
		if (member_read(arena, &members[i], json, (char *)out + members[i].offset, err) != 0) {
			return -1;
		}
	}
	return 0;
}
