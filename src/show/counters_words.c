/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/show/counters_words.h"

#include "base/mem.h"
#include "base/text.h"

static size_t find(const struct counters_words *words, const char *name) {
	size_t i = 0;
	while (i < words->count && strcmp(words->names[i], name) != 0)
		i++;
	return i;
}

bool counters_words_remove(struct counters_words *words, const char *name) {
	size_t at = find(words, name);
	if (at == words->count)
		return false;
	memmove(&words->names[at], &words->names[at + 1], (words->count - at) * sizeof *words->names);
	words->count--;
	return true;
}

static char *joined(const struct opt_args *args) {
	char *text = mem_strdup("");
	for (size_t i = 0; i < opt_count(args, "counters"); i++)
		mem_append(&text, ",%s", opt_at(args, "counters", i));
	return text;
}

static bool is_text(const char *name) {
	size_t left = strlen(name), length;
	for (; left && (length = text_utf8(name, left)); name += length)
		left -= length;
	return left == 0;
}

int counters_words_read(const struct opt_args *args, struct counters_words *words, struct err *err) {
	*words = (struct counters_words){.text = joined(args)};
	char *rest = NULL;
	for (char *name = strtok_r(words->text, ", \t\n", &rest); name; name = strtok_r(NULL, ", \t\n", &rest)) {
		if (!is_text(name))
			return err_set(err, ERR_USAGE, "`sweetspot list metrics` lists the names",
			               "--counters contains a name that is not valid UTF-8");
		if (find(words, name) < words->count)
			continue;
		if (words->count == COUNTERS_WORDS_MAX)
			return err_set(err, ERR_USAGE, "use groups, which `sweetspot list metrics` lists",
			               "--counters accepts at most %d names", COUNTERS_WORDS_MAX);
		words->names[words->count++] = name;
		words->names[words->count] = NULL;
	}
	if (opt_has(args, "counters") && words->count == 0)
		return err_set(err, ERR_USAGE, "`sweetspot list metrics` lists the names; none turns counting off",
		               "--counters is empty");
	if (counters_words_remove(words, "none") && words->count)
		return err_set(err, ERR_USAGE, "omit none, or omit the other names",
		               "--counters none cannot be combined with other names");
	return 0;
}

void counters_words_free(struct counters_words *words) {
	free(words->text);
	*words = (struct counters_words){0};
}
