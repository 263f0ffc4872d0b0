/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads files of data/events/: portable events, and how families of CPUs count them. */
#include <ctype.h>

#include "base/expr/expr.h"
#include "base/json/js.h"
#include "base/near.h"
#include "counters/plan/plan_impl.h"

/* Checks members of the tables one by one. */

enum { TEXT_MAX = 400, NAME_MAX_LENGTH = 40, FORMULA_NAMES_MAX = 24 };

static bool is_clean(const char *text) {
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			return false;
	return true;
}

int table_text(const json_t *json, const char *key, const char **text, struct err *err) {
	if (js_string(json, key, text, err) != 0)
		return -1;
	if (!is_clean(*text) || strlen(*text) > TEXT_MAX)
		return err_set(err, ERR_USAGE, NULL, "'%s' must be one line of at most %d characters", key, TEXT_MAX);
	return 0;
}

int table_text_or_null(const json_t *json, const char *key, const char **text, struct err *err) {
	*text = NULL;
	return json_object_get(json, key) ? table_text(json, key, text, err) : 0;
}

/* Words that expressions reserve can't be names. */
static bool is_reserved(const char *name) {
	static const char *const reserved[] = {"seconds", "threads", "and", "or",   "not",  "in",
	                                       "min",     "max",     "abs", "True", "False"};
	for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
		if (strcmp(name, reserved[i]) == 0)
			return true;
	return false;
}

static bool is_name(const char *name) {
	size_t length = strlen(name);
	if (length == 0 || length > NAME_MAX_LENGTH || isdigit((unsigned char)name[0]) || is_reserved(name))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	return true;
}

int table_name(const json_t *json, const char *key, const char **name, struct err *err) {
	if (table_text(json, key, name, err) != 0)
		return -1;
	return is_name(*name)
	           ? 0
	           : err_set(err, ERR_USAGE, "letters, digits and _", "'%s': \"%.60s\" cannot be a name", key, *name);
}

static const char *unknown_member(const json_t *json, const char *const *known) {
	js_members (key, value, json) {
		size_t i = 0;
		while (known[i] && strcmp(known[i], key) != 0)
			i++;
		if (!known[i])
			return key;
	}
	return NULL;
}

int table_members(const json_t *json, const char *const *known, struct err *err) {
	size_t count = 0;
	if (!json_is_object(json))
		return err_set(err, ERR_USAGE, NULL, "it must be an object");
	const char *key = unknown_member(json, known);
	if (!key)
		return 0;
	while (known[count])
		count++;
	const char *near = near_word(key, known, count);
	err_set(err, ERR_USAGE, NULL, "unknown member '%.60s'", key);
	return near ? err_hint(err, "did you mean '%s'?", near) : -1;
}

static int names_check(const struct expr *expr, bool (*passes)(const void *ctx, const char *name), const void *ctx,
                       struct err *err) {
	size_t count = expr_name_count(expr);
	if (count > FORMULA_NAMES_MAX)
		return err_set(err, ERR_USAGE, NULL, "it names more than %d events", FORMULA_NAMES_MAX);
	for (size_t i = 0; i < count; i++) {
		const char *name = expr_name(expr, i);
		bool given = strcmp(name, "seconds") == 0 || strcmp(name, "threads") == 0;
		if (!given && !passes(ctx, name))
			return err_set(err, ERR_USAGE, "events that 'events' lists, seconds and threads",
			               "'%.60s' is not an event that it may name", name);
	}
	return 0;
}

int table_formula_check(const char *formula, bool (*passes)(const void *ctx, const char *name), const void *ctx,
                        struct err *err) {
	struct expr *expr = expr_parse(formula, err);
	int rc = expr ? names_check(expr, passes, ctx, err) : -1;
	expr_free(expr);
	if (rc == 0 && strpbrk(formula, "'\""))
		rc = err_set(err, ERR_USAGE, NULL, "quoted words have no meaning here");
	return rc != 0 ? err_prefix(err, "'formula' \"%.100s\"", formula) : 0;
}

static int texts_check(const json_t *list, struct err *err) {
	for (size_t i = 0; i < json_array_size(list); i++)
		if (!json_is_string(json_array_get(list, i)))
			return err_set(err, ERR_USAGE, NULL, "[%zu] must be a string", i);
	return 0;
}

static int without_read(const json_t *json, struct table_native *native, struct err *err) {
	json_t *list;
	const char *why;
	if (!json_object_get(json, "without"))
		return 0;
	if (js_array(json, "without", TABLE_LIST_MAX, &list, err) != 0 || table_text(json, "why", &why, err) != 0)
		return -1;
	native->without = list;
	return texts_check(list, err) != 0 ? err_prefix(err, "'without'") : 0;
}

/* perf_event_attr.config of a raw event; the vendor's name beside it tells readers what to compare it with. */
static int raw_read(const json_t *json, struct table_native *native, struct err *err) {
	const char *raw, *vendor;
	if (table_text_or_null(json, "perf", &raw, err) != 0 || !raw)
		return raw ? -1 : 0;
	if (table_text(json, "vendor", &vendor, err) != 0)
		return -1;
	size_t digits = raw[0] == 'r' ? strspn(raw + 1, "0123456789abcdef") : 0;
	if (digits == 0 || digits > 16 || raw[1 + digits])
		return err_set(err, ERR_USAGE, NULL, "'perf': \"%.60s\" is not a raw event such as \"r01c2\"", raw);
	native->source = (struct table_source){"perf", raw};
	return 0;
}

static int native_read(const json_t *json, struct table_native *native, struct err *err) {
	static const char *const known[] = {"event", "perf", "vendor", "formula", "without", "why", NULL};
	if (table_members(json, known, err) != 0 || table_name(json, "event", &native->event, err) != 0)
		return -1;
	if (raw_read(json, native, err) != 0 || table_text_or_null(json, "formula", &native->formula, err) != 0 ||
	    without_read(json, native, err) != 0)
		return err_prefix(err, "\"%.60s\"", native->event);
	if (!native->source.backend && !native->formula && !native->without)
		return err_set(err, ERR_USAGE, NULL, "\"%.60s\": 'perf' is missing", native->event);
	return 0;
}

static int natives_read(struct counter_tables *tables, const json_t *list, struct table_family *family,
                        struct err *err) {
	struct table_native *natives = arena_alloc(tables->arena, json_array_size(list) + 1, sizeof *natives);
	for (size_t i = 0; i < json_array_size(list); i++)
		if (native_read(json_array_get(list, i), &natives[i], err) != 0)
			return err_prefix(err, "'events'[%zu]", i);
	family->natives = natives;
	family->native_count = json_array_size(list);
	return 0;
}

int table_cpu_read(struct counter_tables *tables, const char *file, const json_t *json, struct err *err) {
	static const char *const known[] = {"schema", "name", "summary", "source", "cpus", "events", NULL};
	struct table_family family = {.file = file};
	const char *text;
	json_t *cpus, *list;
	if (table_members(json, known, err) != 0 || table_name(json, "name", &text, err) != 0 ||
	    table_text(json, "summary", &text, err) != 0 || table_text(json, "source", &text, err) != 0)
		return -1;
	if (js_array(json, "cpus", TABLE_LIST_MAX, &cpus, err) != 0 ||
	    js_array(json, "events", TABLE_EVENTS_MAX, &list, err) != 0)
		return -1;
	if (texts_check(cpus, err) != 0)
		return err_prefix(err, "'cpus'");
	if (tables->family_count == TABLE_FAMILIES_MAX)
		return err_set(err, ERR_USAGE, NULL, "more than %d families of CPUs", TABLE_FAMILIES_MAX);
	family.cpus = cpus;
	if (natives_read(tables, list, &family, err) != 0)
		return -1;
	tables->families[tables->family_count++] = family;
	return 0;
}
