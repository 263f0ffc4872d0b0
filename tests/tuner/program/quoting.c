/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/tuner/program/quoting.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tuner/program/program_impl.h"

enum { DEPTH = 30 };

struct reader {
	const char *at;
	char *out;
	int depth;
	bool unknown;
};

static void list_read(struct reader *reader);

static void put(struct reader *reader, char letter) {
	mem_append(&reader->out, "%c", letter);
}

static void literal(struct reader *reader, char letter) {
	put(reader, '=');
	put(reader, letter);
}

static char take(struct reader *reader) {
	if (!*reader->at)
		reader->unknown = true;
	return *reader->at ? *reader->at++ : '\0';
}

static bool takes(struct reader *reader, const char *text) {
	bool there = strncmp(reader->at, text, strlen(text)) == 0;
	reader->at += there ? strlen(text) : 0;
	return there;
}

static void command_read(struct reader *reader) {
	put(reader, '(');
	if (*reader->at == '(' || ++reader->depth > DEPTH) {
		reader->unknown = true;
		return;
	}
	list_read(reader);
	reader->unknown |= take(reader) != ')';
	reader->depth--;
	put(reader, ')');
}

/* Behind "$". */
static void dollar_read(struct reader *reader, bool quoted) {
	if (takes(reader, "(")) {
		put(reader, quoted ? 'S' : '$');
		command_read(reader);
	} else if (*reader->at == '{' || (!quoted && strchr("'\"", *reader->at) && *reader->at)) {
		reader->unknown = true;
	} else if (isalpha((unsigned char)*reader->at) || *reader->at == '_') {
		put(reader, quoted ? 'S' : '$');
		while (isalnum((unsigned char)*reader->at) || *reader->at == '_')
			put(reader, *reader->at++);
		put(reader, '.');
	} else if (*reader->at && strchr("0123456789?!$#@*-", *reader->at)) {
		put(reader, quoted ? 'S' : '$');
		put(reader, *reader->at++);
		put(reader, '.');
	} else {
		literal(reader, '$');
	}
}

static void double_read(struct reader *reader) {
	while (!reader->unknown && !takes(reader, "\"")) {
		char letter = take(reader);
		if (letter == '$')
			dollar_read(reader, true);
		else if (letter == '`')
			reader->unknown = true;
		else if (letter == '\\' && *reader->at && strchr("$`\"\\", *reader->at))
			literal(reader, *reader->at++);
		else if (letter != '\\' || !takes(reader, "\n"))
			literal(reader, letter);
	}
}

static void single_read(struct reader *reader) {
	while (!reader->unknown && !takes(reader, "'"))
		literal(reader, take(reader));
}

/* A letter that a shell reads as more than itself unless it is quoted stands without "=". */
static void part_read(struct reader *reader) {
	char letter = take(reader);
	if (letter == '\'')
		single_read(reader);
	else if (letter == '"')
		double_read(reader);
	else if (letter == '$')
		dollar_read(reader, false);
	else if (letter == '`')
		reader->unknown = true;
	else if (letter == '\\' && !takes(reader, "\n"))
		literal(reader, take(reader));
	else if (letter == '=')
		put(reader, 'E'); /* "=" stands before a letter that is only itself */
	else if (letter != '\\' && strchr("*?[]{}~!,^#", letter))
		put(reader, letter);
	else if (letter != '\\')
		literal(reader, letter);
}

/* Reserved words, and numbers in front of < and >, are not what they would be in quotes. */
static void word_read(struct reader *reader) {
	static const char *const reserved[] = {"if",   "then", "else",     "elif",   "fi",    "do",
	                                       "done", "case", "esac",     "while",  "until", "for",
	                                       "in",   "time", "function", "select", "coproc"};
	size_t length = strcspn(reader->at, " \t\n;&|()<>\"'\\$`");
	bool special =
		length && reader->at[length] && strchr("<>", reader->at[length]) && strspn(reader->at, "0123456789") == length;
	for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
		if (strlen(reserved[i]) == length && memcmp(reader->at, reserved[i], length) == 0)
			special |= !reader->at[length] || strchr(" \t\n;&|()<>", reader->at[length]);
	reader->unknown |= special && reader->depth && strncmp(reader->at, "case", length) == 0;
	put(reader, special ? 'R' : 'W');
	do
		part_read(reader);
	while (!reader->unknown && *reader->at && !strchr(" \t\n;&|()<>", *reader->at));
	put(reader, ' ');
}

static void operator_read(struct reader *reader) {
	reader->unknown |= strncmp(reader->at, "<<", 2) == 0 || strncmp(reader->at, "((", 2) == 0;
	if (takes(reader, "("))
		command_read(reader);
	else
		put(reader, *reader->at++);
}

/* Up to ")" or to the end. */
static void list_read(struct reader *reader) {
	while (!reader->unknown && *reader->at && *reader->at != ')') {
		if (takes(reader, " ") || takes(reader, "\t") || takes(reader, "\\\n"))
			continue;
		if (*reader->at == '#')
			reader->at += strcspn(reader->at, "\n");
		else if (strchr("\n;&|(<>", *reader->at))
			operator_read(reader);
		else
			word_read(reader);
	}
}

char *quoting_words(const char *line) {
	struct reader reader = {.at = line, .out = mem_strdup("")};
	list_read(&reader);
	char *words = reader.out;
	if (!reader.unknown && !*reader.at)
		return words;
	free(words);
	return NULL;
}

char *quoting_replaced(const char *words, const char *mark, const char *value) {
	char *old = mem_strdup(""), *new = mem_strdup(""), *out = mem_strdup("");
	for (; *mark; mark++)
		mem_append(&old, "=%c", *mark);
	for (; *value; value++)
		mem_append(&new, "=%c", *value);
	for (const char *next; (next = strstr(words, old)); words = next + strlen(old))
		mem_append(&out, "%.*s%s", (int)(next - words), words, new);
	mem_append(&out, "%s", words);
	free(old);
	free(new);
	return out;
}
