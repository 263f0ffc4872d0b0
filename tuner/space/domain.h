/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of a parameter as users write them: "a,b,c" (words or numbers), "1..8", "0..64+8", "16..512*2",
 * "pow2(16,512)", and lists of these: "1,2,4..16+4". Python lists, which T1 files have, are the business of the T1
 * reader. */
#ifndef TUNER_SPACE_DOMAIN_H
#define TUNER_SPACE_DOMAIN_H

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"

enum { DOMAIN_MAX = PARAM_VALUES_MAX };

/* Keeps the order. Refuses duplicates and more than DOMAIN_MAX values; words live in the arena. */
int domain_parse(const char *text, struct arena *arena, struct value **values, size_t *count, struct err *err);
/* A value that occurs twice, or NULL. */
const struct value *domain_duplicate(const struct value *values, size_t count);
#endif
