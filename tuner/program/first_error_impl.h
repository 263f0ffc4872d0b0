/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The line of a failed build that says why: compilers and make print much after it. */
#ifndef TUNER_PROGRAM_FIRST_ERROR_IMPL_H
#define TUNER_PROGRAM_FIRST_ERROR_IMPL_H
#include <jansson.h>

/* The first line of the array that reports an error, else the last line; NULL if there is none. Borrowed. */
const char *program_first_error(const json_t *lines);
#endif
