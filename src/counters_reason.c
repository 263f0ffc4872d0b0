/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/js.h"
#include "src/base/mem.h"
#include "src/counters.h"

static bool same_member(const json_t *a, const json_t *b, const char *key) {
	return strcmp(js_string_or(a, key, ""), js_string_or(b, key, "")) == 0;
}

/* Told in one paragraph. */
static bool alike(const json_t *a, const json_t *b) {
	return same_member(a, b, "status") && same_member(a, b, "group") && same_member(a, b, "reason");
}

/* The names of all rows that are told with this one. Caller frees. */
static char *names_of(const json_t *counters, const json_t *like) {
	char *text = mem_strdup("");
	size_t i;
	json_t *row;
	json_array_foreach((json_t *)counters, i, row) {
		if (!alike(row, like))
			continue;
		char *longer = mem_printf("%s%s%s", text, *text ? ", " : "", js_string_or(row, "name", "?"));
		free(text);
		text = longer;
	}
	return text;
}

static bool told_before(const json_t *counters, size_t at) {
	for (size_t i = 0; i < at; i++)
		if (alike(json_array_get(counters, i), json_array_get(counters, at)))
			return true;
	return false;
}

static void paragraph(const json_t *counters, const json_t *row, FILE *out) {
	const char *status = js_string_or(row, "status", "?"), *group = js_string_or(row, "group", "");
	const char *reason = js_string_or(row, "reason", "");
	char *names = names_of(counters, row), *text;
	if (strcmp(status, "unavailable") != 0)
		text = mem_printf("%s: %s: %s", status, names, reason);
	else if (*group)
		text = mem_printf("%s: this CPU or machine gives no %s: %s", group, names, reason);
	else
		text = mem_printf("not counted: %s: %s", names, reason);
	ui_wrap(out, 0, 2, text);
	free(text);
	free(names);
}

/* As a word of its own. */
static bool mentions(const char *text, const char *name) {
	size_t length = strlen(name);
	for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
		bool begins = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '-');
		if (begins && !isalnum((unsigned char)at[length]) && at[length] != '-')
			return true;
	}
	return false;
}

static bool is_missing(const json_t *row) {
	return strcmp(js_string_or(row, "status", ""), "unavailable") == 0;
}

/* What to do about a source that a reason names, or that the value would have come from. */
static bool to_blame(const json_t *counters, const char *source) {
	size_t i;
	json_t *row;
	json_array_foreach((json_t *)counters, i, row) if (is_missing(row) &&
	                                                   (mentions(js_string_or(row, "reason", ""), source) ||
	                                                    mentions(js_string_or(row, "source", ""), source))) return true;
	return false;
}

static void fixes_print(const json_t *counters, const json_t *sources, FILE *out) {
	size_t i;
	json_t *source;
	json_array_foreach((json_t *)sources, i, source) {
		const char *name = js_string_or(source, "name", "?"), *fix = js_string_or(source, "fix", "");
		if (!*fix || !to_blame(counters, name))
			continue;
		char *text = mem_printf("%s: %s", name, js_string_or(source, "reason", ""));
		ui_wrap(out, 0, 2, text);
		ui_fix(out, 2, fix);
		free(text);
	}
}

void counters_reasons_print(const json_t *counters, const json_t *sources, FILE *out) {
	bool missing = false;
	size_t i;
	json_t *row;
	json_array_foreach((json_t *)counters, i, row) {
		if (!*js_string_or(row, "reason", "") || told_before(counters, i))
			continue;
		paragraph(counters, row, out);
		missing = missing || is_missing(row);
	}
	fixes_print(counters, sources, out);
	if (missing)
		fputs("`sweetspot doctor` says what can be counted here, and what is in the way\n", out);
}
