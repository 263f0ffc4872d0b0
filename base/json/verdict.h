/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdicts about a setting, as results, profiles and stores hold them in their member "verdict". */
#ifndef BASE_JSON_VERDICT_H
#define BASE_JSON_VERDICT_H
#include <jansson.h>
#include <stdbool.h>

#define VERDICTS(X)                                                                                                    \
	X(FASTER, "faster")                                                                                                \
	X(NOT_SAME, "faster, but not the same work")                                                                       \
	X(TIE, "tie")                                                                                                      \
	X(UNDECIDED, "undecided")                                                                                          \
	X(SLOWER, "slower")                                                                                                \
	X(NO_BASELINE, "no baseline")

enum verdict {
#define VERDICT_ENUM(name, word) VERDICT_##name,
	VERDICTS(VERDICT_ENUM)
#undef VERDICT_ENUM
		VERDICT_COUNT
};
const char *verdict_word(enum verdict verdict);
bool verdict_find(const char *word, enum verdict *verdict);
/* The verdict of a result or an entry: undecided without one, or with one that is not known. */
enum verdict verdict_of(const json_t *result);
/* Is it proven to be faster, whatever work it does? */
bool verdict_is_faster(const json_t *result);
/* How the setting was checked: "output same in 31 of 31 runs", "verified by CMD in 9 of 9 runs", "nothing". Caller
 * frees; NULL: the result is from an earlier version, and nobody knows. */
char *verdict_checked(const json_t *result);

#endif
