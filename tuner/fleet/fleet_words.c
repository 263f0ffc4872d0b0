/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/fleet/fleet_words.h"

#include "base/mem.h"

struct split {
	const char *at;
	char *word; /* the current word; NULL between words */
	size_t size, count;
	char **words;
};

static void put(struct split *split, char c) {
	split->word = mem_grow(split->word, split->size + 2, 1);
	split->word[split->size++] = c;
	split->word[split->size] = '\0';
}

/* Begins a word, which may stay empty (""). */
static void begin(struct split *split) {
	if (split->word)
		return;
	split->word = mem_alloc(1, 1);
	split->size = 0;
}

static void finish(struct split *split) {
	if (!split->word)
		return;
	split->words = mem_grow(split->words, split->count + 2, sizeof *split->words);
	split->words[split->count++] = split->word;
	split->words[split->count] = NULL;
	split->word = NULL;
}

static int refuse(char c, struct err *err) {
	return err_set(err, ERR_USAGE, "put it in quotes",
	               "'%c' must be quoted: the line is only split into words, as no shell runs it", c);
}

/* Reads the inside of double quotes; split->at is behind the opening one. */
static int quoted(struct split *split, struct err *err) {
	for (; *split->at && *split->at != '"'; split->at++) {
		if (*split->at == '$' || *split->at == '`')
			return refuse(*split->at, err);
		if (*split->at == '\\' && split->at[1] && strchr("\\\"$`\n", split->at[1]))
			split->at++;
		put(split, *split->at);
	}
	return *split->at ? 0 : err_set(err, ERR_USAGE, "close the quote", "a double quote is not closed");
}

static int literal(struct split *split, struct err *err) {
	for (; *split->at && *split->at != '\''; split->at++)
		put(split, *split->at);
	return *split->at ? 0 : err_set(err, ERR_USAGE, "close the quote", "a single quote is not closed");
}

static int step(struct split *split, struct err *err) {
	char c = *split->at++;
	if (strchr(" \t\n", c)) {
		finish(split);
		return 0;
	}
	if (strchr("$`;&|<>()", c))
		return refuse(c, err);
	begin(split);
	if (c == '"' || c == '\'') {
		int failed = c == '"' ? quoted(split, err) : literal(split, err);
		split->at += !failed;
		return failed;
	}
	if (c == '\\') {
		if (!*split->at)
			return err_set(err, ERR_USAGE, "remove it", "the line ends with a backslash");
		c = *split->at++;
	}
	put(split, c);
	return 0;
}

char **words_split(const char *line, struct err *err) {
	struct split split = {.at = line, .words = mem_alloc(1, sizeof(char *))};
	int failed = 0;
	while (*split.at && !failed)
		failed = step(&split, err);
	if (!failed) {
		finish(&split);
		return split.words;
	}
	free(split.word);
	words_free(split.words);
	return NULL;
}

void words_free(char **words) {
	for (char **word = words; word && *word; word++)
		free(*word);
	free(words);
}
