/* SPDX-License-Identifier: BSD-3-Clause */
/* Extended regular expressions from outside. */
#ifndef BASE_PATTERN_H
#define BASE_PATTERN_H
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

/* Like regcomp(), but refuses expressions whose length, nesting or repetitions would exhaust memory or the stack.
 * false: `why` gives the reason, and nothing needs to be freed. */
bool pattern_compile(regex_t *regex, const char *expression, char *why, size_t size);
/* Returns NAME of a metric "kernel:NAME", the time of a GPU's kernel; NULL for anything else. With a sign of regular
 * expressions it is one, and without any it could match only its own text, which is not a number. */
const char *pattern_kernel(const char *metric);
#endif
