/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Splits a line into words like a POSIX shell (Shell Command Language, 2.2): quotes and backslashes work, but nothing
 * is expanded or run. */
#ifndef TUNER_FLEET_FLEET_WORDS_H
#define TUNER_FLEET_FLEET_WORDS_H
#include "base/err.h"

/* Returns a NULL-terminated array, to be freed with words_free. NULL with ERR_USAGE if a quote is not closed, or if a
 * shell would do more than split. */
char **words_split(const char *line, struct err *err);
void words_free(char **words); /* NULL is fine */
#endif
