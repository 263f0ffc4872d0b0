/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Configurations that nobody should use, such as those with data races on purpose: measured where somebody asks for
 * them, never recommended. */
#ifndef TUNER_RACE_UNSAFE_H
#define TUNER_RACE_UNSAFE_H
#include <jansson.h>
#include <stdbool.h>

#include "src/base/err.h"
#include "src/base/mem.h"

/* Expressions of which one must hold, separated by ';'. They are apart because a name that the configuration lacks (its
 * condition does not hold) makes an expression as a whole say nothing. text: NULL for none. */
size_t unsafe_split(const char *text, struct arena *arena, const char ***expressions);

/* The same read once, for many configurations. NULL where an expression can't be read. */
struct unsafe;
struct unsafe *unsafe_new(const char *text, struct err *err);
void unsafe_free(struct unsafe *unsafe);
bool unsafe_is(const struct unsafe *unsafe, const json_t *problem, const json_t *config);
/* problem may be NULL. -1 only where an expression can't be read. */
int unsafe_holds(const char *text, const json_t *problem, const json_t *config, bool *out, struct err *err);

#endif
