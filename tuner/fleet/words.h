/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line in words, as a POSIX shell would split it (Shell Command Language, 2.2): quotes and backslashes, and nothing
 * is expanded or run. */
#ifndef TUNER_FLEET_WORDS_H
#define TUNER_FLEET_WORDS_H
#include "src/base/err.h"

/* NULL-terminated; NULL and ERR_USAGE where a quote is not closed, or where a shell would do more than split. Free with
 * words_free. */
char **words_split(const char *line, struct err *err);
void words_free(char **words); /* NULL is fine */

#endif
