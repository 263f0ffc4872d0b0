/* SPDX-License-Identifier: BSD-3-Clause */
/* Resolves the path of a program and checks the folder that it runs in. */
#ifndef BASE_PROC_PATH_H
#define BASE_PROC_PATH_H
#include "base/err.h"

/* The absolute path, with links resolved, of the file that execvp would run in `cwd` (NULL: here). NULL with ERR_USAGE
 * if there is none. Caller frees. */
char *program_path(const char *program, const char *cwd, struct err *err);
/* ERR_USAGE if the folder cannot be entered, or if the file for stdin (relative to it) cannot be read; both may be
 * NULL. */
int program_places_check(const char *cwd, const char *input, struct err *err);
#endif
