/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a program is, and where it runs. */
#ifndef TUNER_PROGRAM_PATH_H
#define TUNER_PROGRAM_PATH_H
#include "src/base/err.h"

/* The absolute path, links resolved, of the file that execvp takes once the process is in `cwd` (NULL: here). NULL and
 * ERR_USAGE where there is none. Caller frees. */
char *program_path(const char *program, const char *cwd, struct err *err);
/* ERR_USAGE where the folder can't be entered, or the file for stdin, relative to it, not be read; both may be NULL. */
int program_places_check(const char *cwd, const char *input, struct err *err);

#endif
