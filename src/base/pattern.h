/* SPDX-License-Identifier: BSD-3-Clause */
/* Extended regular expressions from outside. */
#ifndef SRC_BASE_PATTERN_H
#define SRC_BASE_PATTERN_H
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

/* regcomp(), but for expressions whose length, nesting or repetitions would take all memory or the stack. false: `why`
 * says so, and there is nothing to free. */
bool pattern_compile(regex_t *regex, const char *expression, char *why, size_t size);

#endif
