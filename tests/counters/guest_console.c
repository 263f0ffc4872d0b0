/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/counters/guest_console.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"

json_t *console_read(const char *path) {
	json_t *sections = json_object(), *section = NULL;
	char *line = NULL;
	size_t size = 0;
	FILE *file = fopen(path, "re");
	while (file && getline(&line, &size, file) > 0) {
		struct err err;
		line[strcspn(line, "\r\n")] = '\0';
		if (strncmp(line, "=== ", 4) == 0) {
			section = json_array();
			json_object_set_new(sections, line + 4, section);
		} else if (line[0] == '{') {
			json_t *value = js_parse(line, strlen(line), "console", &err);
			json_array_append_new(section, value ? value : json_null());
		} else {
			printf("# %s\n", line);
		}
	}
	if (file)
		fclose(file);
	free(line);
	return sections;
}

/* Finds, in an array of objects, the one with this text in a member. Borrowed; NULL if there is none. */
static json_t *find(const json_t *array, const char *member, const char *text) {
	size_t i;
	json_t *one;
	json_array_foreach(array, i, one) {
		const char *got = js_string_or(one, member, "");
		const char *at = strstr(got, text);
		if (at && strcmp(at, text) == 0)
			return one;
	}
	return NULL;
}

json_t *console_source(const json_t *sections, const char *section, size_t who, const char *backend) {
	const json_t *description = json_array_get(json_object_get(sections, section), who);
	return find(json_object_get(description, "counters"), "name", backend);
}

json_t *console_reply(const json_t *sections, const char *section, int64_t id) {
	size_t i;
	json_t *reply;
	json_array_foreach(json_object_get(sections, section), i, reply) if (js_int_or(reply, "id", -1) == id) return reply;
	return NULL;
}

json_t *reply_counter(const json_t *reply, const char *word) {
	const json_t *counters = json_object_get(reply, "counters");
	json_t *found = find(counters, "name", word);
	return found ? found : find(counters, "source", word);
}

bool counter_counted(const json_t *counter) {
	return strcmp(js_string_or(counter, "status", ""), "counted") == 0 && js_real_or(counter, "value", 0) > 0;
}

bool counter_missing(const json_t *counter) {
	return strcmp(js_string_or(counter, "status", ""), "unavailable") == 0 &&
	       json_is_null(json_object_get(counter, "value")) && *js_string_or(counter, "reason", "");
}

double counter_thread(const json_t *counter, size_t t) {
	const json_t *value = json_array_get(json_object_get(counter, "per_thread"), t);
	return json_is_number(value) ? json_number_value(value) : NAN;
}
