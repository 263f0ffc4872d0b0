/* SPDX-License-Identifier: BSD-3-Clause */
/* The known word nearest to a mistyped one (Damerau-Levenshtein, optimal string alignment). */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H
#include <stdbool.h>

#include "base/err.h"

/* NULL if no word is near enough to suggest. */
const char *near_word(const char *word, const char *const *known, size_t count);
bool near_is_known(const char *word, const char *const *known); /* a NULL-terminated list */
/* Refuses a word that is not among the known ones: ERR_USAGE with this message, and with the nearest one as its hint in
 * the format `meant` ("did you mean %s?"); without a near one the hint is `hint`. Returns -1. */
int near_refuse(struct err *err, const char *word, const char *const *known, size_t count, const char *meant,
                const char *hint, const char *what, ...) __attribute__((format(printf, 5, 0), format(printf, 7, 8)));
#endif
