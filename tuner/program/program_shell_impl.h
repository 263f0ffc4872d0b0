/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The places in a line for a POSIX shell at which a text can be inserted, and how it must be quoted there. A text in
 * double quotes, for example, would otherwise still be expanded. */
#ifndef TUNER_PROGRAM_PROGRAM_SHELL_IMPL_H
#define TUNER_PROGRAM_PROGRAM_SHELL_IMPL_H
#include <stdbool.h>

#include "tuner/program/program_text_impl.h"

enum shell_place {
	SHELL_WORD,    /* part of a word, unquoted */
	SHELL_LETTERS, /* the same behind nothing but small letters: "es{V}" and "ac" must not be "esac" */
	SHELL_WORDS,   /* a word by itself: the text may become several words, or none */
	SHELL_QUOTED,  /* in front of < or >: a number would name a file descriptor unless it is quoted */
	SHELL_SINGLE,  /* inside '..' */
	SHELL_DOUBLE,  /* inside ".." */
	SHELL_NUMBER,  /* inside $((..)), where even a quoted text would be evaluated */
	SHELL_NOWHERE  /* see why */
};

enum { SHELL_DEPTH = 32 };

enum shell_dollar { SHELL_NO_DOLLAR, SHELL_DOLLAR, SHELL_NAME };

/* Initialise with SHELL_LINE. */
struct shell_line {
	char stack[SHELL_DEPTH]; /* contexts, the innermost last; only shell.c knows the letters */
	int parens[SHELL_DEPTH]; /* open in each of them */
	int depth;
	bool word_starts, escaped, comment, here_document;
	bool letters;             /* the word so far has only small letters, and holes */
	bool redirects;           /* only < or > and blanks since, so that one word must follow */
	enum shell_dollar dollar; /* what a letter would be added to */
	char last;                /* the letter that was read last; 0: none */
	const char *doubt;        /* from here on nothing is certain, because of this */
};

#define SHELL_LINE ((struct shell_line){.stack = {'c'}, .word_starts = true})

void shell_read(struct shell_line *line, const char *text, size_t size);
/* The place of a hole after what was read, before the text `next`. Continues behind the hole. *why: set with
 * SHELL_NOWHERE. */
enum shell_place shell_place(struct shell_line *line, const char *next, const char **why);
/* Adds a value so that a shell reads it back unchanged. False if it cannot stand there. */
bool shell_add(struct program_text *out, enum shell_place place, const char *value);
#endif
