/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program of a profile's entry: what tuner/program/program.h's program_json says of it, less its environment, which
 * is the entry's own. */
#ifndef TUNER_PROFILE_PROGRAM_H
#define TUNER_PROFILE_PROGRAM_H
#include <jansson.h>
#include <stdbool.h>

#include "src/base/err.h"

/* A variable's name, and not one that makes programs load or run something else (LD_PRELOAD, PATH, OMP_TOOL_LIBRARIES
 * and the like): a profile may come from anyone, and its variables end up in the environment of programs. */
bool profile_variable_is_harmless(const char *name);
/* Settings of OpenMP, names of our own, and of a program (NULL: a kernel) its own parameters where they are harmless.
 */
bool profile_may_set(const char *name, const json_t *program);
int profile_program_check(const json_t *program, struct err *err); /* types and sizes; ERR_USAGE */
/* Of a result's "program": without the environment; and the variables that may be set. New references. */
json_t *profile_program(const json_t *program);
json_t *profile_program_environment(const json_t *program);

#endif
