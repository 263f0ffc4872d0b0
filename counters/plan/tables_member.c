/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks members of the tables one by one. */
#include <config.h>

#include <ctype.h>
#include <string.h>

#include "counters/plan/tables.h"
#include "src/base/expr/expr.h"
#include "src/base/json/js.h"
#include "src/base/near.h"

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
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)json, key, value) {
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

bool table_source_split(struct arena *arena, const char *text, struct table_source *source) {
	const char *colon = strchr(text, ':');
	if (!colon || colon == text || !colon[1] || strpbrk(text, " \t"))
		return false;
	source->backend = arena_printf(arena, "%.*s", (int)(colon - text), text);
	source->event = arena_strdup(arena, colon + 1);
	return true;
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
