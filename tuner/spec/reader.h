/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files that read Python lists. All functions return 0, or -1 with an error that has the place in the
 * text.
 */
#ifndef TUNER_SPEC_READER_H
#define TUNER_SPEC_READER_H
#include "src/base/mem.h"
#include "tuner/space/domain.h"
#include "src/base/expr/expr.h"
#include "tuner/spec/list.h"
#include "tuner/spec/slice.h"

enum { READER_NEST_MAX = 16, READER_STEPS_MAX = 4 * DOMAIN_MAX };

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
