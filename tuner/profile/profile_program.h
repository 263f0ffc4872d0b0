/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program of a profile's entry: the document of program_json (tuner/program/program.h) without the environment,
 * which is a member of the entry. */
#ifndef TUNER_PROFILE_PROFILE_PROGRAM_H
#define TUNER_PROFILE_PROFILE_PROGRAM_H
#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

/* Settings of OpenMP, our own names, and the harmless parameters of the program (NULL: a kernel). */
bool profile_may_set(const char *name, const json_t *program);
/* A profile from a file is data of anybody: it sets variables on a white list (OpenMP's, the numbers of threads of
 * linear algebra, and those of the entry's kernel), and those that the user names; ERR_USAGE with the name of any
 * other. named: NULL-terminated, or NULL. */
int profile_check_foreign(const json_t *entry, const char *const *named, struct err *err);
#endif
