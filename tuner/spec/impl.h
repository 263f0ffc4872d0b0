/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files that read specifications. */
#ifndef TUNER_SPEC_IMPL_H
#define TUNER_SPEC_IMPL_H

#include "base/expr/expr.h"
#include "tuner/space/domain.h"
#include "tuner/spec/slice.h"
#include "tuner/spec/spec.h"

/* A list of values under construction. */

struct value_list {
	struct value *at; /* free() it */
	size_t count, room;
};

/* ERR_USAGE for more than DOMAIN_MAX values, and for values that cannot be passed to a program: infinities, control
 * characters, words of more than 1024 bytes. */
int value_list_push(struct value_list *list, struct value value, struct err *err);

struct spec {
	struct arena *arena;
	const char *name, *folder, *hash, *word;
	enum spec_language language;
	json_t *root, *kernel, *baseline;
	struct space *space;
	int defaults[SPACE_PARAMS_MAX]; /* places among the Values; -1: the Default is not one of them */
};

/* Builds the space from ConfigurationSpace, and sets the defaults. */
int spec_read_space(struct spec *spec, const json_t *configuration, struct err *err);

/* One Python value. */
int spec_scalar(const char *text, struct arena *arena, struct value *value, struct err *err);
/* The condition in Python: && || ! of C become and, or, not unless that would change the meaning. The caller frees it;
 * NULL and err. */
char *spec_condition(const char *text, struct err *err);

/* Shared by the files that read Python lists. All functions return 0, or -1 with an error that has the place in the
 * text.
 */

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
