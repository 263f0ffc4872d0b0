/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of Python text, searched outside brackets and quotes. */
#ifndef BASE_T1_SLICE_H
#define BASE_T1_SLICE_H
#include <stdbool.h>

struct slice {
	const char *at, *end;
};

bool slice_word_char(char c);
struct slice slice_trim(struct slice s);
bool slice_empty(struct slice s); /* nothing, or blanks only */
/* Does it begin with that sign or whole word? */
bool slice_begins(struct slice s, const char *mark);
/* The first place outside brackets and quotes with that sign or whole word; s.end if it does not occur. */
const char *slice_find(struct slice s, const char *mark);
/* The bracket that closes the one at s.at; NULL if it is not closed. */
const char *slice_close(struct slice s);
#endif
