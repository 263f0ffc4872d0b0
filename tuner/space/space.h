/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A space: parameters with finite sets of values, conditions under which a parameter exists, and constraints. Valid
 * configurations are counted exactly and numbered 0 .. valid - 1 without being listed.
 *
 * Method: parameters are decided one after the other, and a constraint at its last parameter. Partial assignments that
 * agree on every parameter which later constraints still need have the same number of completions, so that counts are
 * kept by (depth, those values). This is a multi-valued decision diagram (Srinivasan, Kam, Malik, Brayton, Algorithms
 * for discrete function manipulation, 1990) that is built lazily. A constraint needs the values of subexpressions of
 * earlier parameters only, a * b rather than a and b; a few variable orders are tried with growing limits of effort.
 * Counting is refused if it would take more than about 512 MiB.
 *
 * A configuration is an array of space_params() levels, which are indexes into the values of each parameter;
 * SPACE_ABSENT if the parameter's condition does not hold. A constraint that mentions an absent parameter holds; a
 * condition that does so does not. */
#ifndef TUNER_SPACE_SPACE_H
#define TUNER_SPACE_SPACE_H
#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/value.h"

enum { SPACE_ABSENT = -1, SPACE_PARAMS_MAX = 64, SPACE_ROWS_MAX = 1 << 24 };

struct space;
struct space *space_new(void);
void space_free(struct space *space);

/* Parameters may then have any names; expressions can only use those of letters, digits and _. */
void space_names_any(struct space *space);
/* To be called before space_build. All texts and values are copied. */
int space_add_param(struct space *space, const char *name, const char *summary, const struct value *values,
                    size_t count, const char *when, struct err *err);
int space_add_constant(struct space *space, const char *name, struct value value,
                       struct err *err); /* for example the problem's n */
int space_add_constraint(struct space *space, const char *expression, struct err *err);
/* Allows only these combinations of the named parameters: rows x names levels, SPACE_ABSENT where a parameter is
 * absent, which its condition must agree with. Duplicate rows count once. A table of all parameters is built in time
 * linear in its rows, of which there may be SPACE_ROWS_MAX; other tables may have 2^20 rows. */
int space_add_table(struct space *space, const char *const *names, size_t name_count, const int *rows, size_t row_count,
                    struct err *err);
/* Counts the configurations. Where constraints tie too many values together for that, such as a sum modulo a prime, the
 * space becomes a list of valid configurations that were drawn uniformly (space_estimate). ERR_USAGE for unknown names
 * in expressions, circular conditions, or an empty space; the message names the constraints that make it empty. */
int space_build(struct space *space, struct err *err);

size_t space_params(const struct space *space);
const char *space_param_name(const struct space *space, size_t param);
const char *space_param_when(const struct space *space, size_t param); /* NULL: the parameter always exists */
int space_param_find(const struct space *space, const char *name);     /* -1: unknown */
size_t space_param_values(const struct space *space, size_t param);
struct value space_param_value(const struct space *space, size_t param, size_t level);
bool space_param_ordered(const struct space *space, size_t param); /* all values are numbers */

double space_cartesian(const struct space *space); /* product of the numbers of values */
uint64_t space_valid(const struct space *space);
double space_estimate(const struct space *space); /* how many there are about, if space_valid are a sample; else 0 */
void space_config(const struct space *space, uint64_t index, int *config);
bool space_index(const struct space *space, const int *config,
                 uint64_t *index);                                 /* false: the configuration is not valid */
uint64_t space_sample(const struct space *space, struct rng *rng); /* uniform */

enum space_near {
	SPACE_HAMMING,  /* one parameter takes any other value */
	SPACE_ADJACENT, /* one parameter takes the next value up or down; a word takes any other */
	SPACE_PLAIN,    /* as SPACE_HAMMING, but no other parameter changes, which is quick */
	SPACE_STRICT    /* any number of parameters move, each by at most one level, words included */
};
/* Valid configurations one step from `index`. If a change makes other parameters appear or breaks a constraint, the
 * parameters that must change take their nearest valid values: with the fewest other changes, then the fewest steps. A
 * parameter that appears takes the valid value nearest to the middle of its list (of words the first), which does not
 * count as a change. So every value of a present parameter that occurs in any valid configuration leads to a neighbour,
 * unless finding it takes too long. Neighbours without a repair come first. At most max, without duplicates and in a
 * fixed order. SPACE_ADJACENT skips values that occur in no valid configuration.
 *
 * SPACE_STRICT repairs nothing; a parameter that appears is within one level of the middle of its list (a word: of the
 * first). Fewest changes come first, then the smallest number; as the effort is bounded, some neighbours with many
 * changes may be missing.
 *
 * Kernel Tuner (searchspace.py) has three kinds as well: its Hamming is SPACE_PLAIN, strictly-adjacent is SPACE_STRICT,
 * and its adjacent moves any number of parameters, each at most to the next value that occurs, where ours moves one. */
size_t space_near(const struct space *space, uint64_t index, enum space_near kind, uint64_t *out, size_t max);

json_t *space_config_json(const struct space *space, uint64_t index); /* without absent parameters */
/* Parameters that the object lacks must be absent, or are taken from `fallback` if it is not NULL. ERR_USAGE names the
 * parameter or value, with the nearest valid one as a hint. */
int space_config_read(const struct space *space, const json_t *object, const uint64_t *fallback, uint64_t *index,
                      struct err *err);
/* The valid configuration with these members that is nearest to the one at `from`, in the sense of space_near.
 * ERR_USAGE: there is none, or none was found within a bounded effort. */
int space_config_nearest(const struct space *space, const json_t *object, uint64_t from, uint64_t *index,
                         struct err *err);
/* Do conditions and constraints permit these values, whether or not they are in the space? Tables do not count, as they
 * list what is worth a trial. */
bool space_config_allowed(const struct space *space, const json_t *config);
char *
space_hash(const struct space *space); /* "sha256:..." of everything that defines the space; the caller frees it */
/* Makes {"space": {"cartesian", "valid"}, "params": [{"name", "summary", "values", "when"}], "constraints": [..]}. */
json_t *space_json(const struct space *space);

/* The values of a parameter as users write them: "a,b,c" (words or numbers), "1..8", "0..64+8", "16..512*2",
 * "pow2(16,512)", and lists of these: "1,2,4..16+4". Python lists, which T1 files have, are the business of the T1
 * reader. */
enum { DOMAIN_MAX = PARAM_VALUES_MAX };

/* Keeps the order. Refuses duplicates and more than DOMAIN_MAX values; words live in the arena. */
int domain_parse(const char *text, struct arena *arena, struct value **values, size_t *count, struct err *err);
/* A value that occurs twice, or NULL. */
const struct value *domain_duplicate(const struct value *values, size_t count);

/* Valid configurations near a wish, which may be invalid, fractional or inconsistent, as crossover makes them. This is
 * quick where space_near is thorough: it walks down the diagram once and keeps the best few prefixes of configurations
 * (beam search: Lowerre, The Harpy speech recognition system, 1976). Each prefix in the diagram can be completed, so
 * that the walk always finds something. */
enum { SPACE_NEAREST_MAX = 32 };

/* wish: the level of each parameter; NAN: no preference (the middle; of words the first). Sorts by the number of
 * changes, then by the distance in shares of each parameter's range. Gives at most `max` and SPACE_NEAREST_MAX, at
 * least one, without duplicates and in a fixed order. */
size_t space_nearest(const struct space *space, const double *wish, uint64_t *out, size_t max);

enum { REPAIR_FREE = -2, REPAIR_SHIFT = 40 };

/* from: the wanted levels, or SPACE_ABSENT. fixed: the level that a parameter must have, or REPAIR_FREE. The nearest
 * configuration has the fewest changes among parameters that are not fixed, and among those the smallest sum of steps
 * (of a word: 1). A parameter that was absent and is needed now is not a change; it takes the valid value nearest to
 * the middle of its list (of words the first). changes_max bounds the changes. False: there is none, or none was found
 * within a bounded effort. */
bool space_repair(const struct space *space, const int *from, const int *fixed, size_t changes_max, uint64_t *index);
#endif
