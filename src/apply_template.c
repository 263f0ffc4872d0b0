/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/apply.h"
#include "src/base/js.h"
#include "src/base/mem.h"
#include "src/base/value.h"
#include "tuner/program.h"

static bool is_folder(const char *name, size_t length) {
	return (length == 6 && memcmp(name, "SOURCE", 6) == 0) || (length == 5 && memcmp(name, "BUILD", 5) == 0);
}

/* The length of the {NAME} at `text`, 0 where none is; *name is for the caller to free. Neither {{..} nor ${NAME} is
 * one. */
static size_t hole(const char *text, char before, const json_t *program, char **name) {
	*name = NULL;
	size_t length = *text == '{' && before != '{' && before != '$' ? strcspn(text + 1, "{}") : 0;
	if (length == 0 || text[1 + length] != '}')
		return 0;
	*name = mem_printf("%.*s", (int)length, text + 1);
	if (is_folder(*name, length) || json_object_get(json_object_get(program, "params"), *name))
		return length + 2;
	free(*name);
	*name = NULL;
	return 0;
}

static size_t hole_length(const char *text, char before, const json_t *program) {
	char *name;
	size_t length = hole(text, before, program, &name);
	free(name);
	return length;
}

/* On a mismatch the last hole takes one character more: no other has to be tried again. */
bool apply_template_fits(const char *template, const char *text, const json_t *program) {
	const char *start = template, *after = NULL, *taken = NULL;
	for (;;) {
		size_t length = hole_length(template, template > start ? template[-1] : '\0', program);
		if (length) {
			template += length;
			after = template;
			taken = text;
		} else if (*template && *template == *text) {
			template ++;
			text++;
		} else if (!*template && !*text) {
			return true;
		} else if (after && *taken) {
			template = after;
			text = ++taken;
		} else {
			return false;
		}
	}
}

static char *append(char *text, const char *more, size_t size) {
	char *longer = mem_printf("%s%.*s", text, (int)size, more);
	free(text);
	return longer;
}

/* NULL for what has no text. Caller frees. */
static char *value_of(const char *name, const json_t *config) {
	struct value value;
	if (is_folder(name, strlen(name)))
		return mem_strdup(".");
	const json_t *json = json_object_get(config, name);
	if (json_is_string(json))
		return mem_strdup(json_string_value(json));
	if (!json || !value_from_json(json, &value))
		return NULL;
	int size = value_text(value, NULL, 0) + 1;
	char *text = mem_alloc((size_t)size, 1);
	value_text(value, text, size);
	return text;
}

/* A value in a line for a shell must stay one word of it. */
static char *word_of(const char *name, const json_t *config, bool shell) {
	char *value = value_of(name, config);
	if (!value || !shell)
		return value;
	char *word = program_quote(value);
	free(value);
	return word;
}

char *apply_template_fill(const char *template, bool shell, const json_t *program, const json_t *config) {
	char *filled = mem_strdup(""), *name;
	for (char before = '\0'; *template; before = template[-1]) {
		size_t length = hole(template, before, program, &name), step = length ? length : 1 + strcspn(template + 1, "{");
		char *value = name ? word_of(name, config, shell) : NULL;
		filled = value ? append(filled, value, strlen(value)) : append(filled, template, step);
		template += step;
		free(value);
		free(name);
	}
	return filled;
}

static char *word_add(char *line, const char *word) {
	if (*line)
		line = append(line, " ", 1);
	return append(line, word, strlen(word));
}

char *apply_words_line(char *const *words) {
	char *line = mem_strdup("");
	for (; *words; words++)
		line = word_add(line, *words);
	return line;
}

char *apply_template_line(const json_t *program, const json_t *config) {
	const json_t *argv = json_object_get(program, "argv");
	char *line = mem_strdup("");
	for (size_t i = 0; i < json_array_size(argv); i++) {
		const char *word = json_string_value(json_array_get(argv, i));
		bool shell = js_bool_or(program, "shell", false);
		char *filled = config ? apply_template_fill(word, shell, program, config) : mem_strdup(word);
		line = word_add(line, filled);
		free(filled);
	}
	return line;
}
