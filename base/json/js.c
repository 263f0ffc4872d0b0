/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include "base/json/member.h"
#include "base/json/save.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/text.h"
#include "base/value.h"

static void *memory_get(size_t size) {
	return mem_grow(NULL, size, 1);
}

void js_end_without_memory(void) {
	json_set_alloc_funcs(memory_get, free);
}

json_t *js_parse(const char *text, size_t size, const char *where, struct err *err) {
	json_error_t why;
	if (size && memchr(text, '\0', size)) /* jansson ignores a 0 byte behind a number */
		return err_null(err_set(err, ERR_USAGE, NULL, "%s is not valid JSON: it contains 0 bytes", where));
	json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
	if (!json)
		err_set(err, ERR_USAGE, NULL, "%s is not valid JSON: line %d, column %d: %s", where, why.line, why.column,
		        why.text);
	return json;
}

json_t *js_load(const char *path, size_t limit, struct err *err) {
	bool is_stdin = strcmp(path, "-") == 0;
	const char *where = is_stdin ? "standard input" : path;
	size_t size;
	mem_auto char *text =
		is_stdin ? sys_read_fd(STDIN_FILENO, where, limit, &size, err) : sys_read_file(path, limit, &size, err);
	return text ? js_parse(text, size, where, err) : NULL;
}

char *js_canonical(const json_t *value) {
	return json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
}

/* NULL and err if the member is absent or of another type. */
static json_t *member(const json_t *object, const char *key, bool (*is)(const json_t *), const char *wanted,
                      struct err *err) {
	json_t *json = json_object_get(object, key);
	if (json && is(json))
		return json;
	if (json)
		err_set(err, ERR_USAGE, NULL, "'%s' must be %s", key, wanted);
	else
		err_set(err, ERR_USAGE, NULL, "'%s' is missing", key);
	return NULL;
}

static bool is_number(const json_t *json) {
	return json_is_number(json);
}

static bool is_whole(const json_t *json) {
	double real = json_real_value(json);
	return json_is_integer(json) || (json_is_real(json) && real >= -0x1p63 && real < 0x1p63 && real == floor(real));
}

static int64_t whole(const json_t *json) {
	return json_is_integer(json) ? json_integer_value(json) : (int64_t)json_real_value(json);
}

int js_int(const json_t *object, const char *key, int64_t min, int64_t max, int64_t *out, struct err *err) {
	const json_t *json = member(object, key, is_whole, "a whole number", err);
	if (!json)
		return -1;
	*out = whole(json);
	if (*out >= min && *out <= max)
		return 0;
	return err_set(err, ERR_USAGE, NULL, "'%s' must be from %" PRId64 " to %" PRId64 ", not %" PRId64, key, min, max,
	               *out);
}

int js_real(const json_t *object, const char *key, double min, double max, double *out, struct err *err) {
	const json_t *json = member(object, key, is_number, "a number", err);
	if (!json)
		return -1;
	*out = json_number_value(json);
	if (*out >= min && *out <= max)
		return 0;
	return err_set(err, ERR_USAGE, NULL, "'%s' must be from %g to %g, not %g", key, min, max, *out);
}

static bool is_bool(const json_t *json) {
	return json_is_boolean(json);
}

int js_bool(const json_t *object, const char *key, bool *out, struct err *err) {
	const json_t *json = member(object, key, is_bool, "true or false", err);
	if (json)
		*out = json_is_true(json);
	return json ? 0 : -1;
}

static bool is_string(const json_t *json) {
	return json_is_string(json);
}

int js_string(const json_t *object, const char *key, const char **out, struct err *err) {
	const json_t *json = member(object, key, is_string, "a string", err);
	if (json)
		*out = json_string_value(json);
	return json ? 0 : -1;
}

static bool is_object(const json_t *json) {
	return json_is_object(json);
}

int js_object(const json_t *object, const char *key, json_t **out, struct err *err) {
	json_t *json = member(object, key, is_object, "an object", err);
	if (json)
		*out = json;
	return json ? 0 : -1;
}

static bool is_array(const json_t *json) {
	return json_is_array(json);
}

int js_array(const json_t *object, const char *key, size_t max, json_t **out, struct err *err) {
	json_t *json = member(object, key, is_array, "an array", err);
	if (!json)
		return -1;
	if (json_array_size(json) > max)
		return err_set(err, ERR_USAGE, NULL, "'%s' has more than %zu items", key, max);
	*out = json;
	return 0;
}

const char *js_string_or(const json_t *object, const char *key, const char *fallback) {
	const json_t *json = json_object_get(object, key);
	return json_is_string(json) ? json_string_value(json) : fallback;
}

double js_real_or(const json_t *object, const char *key, double fallback) {
	const json_t *json = json_object_get(object, key);
	return json_is_number(json) ? json_number_value(json) : fallback;
}

int64_t js_int_or(const json_t *object, const char *key, int64_t fallback) {
	const json_t *json = json_object_get(object, key);
	return json && is_whole(json) ? whole(json) : fallback;
}

bool js_bool_or(const json_t *object, const char *key, bool fallback) {
	const json_t *json = json_object_get(object, key);
	return json_is_boolean(json) ? json_is_true(json) : fallback;
}

bool js_same(const json_t *a, const json_t *b, const char *const *keys) {
	while (*keys && json_equal(json_object_get(a, *keys), json_object_get(b, *keys)))
		keys++;
	return !*keys;
}

const json_t *js_at(const json_t *json, const char *path) {
	while (json && *path) {
		size_t length = strcspn(path, ".");
		char key[64], *end;
		snprintf(key, sizeof key, "%.*s", (int)length, path);
		size_t place = strtoul(key, &end, 10);
		json = !json_is_array(json) ? json_object_get(json, key) : *end ? NULL : json_array_get(json, place);
		path += length + (path[length] == '.');
	}
	return json;
}

static void member_take(enum member_type type, const json_t *value, void *field) {
	if (type == MEMBER_COUNT && is_whole(value))
		*(int64_t *)field = whole(value);
	else if (type == MEMBER_REAL && json_is_number(value))
		*(double *)field = json_number_value(value);
	else if (type == MEMBER_BOOL && json_is_boolean(value))
		*(bool *)field = json_is_true(value);
	else if (type == MEMBER_TEXT && json_is_string(value))
		*(const char **)field = json_string_value(value);
	else if (type == MEMBER_JSON)
		*(const json_t **)field = value;
}

void members_take(const struct member *members, const json_t *json, void *out) {
	for (; members->key; members++) {
		const json_t *value = js_at(json, members->key);
		if (value && !json_is_null(value))
			member_take(members->type, value, (char *)out + members->offset);
	}
}

json_t *js_text(const char *text) {
	mem_auto char *copy = mem_strdup(text);
	text_clean(copy, false);
	return json_string(copy);
}

json_t *js_number(double value) {
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *js_reals(const double *x, size_t count) {
	json_t *array = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, js_number(x[i]));
	return array;
}

json_t *js_find(const json_t *array, const char *key, const char *text) {
	js_each (one, array)
		if (strcmp(js_string_or(one, key, ""), text) == 0)
			return one;
	return NULL;
}

json_t *js_named(const json_t *array, const char *name) {
	return js_find(array, "name", name);
}

bool js_has(const json_t *array, const char *text) {
	js_each (one, array)
		if (json_is_string(one) && strcmp(json_string_value(one), text) == 0)
			return true;
	return false;
}

/* Our own writer, because jansson prints 0.1 as 0.10000000000000001 and an array of samples with one number per line,
 * and people read this output. */

static void write_value(const json_t *value, int depth, FILE *out);

/* True if the string needs no escapes, as nearly all names and words do. */
static bool is_simple(const char *text, size_t length) {
	for (size_t i = 0; i < length; i++)
		if (text[i] < ' ' || text[i] > '~' || text[i] == '"' || text[i] == '\\')
			return false;
	return true;
}

void js_text_write(const char *text, FILE *out) {
	for (size_t left = strlen(text), length; left; text += length, left -= length) {
		length = text_utf8(text, left);
		length = length ? length : 1;
		if (!text_is_control(text, length))
			fwrite(text, 1, length, out);
		else
			text_code_point(out, text, length);
	}
}

static void write_plain(const json_t *value, FILE *out) {
	if (json_is_string(value) && is_simple(json_string_value(value), json_string_length(value))) {
		fprintf(out, "\"%s\"", json_string_value(value));
		return;
	}
	if (json_is_integer(value)) {
		fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		return;
	}
	mem_auto char *text = json_dumps(value, JSON_ENCODE_ANY);
	js_text_write(text ? text : "null", out);
}

/* Keep a point in a real number, for readers that tell 2.0 from 2. */
static void write_real(double real, FILE *out) {
	char text[32];
	value_text(value_real(real), text, sizeof(text));
	fprintf(out, "%s%s", text, text[strcspn(text, ".e")] ? "" : ".0");
}

static void new_line(int depth, FILE *out) {
	fprintf(out, "\n%*s", 2 * depth, "");
}

static bool is_flat(const json_t *array) {
	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *item = json_array_get(array, i);
		if (json_is_object(item) || json_is_array(item))
			return false;
	}
	return true;
}

static void write_array(const json_t *array, int depth, FILE *out) {
	bool flat = is_flat(array);
	fputc('[', out);
	for (size_t i = 0; i < json_array_size(array); i++) {
		fputs(i == 0 ? "" : flat ? ", " : ",", out);
		if (!flat)
			new_line(depth + 1, out);
		write_value(json_array_get(array, i), depth + 1, out);
	}
	if (!flat)
		new_line(depth, out);
	fputc(']', out);
}

static void write_key(const char *key, FILE *out) {
	if (is_simple(key, strlen(key))) {
		fprintf(out, "\"%s\": ", key);
		return;
	}
	js_auto json_t *name = json_string(key);
	write_plain(name, out);
	fputs(": ", out);
}

static void write_object(json_t *object, int depth, FILE *out) {
	const char *comma = "";
	fputc('{', out);
	js_members (key, item, object) {
		fputs(comma, out);
		comma = ",";
		new_line(depth + 1, out);
		write_key(key, out);
		write_value(item, depth + 1, out);
	}
	if (json_object_size(object))
		new_line(depth, out);
	fputc('}', out);
}

static void write_value(const json_t *value, int depth, FILE *out) {
	if (json_is_object(value))
		write_object((json_t *)value, depth, out);
	else if (json_is_array(value))
		write_array(value, depth, out);
	else if (json_is_real(value))
		write_real(json_real_value(value), out);
	else
		write_plain(value, out);
}

int js_write(const json_t *value, FILE *out) {
	write_value(value, 0, out);
	fputc('\n', out);
	return fflush(out) == 0 && !ferror(out) ? 0 : -1;
}

int js_print(json_t *document) {
	int failed = js_write(document, stdout);
	json_decref(document);
	return failed;
}

int js_save(const json_t *document, const char *path, struct err *err) {
	mem_auto char *text = NULL;
	size_t size = 0;
	if (!path || strcmp(path, "-") == 0) {
		js_write(document, stdout);
		return 0;
	}
	FILE *memory = open_memstream(&text, &size);
	int failed = !memory || js_write(document, memory);
	failed = (memory && fclose(memory)) || failed;
	return failed ? err_set(err, ERR_FAILED, NULL, "out of memory") : sys_write_file(path, text, size, err);
}
