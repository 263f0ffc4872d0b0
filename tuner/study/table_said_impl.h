/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to the files that read what programs print. */
#ifndef TUNER_STUDY_TABLE_SAID_IMPL_H
#define TUNER_STUDY_TABLE_SAID_IMPL_H
#include <stdio.h>
#include <strings.h>

#include "tuner/study/study_impl.h"

enum { LINES_MOST = 2000, TOKENS_MOST = 40 };

struct token {
	const char *text, *key, *unit; /* key: what stands before '=' or ':'; unit: what is glued to a number */
	bool number;
};
struct said { /* a line */
	struct token token[TOKENS_MOST];
	size_t count, line, marks; /* marks: commas, semicolons and tabs */
	char kinds[TOKENS_MOST + 1];
	const char *section; /* the comment above; of a heading its own text */
	bool heading;        /* only where headings are lines */
};
struct saying {
	struct arena *arena;
	struct said *lines;
	size_t count, room, sections;
	bool piped;
	bool log; /* headings are lines, and marks of Markdown and code are left out */
};

/* src: table_said.c. The caller frees saying->lines. */
void saying_read(struct saying *saying, const char *text, size_t size);
/* The unit of a number, glued to it or behind it; "": none. */
const char *said_unit(const struct said *said, size_t at);
/* The name of a number: the key before it, "time" by its unit, or the word behind or before it. NULL: nobody knows. */
const char *said_name(struct arena *arena, const struct said *said, size_t at);
#endif
