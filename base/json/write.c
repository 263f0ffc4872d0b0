/* SPDX-License-Identifier: BSD-3-Clause */
/* Our own writer, because jansson prints 0.1 as 0.10000000000000001 and an array of samples with one number per line,
 * and people read this output. */
#include "base/json/save.h"

#include "base/mem.h"
#include "base/sys.h"
#include "base/text.h"
#include "base/value.h"

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
