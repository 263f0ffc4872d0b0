/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A space: parameters with finite values, conditions under which a parameter exists, and constraints. Valid
 * configurations are counted exactly and numbered 0 .. valid-1 without being listed.
 *
 * Method: parameters are placed one after the other; a constraint is decided at its last parameter; partial assignments
 * that agree on every parameter which later constraints still need have the same number of completions, so counts are
 * kept by (depth, those values) - a multi-valued decision diagram (Srinivasan et al. 1990) built lazily. What a
 * constraint needs of earlier parameters is the values of its subexpressions, a * b rather than a and b; a few orders
 * of placement are tried with growing limits of effort. Counting is refused where it would take over about 512 MiB.
 *
 * A configuration is an array of space_params() places into the values of each parameter, SPACE_ABSENT where the
 * parameter's condition does not hold. A constraint that mentions an absent parameter holds; a condition that mentions
 * one does not. */
#ifndef TUNER_SPACE_SPACE_H
#define TUNER_SPACE_SPACE_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/rng.h"
#include "src/base/value.h"

enum { SPACE_ABSENT = -1, SPACE_PARAMS_MAX = 64, SPACE_ROWS_MAX = 1 << 24 };

struct space;
struct space *space_new(void);
void space_free(struct space *space);

/* Before space_build: all texts and values are copied. */
int space_add_param(struct space *space, const char *name, const char *summary, const struct value *values,
                    size_t count, const char *when, struct err *err);
int space_add_constant(struct space *space, const char *name, struct value value,
                       struct err *err); /* the problem's n */
int space_add_constraint(struct space *space, const char *expression, struct err *err);
/* Only these combinations of the named parameters: rows x names places, SPACE_ABSENT where absent. Parameters that a
 * row leaves absent must be absent by their condition as well. Twins count once. A table of all parameters is built in
 * time linear in its rows, of which there may be SPACE_ROWS_MAX; others may have 2^20 rows. */
int space_add_table(struct space *space, const char *const *names, size_t name_count, const int *rows, size_t row_count,
                    struct err *err);
/* Counts. ERR_USAGE for unknown names in expressions, circular conditions, or an empty space (naming the constraint
 * that alone empties it, where there is one). */
int space_build(struct space *space, struct err *err);

size_t space_params(const struct space *space);
const char *space_param_name(const struct space *space, size_t param);
const char *space_param_summary(const struct space *space, size_t param);
const char *space_param_when(const struct space *space, size_t param); /* NULL: always there */
int space_param_find(const struct space *space, const char *name);     /* -1 unknown */
size_t space_param_values(const struct space *space, size_t param);
struct value space_param_value(const struct space *space, size_t param, size_t place);
bool space_param_ordered(const struct space *space, size_t param); /* all values are numbers */

double space_cartesian(const struct space *space); /* product of the numbers of values */
uint64_t space_valid(const struct space *space);
void space_config(const struct space *space, uint64_t index, int *config);
bool space_index(const struct space *space, const int *config, uint64_t *index); /* false: not a valid configuration */
uint64_t space_sample(const struct space *space, struct rng *rng);               /* uniform */

enum space_near {
	SPACE_HAMMING,  /* one parameter takes any other value */
	SPACE_ADJACENT, /* one parameter takes the next value up or down; words: any other */
	SPACE_PLAIN,    /* as SPACE_HAMMING, but no other parameter changes: quick */
	SPACE_STRICT    /* any number of parameters move, each at most one place up or down in its list, words too */
};
/* Valid configurations one step from `index`: when a change makes other parameters appear or breaks a constraint, those
 * that must change are set to their nearest values that are valid: fewest other changes first, then shortest way in
 * places. Parameters that appear take the valid value nearest to the middle of their list (words: the first), which is
 * no change. So every value of a present parameter that occurs in any valid configuration leads to a neighbour, unless
 * finding it takes too long. Neighbours without a repair come first. At most max, no duplicates, in a fixed order.
 * SPACE_ADJACENT skips values that occur in no valid configuration.
 *
 * SPACE_STRICT repairs nothing; parameters that appear are within one place of the middle of their list (words: of the
 * first). Fewest changes come first, then the least number; bounded effort may leave out some of those with many.
 *
 * Kernel Tuner (searchspace.py) has three kinds as well: its Hamming is SPACE_PLAIN, strictly-adjacent is SPACE_STRICT,
 * and its adjacent moves any number of parameters, each at most to the next value that occurs; ours moves one. */
size_t space_near(const struct space *space, uint64_t index, enum space_near kind, uint64_t *out, size_t max);

json_t *space_config_json(const struct space *space, uint64_t index); /* absent parameters are left out */
/* Members missing from the object must be absent or are taken from `fallback` where it is not NULL. ERR_USAGE names the
 * parameter or value, with the nearest valid one as hint. */
int space_config_read(const struct space *space, const json_t *object, const uint64_t *fallback, uint64_t *index,
                      struct err *err);
/* The valid configuration with these members that is nearest to the one at `from`, in the sense of space_near.
 * ERR_USAGE where there is none, or none was found within a bounded effort. */
int space_config_nearest(const struct space *space, const json_t *object, uint64_t from, uint64_t *index,
                         struct err *err);
char *space_hash(const struct space *space); /* "sha256:..." over all that defines it; caller frees */
/* {"space": {"cartesian", "valid"}, "params": [{"name", "summary", "values", "when"}], "constraints": [..]} */
json_t *space_json(const struct space *space);

#endif
