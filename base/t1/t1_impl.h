/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files that read Python lists. All functions return 0, or -1 with an error that has the place in the
 * text.
 */
#ifndef BASE_T1_T1_IMPL_H
#define BASE_T1_T1_IMPL_H
#include "base/t1/slice.h"
#include "base/t1/t1.h"

/* A list of values under construction. */
struct value_list {
	struct value *at; /* free() it */
	size_t count, room;
};

/* ERR_USAGE for more than PARAM_VALUES_MAX values, and for values that cannot be passed to a program: infinities,
 * control characters, words of more than 1024 bytes. */
int value_list_push(struct value_list *list, struct value value, struct err *err);
/* One Python value. */
int t1_scalar(const char *text, struct arena *arena, struct value *value, struct err *err);

enum { READER_NEST_MAX = 16, READER_STEPS_MAX = 4 * PARAM_VALUES_MAX };

struct reader {
	struct arena *arena; /* the words */
	size_t steps;        /* values made and expressions evaluated */
	int nest;
	struct err *err;
};

int reader_fail(struct reader *r, struct slice s, const char *what);
int reader_place(struct reader *r, struct slice s); /* puts the place before the present error */
/* Counts steps, because the work on a hostile text must be bounded. */
int reader_spend(struct reader *r, struct slice s, size_t steps);
int reader_push(struct reader *r, struct slice s, struct value value, struct value_list *out);

/* An expression that may use `variable` (NULL: no name at all). NULL and err if it does not parse. */
int reader_scalar(struct reader *r, struct slice s, struct value *out);
int reader_whole(struct reader *r, struct slice s, int64_t *out);

/* These append to the list. reader_range takes the text between its parentheses, reader_loop ITEM for NAME in LIST
 * [if CONDITION], cut before "for". */
int reader_range(struct reader *r, struct slice s, struct value_list *out);
int reader_loop(struct reader *r, struct slice item, struct slice rest, struct value_list *out);
int reader_list(struct reader *r, struct slice s, struct value_list *out);
#endif
