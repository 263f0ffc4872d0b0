/* SPDX-License-Identifier: BSD-3-Clause */
/* Checked access to jansson: everything read from outside goes through here. Errors have code ERR_USAGE and name the
 * key. */
#ifndef BASE_JSON_JS_H
#define BASE_JSON_JS_H
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* As mem_auto: the reference is given back where the variable's block ends. */
#define js_auto __attribute__((cleanup(js_auto_decref)))
static inline void js_auto_decref(json_t **variable) {
	json_decref(*variable);
}

/* From now on jansson ends the process with a message if memory runs out, like mem_*: otherwise a member that could not
 * be made would silently be missing. For programs, not for libraries in other people's programs. */
void js_end_without_memory(void);
/* Parses one document, an object or an array; duplicate keys are refused. where: a file name or a description, for
 * messages. */
json_t *js_parse(const char *text, size_t size, const char *where, struct err *err);
/* Reads at most `limit` bytes. The caller unpacks .gz; "-" is stdin. */
json_t *js_load(const char *path, size_t limit, struct err *err);
/* Sorted keys, no spaces, numbers as %.17g: the same value gives the same text. Caller frees. NULL for NULL. */
char *js_canonical(const json_t *value);
/* The first object of an array whose member `key`, or "name", is this one; NULL: there is none. */
json_t *js_find(const json_t *array, const char *key, const char *text);
json_t *js_named(const json_t *array, const char *name);
bool js_has(const json_t *array, const char *text); /* Is it one of the strings of an array? */
/* Writes indented JSON, numbers in their shortest form, and a newline; -1 when the stream fails. */
int js_write(const json_t *value, FILE *out);
/* The same to stdout, and releases it; main looks for errors of stdout. */
int js_print(json_t *document);
/* Writes JSON text with all controls escaped, those of direction too: JSON escapes controls below U+0020 only, but
 * people read documents on terminals. */
void js_text_write(const char *text, FILE *out);

/* Required members: -1 and err if absent, of another type or out of range. A whole number may be written as 5.0.
 * Returned values stay owned by the object. */
int js_int(const json_t *object, const char *key, int64_t min, int64_t max, int64_t *out, struct err *err);
int js_real(const json_t *object, const char *key, double min, double max, double *out, struct err *err);
int js_bool(const json_t *object, const char *key, bool *out, struct err *err);
int js_string(const json_t *object, const char *key, const char **out, struct err *err);
int js_object(const json_t *object, const char *key, json_t **out, struct err *err);
int js_array(const json_t *object, const char *key, size_t max, json_t **out, struct err *err);
/* Optional members: the fallback if the key is absent, null or of another type. */
const char *js_string_or(const json_t *object, const char *key, const char *fallback);
double js_real_or(const json_t *object, const char *key, double fallback);
int64_t js_int_or(const json_t *object, const char *key, int64_t fallback);
bool js_bool_or(const json_t *object, const char *key, bool fallback);
/* Are these members of both equal? keys: NULL-terminated. */
bool js_same(const json_t *a, const json_t *b, const char *const *keys);
/* Follows a path of members and places, such as "speedup.ci.1"; NULL if it leads nowhere. */
const json_t *js_at(const json_t *json, const char *path);
/* JSON cannot express NaN and infinity, so they become null. New reference. */
json_t *js_number(double value);
/* A string from outside, made safe like text_clean does, on one line. New reference. */
json_t *js_text(const char *text);
json_t *js_reals(const double *x, size_t count);

/* Each item of an array, and each member of an object, which they declare: js_each (entry, entries), whose place is
 * entry_at, and js_members (name, value, config). The first `for` only declares. */
#define js_each(item, array)                                                                                           \
	for (size_t item##_at = 0, item##_on = 1; item##_on; item##_on = 0)                                                \
		for (json_t * item; (item = json_array_get(array, item##_at)); item##_at++)
#define js_members(name, value, object)                                                                                \
	for (json_t *name##_of = (json_t *)(object), *value; name##_of; name##_of = NULL)                                  \
		for (const char *name = json_object_iter_key(json_object_iter(name##_of));                                     \
		     name && (value = json_object_iter_value(json_object_key_to_iter(name)));                                  \
		     name = json_object_iter_key(json_object_iter_next(name##_of, json_object_key_to_iter(name))))
#endif
