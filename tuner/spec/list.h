/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A list of values while it is made. */
#ifndef TUNER_SPEC_LIST_H
#define TUNER_SPEC_LIST_H
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/value.h"

struct value_list {
	struct value *at; /* free() it */
	size_t count, room;
};

/* ERR_USAGE over DOMAIN_MAX values, and for values that could not be given to a program: infinities, control
 * characters, words of more than 1024 bytes. */
int value_list_push(struct value_list *list, struct value value, struct err *err);
/* What is there from `first` on, `times` times instead of once. */
int value_list_repeat(struct value_list *list, size_t first, int64_t times, struct err *err);
/* Python's sorted() of what is there from `first` on; ERR_USAGE for words among numbers. */
int value_list_sort(struct value_list *list, size_t first, struct err *err);
/* Of equal values (1, 1.0 and True are equal) the first stays; the order stays too. */
void value_list_unique(struct value_list *list);

#endif
