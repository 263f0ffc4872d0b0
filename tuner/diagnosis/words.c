/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tuner/diagnosis/diagnosis.h"

static bool is_plain(const char *text) {
	return text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+.,/:=")] == '\0';
}

/* Quoted for a shell if necessary. */
static char *word_of(const char *name, struct value value) {
	char text[256];
	value_text(value, text, sizeof text);
	char *word = mem_printf("%s=%s", name, text);
	if (is_plain(word))
		return word;
	char *quoted = mem_alloc(4 * strlen(word) + 3, 1), *out = quoted;
	*out++ = '\'';
	for (const char *in = word; *in; in++)
		if (*in == '\'')
			out = stpcpy(out, "'\\''");
		else
			*out++ = *in;
	*out = '\'';
	free(word);
	return quoted;
}

static char *words_add(char *words, const json_t *object) {
	const char *name;
	json_t *json;
	json_object_foreach((json_t *)object, name, json) {
		struct value value;
		if (!value_from_json(json, &value))
			continue;
		char *word = word_of(name, value), *more = mem_printf("%s%s%s", words, *words ? " " : "", word);
		free(word);
		free(words);
		words = more;
	}
	return words;
}

char *study_words(const struct study *study, size_t row) {
	const struct study_row *one = study_row(study, row);
	return words_add(words_add(mem_strdup(""), one->problem), one->config);
}
