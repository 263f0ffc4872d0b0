/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Configurations that nobody should use, such as those with deliberate data races: they are measured on request and
 * never recommended. */
#ifndef TUNER_RACE_UNSAFE_H
#define TUNER_RACE_UNSAFE_H
#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"

/* Splits a list of expressions separated by ";"; the configuration is unsafe if one of them holds. They are separate
 * because a name that the configuration lacks (its condition does not hold) leaves a whole expression undecided. text:
 * NULL for none. */
size_t unsafe_split(const char *text, struct arena *arena, const char ***expressions);

/* The expressions parsed once, for many configurations. NULL if one of them is malformed. */
struct unsafe;
struct unsafe *unsafe_new(const char *text, struct err *err);
void unsafe_free(struct unsafe *unsafe);
bool unsafe_is(const struct unsafe *unsafe, const json_t *problem, const json_t *config);
/* The harm that a setting may do to results, or to others on the machine; NULL: nothing that is known. today: the value
 * that it replaces; may be NULL. */
const char *unsafe_word(const char *param, const json_t *value, const json_t *today);
/* Does one of the values leave out what protects shared data, as the lock "nosync" does? */
bool unsafe_is_unguarded(const json_t *config);
/* problem may be NULL. Returns -1 only if an expression is malformed. */
int unsafe_holds(const char *text, const json_t *problem, const json_t *config, bool *out, struct err *err);
#endif
