/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the reasons for missing counters. Counters that are missing for the same reason share one paragraph. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/show/counters.h"

enum { NAMES_SHOWN = 60 };

static bool same_member(const json_t *a, const json_t *b, const char *key) {
	return strcmp(js_string_or(a, key, ""), js_string_or(b, key, "")) == 0;
}

static bool is_missing(const json_t *row) {
	return strcmp(js_string_or(row, "status", ""), "unavailable") == 0;
}

/* Tells whether two rows share a paragraph: both are missing from the same group, or they have the same reason. */
static bool alike(const json_t *a, const json_t *b) {
	bool group = is_missing(a) && *js_string_or(a, "group", "");
	return same_member(a, b, "status") && same_member(a, b, "group") && (group || same_member(a, b, "reason"));
}

/* The names of all rows that share the paragraph of `first`. The caller frees it. */
static char *names_of(const json_t *counters, const json_t *first) {
	char *text = mem_strdup("");
	size_t i;
	json_t *row;
	json_array_foreach((json_t *)counters, i, row) {
		if (!alike(row, first))
			continue;
		char *longer = mem_printf("%s%s%s", text, *text ? ", " : "", js_string_or(row, "name", "?"));
		free(text);
		text = longer;
	}
	return text;
}

static bool printed_before(const json_t *counters, size_t at) {
	for (size_t i = 0; i < at; i++)
		if (alike(json_array_get(counters, i), json_array_get(counters, at)))
			return true;
	return false;
}

/* Tells whether `text` begins with a source: "papi:PAPI_L3_TCM, papi:x: why", or the name of a source and a colon. */
static bool begins_source(const char *text, const json_t *sources) {
	size_t length = strcspn(text, ": "), i;
	json_t *source;
	if (length && text[length] == ':' && text[length + 1] > ' ')
		return true;
	json_array_foreach((json_t *)sources, i, source) {
		const char *name = js_string_or(source, "name", "");
		if (text[length] == ':' && strlen(name) == length && strncmp(text, name, length) == 0)
			return true;
	}
	return false;
}

/* The end of the part of a reason that begins at `text`; a reason has one part for each source. */
static const char *part_end(const char *text, const json_t *sources) {
	const char *end = text;
	while ((end = strstr(end, "; ")) && !begins_source(end + 2, sources))
		end += 2;
	return end ? end : text + strlen(text);
}

/* Shortens "papi:A, papi:B: why" to "papi: why"; the caller frees it. */
static char *cause_of(const char *part, size_t size, const json_t *sources) {
	const char *why = memmem(part, size, ": ", 2);
	if (!why || !begins_source(part, sources))
		return mem_printf("%.*s", (int)size, part);
	why += 2;
	return mem_printf("%.*s: %.*s", (int)strcspn(part, ":"), part, (int)(size - (size_t)(why - part)), why);
}

static void cause_add(json_t *causes, const char *cause) {
	size_t i;
	json_t *known;
	json_array_foreach(causes, i, known) if (strcmp(json_string_value(known), cause) == 0) return;
	json_array_append_new(causes, json_string(cause));
}

/* The causes of a paragraph, each once; new reference. */
static json_t *causes_of(const json_t *counters, const json_t *first, const json_t *sources) {
	json_t *causes = json_array(), *row;
	size_t i;
	json_array_foreach((json_t *)counters, i, row) {
		const char *part = alike(row, first) ? js_string_or(row, "reason", "") : "";
		while (*part) {
			const char *end = part_end(part, sources);
			char *cause = cause_of(part, (size_t)(end - part), sources);
			cause_add(causes, cause);
			free(cause);
			part = *end ? end + 2 : end;
		}
	}
	return causes;
}

/* Prints a cause and the remedy of its source, unless the cause already contains the remedy. */
static void cause_print(const char *cause, const json_t *sources, FILE *out) {
	size_t length = strcspn(cause, ":"), i;
	json_t *source;
	ui_wrap(out, 2, 4, cause);
	json_array_foreach((json_t *)sources, i, source) {
		const char *name = js_string_or(source, "name", ""), *fix = js_string_or(source, "fix", "");
		if (*name && strlen(name) == length && strncmp(cause, name, length) == 0 && !strstr(cause, fix))
			ui_fix(out, 4, fix);
	}
}

static void missing_print(const json_t *counters, const json_t *row, const char *names, const json_t *sources,
                          FILE *out) {
	const char *group = js_string_or(row, "group", "");
	json_t *causes = causes_of(counters, row, sources), *cause;
	bool one = json_array_size(causes) == 1 && !begins_source(json_string_value(json_array_get(causes, 0)), sources);
	bool software = strcmp(group, "SDE") == 0;
	char *head = *group ? mem_printf("%s: %s: %s", group,
	                                 software ? "not counted" : "not available on this CPU or machine", names)
	                    : mem_printf("not counted: %s", names);
	char *whole = one ? mem_printf("%s: %s", head, json_string_value(json_array_get(causes, 0))) : mem_strdup(head);
	size_t i;
	ui_wrap(out, 0, 2, whole);
	json_array_foreach(causes, i, cause) if (!one) cause_print(json_string_value(cause), sources, out);
	free(head);
	free(whole);
	json_decref(causes);
}

static void paragraph(const json_t *counters, const json_t *row, const json_t *sources, FILE *out) {
	char *names = names_of(counters, row);
	if (is_missing(row)) {
		missing_print(counters, row, names, sources, out);
	} else {
		const char *status = js_string_or(row, "status", "?"), *reason = js_string_or(row, "reason", "");
		bool many = strlen(names) > NAMES_SHOWN; /* the table has them */
		bool said = strncmp(reason, status, strlen(status)) == 0;
		char *text =
			mem_printf("%s%s%s%s%s", said ? "" : status, said ? "" : ": ", many ? "" : names, many ? "" : ": ", reason);
		ui_wrap(out, 0, 2, text);
		free(text);
	}
	free(names);
}

void counters_reasons_print(const json_t *counters, const json_t *sources, FILE *out) {
	bool missing = false;
	size_t i;
	json_t *row;
	json_array_foreach((json_t *)counters, i, row) {
		if (!*js_string_or(row, "reason", "") || printed_before(counters, i))
			continue;
		paragraph(counters, row, sources, out);
		missing = missing || is_missing(row);
	}
	if (missing)
		fputs("run `sweetspot doctor` to see what can be counted here and how to enable the rest\n", out);
}
