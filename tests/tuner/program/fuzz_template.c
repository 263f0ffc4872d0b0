/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as the user's line for a shell and, behind a NUL, as a value: a value that reaches the line never changes
 * how a shell reads the rest of it. We follow this with our own parser, and quoting.h judges the words that a shell
 * would see. The test `words` calls this with mutated lines; in `quoted` real shells judge. `make fuzz` runs it as a
 * target of libFuzzer, where each input is filled with one of the values below instead of all. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/fuzz.h"
#include "tests/tuner/program/quoting.h"
#include "tuner/program/program_impl.h"
#include "tuner/program/command.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
	if (!condition)
		abort();
}

static char *same(const void *ctx, const char *name) {
	(void)name;
	return mem_strdup(ctx);
}

static struct shell_line line_read(const char *text) {
	struct shell_line line = SHELL_LINE;
	shell_read(&line, text, strlen(text));
	return line;
}

/* From which value on, and up to which one. */
static size_t values_begin(const char *text, size_t count, size_t *end) {
	bool all = fuzz_one_in(64, (const uint8_t *)text, strlen(text));
	size_t begin = all ? 0 : fuzz_hash((const uint8_t *)text, strlen(text)) % count;
	*end = all ? count : begin + 1;
	return begin;
}

/* A value of nothing but digits can stand everywhere. */
static void check_shell(const char *text, const struct template_names *names) {
	static const char *const values[] = {"a b", "$(id)", "`id`", "'", "\"", "\\", "a\nb", ";&|<>(){}", "#", "x'\"$y\\"};
	const char *missing = NULL;
	char *plain = template_fill(text, names, same, "7", true, &missing);
	struct err err = {0};
	int refused = template_shell_check(text, names, &err);
	require(!refused || (err.code == ERR_USAGE && *err.what));
	if (plain && !refused) {
		struct shell_line want = line_read(plain);
		size_t end;
		for (size_t i = values_begin(text, sizeof values / sizeof *values, &end); i < end; i++) {
			char *filled = template_fill(text, names, same, values[i], true, &missing);
			struct shell_line got = filled ? line_read(filled) : want;
			require(got.depth == want.depth && memcmp(got.stack, want.stack, (size_t)want.depth + 1) == 0);
			require(got.comment == want.comment && !got.doubt == !want.doubt);
			free(filled);
		}
	}
	free(plain);
}

/* Words that hold the mark without it, because it stands in the text itself, in other quotes, say nothing. */
static bool has_own(const char *text, const struct template_names *names, const char *mark) {
	const char *missing = NULL;
	char *filled = template_fill(text, names, same, "nB,sL", true, &missing);
	char *words = filled ? quoting_words(filled) : NULL, *without = words ? quoting_replaced(words, mark, "") : NULL;
	bool has = without && strcmp(words, without) != 0;
	free(filled);
	free(words);
	free(without);
	return has;
}

/* A word by itself takes a value with blanks apart, unless the name is not the user's. */
static void check_words(const char *text, struct template_names names, const char *value) {
	static const char mark[] = "mA,rK";
	const char *missing = NULL;
	names.own = *value && !strpbrk(value, " \t\n") ? names.count : 0;
	char *marked = strstr(text, mark) ? NULL : template_fill(text, &names, same, mark, true, &missing);
	char *words = marked ? quoting_words(marked) : NULL;
	if (words) {
		char *filled = template_fill(text, &names, same, value, true, &missing);
		char *got = filled ? quoting_words(filled) : NULL, *want = quoting_replaced(words, mark, value);
		require((got && strcmp(got, want) == 0) || has_own(text, &names, mark));
		free(filled);
		free(got);
		free(want);
	}
	free(marked);
	free(words);
}

static void check_values(const char *text, const struct template_names *names, const char *value) {
	static const char *const values[] = {"",          "a b", "$(id)", "`id`", "'",     "\"", "\\",
	                                     ";&|<>(){}", "#x",  "8",     "if",   "A=1,2", "~"};
	size_t end;
	check_words(text, *names, value);
	for (size_t i = values_begin(text, sizeof values / sizeof *values, &end); i < end; i++)
		check_words(text, *names, values[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static const char *const list[] = {"V", "N", "SOURCE"};
	static const struct template_names names = {list, 3, 2};
	struct err err = {0};
	const char *missing = NULL;
	char *text = mem_alloc(size + 2, 1);
	memcpy(text, data, size);
	char *filled = template_fill(text, &names, same, "value", false, &missing);
	require(filled && template_fits(text, &names, filled));
	require(template_check(text, &names, &err) == 0 || (err.code == ERR_USAGE && *err.what));
	free(template_stranger(text, &names));
	template_expands(text, "V");
	if (template_mentions(text, "V") || template_mentions(text, "N"))
		check_shell(text, &names);
	if (template_shell_check(text, &names, NULL) == 0)
		check_values(text, &names, text + strlen(text) + 1);
	free(filled);
	free(text);
	return 0;
}
