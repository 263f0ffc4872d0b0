/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A list of values under construction. */
#ifndef TUNER_SPEC_LIST_H
#define TUNER_SPEC_LIST_H
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/value.h"

struct value_list {
	struct value *at; /* free() it */
	size_t count, room;
};

/* ERR_USAGE for more than DOMAIN_MAX values, and for values that cannot be passed to a program: infinities, control
 * characters, words of more than 1024 bytes. */
int value_list_push(struct value_list *list, struct value value, struct err *err);

#endif
