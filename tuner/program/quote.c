/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/program/program_impl.h"

static bool is_plain(const char *text) {
	return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                                  "0123456789_-+=:,./@%")] == '\0';
}

char *program_quote(const char *text) {
	enum { LONGEST = 4 }; /* a quote becomes '\'' */
	if (is_plain(text))
		return mem_strdup(text);
	char *word = mem_alloc(strlen(text) + 1, LONGEST), *end = word;
	*end++ = '\'';
	for (; *text; text++)
		end = *text == '\'' ? stpcpy(end, "'\\''") : (*end = *text, end + 1);
	*end = '\'';
	return word;
}

char *program_join(const char *const *words, bool quoted) {
	struct program_text line = {0};
	for (const char *const *word = words; word && *word; word++) {
		mem_auto char *quote = quoted ? program_quote(*word) : NULL;
		program_text_printf(&line, "%s%s", word > words ? " " : "", quote ? quote : *word);
	}
	return program_text_detach(&line);
}

char *program_env_prefix(const json_t *unset, const json_t *set) {
	struct program_text line = {0};
	const char *name;
	json_t *value;
	size_t i;
	if (json_array_size(unset) || json_object_size(set))
		program_text_add(&line, "env ");
	json_array_foreach(unset, i, value) program_text_printf(&line, "-u %s ", json_string_value(value));
	json_object_foreach((json_t *)set, name, value) {
		mem_auto char *word = program_quote(json_string_value(value));
		program_text_printf(&line, "%s=%s ", name, word);
	}
	return program_text_detach(&line);
}
