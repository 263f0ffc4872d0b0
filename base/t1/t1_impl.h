/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files that read Python lists. All functions return 0, or -1 with an error that has the place in the
 * text. */
#ifndef BASE_T1_T1_IMPL_H
#define BASE_T1_T1_IMPL_H
#include <stdbool.h>

#include "base/t1/t1.h"

/* Values that JSON lists. */
int t1_values_json(const json_t *json, struct t1_param *param, struct err *err);
/* One Python value. */
int t1_scalar(const char *text, struct arena *arena, struct value *value, struct err *err);

/* Pieces of Python text, searched outside brackets and quotes. */

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
