/* SPDX-License-Identifier: BSD-3-Clause */
/* The known word nearest to a mistyped one (Damerau-Levenshtein, optimal string alignment). */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H
#include <stddef.h>

/* NULL if no word is near enough to suggest. */
const char *near_word(const char *word, const char *const *known, size_t count);
#endif
