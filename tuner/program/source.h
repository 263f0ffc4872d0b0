/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The identity of a program: two measurements are comparable if all of this is equal. */
#ifndef TUNER_PROGRAM_SOURCE_H
#define TUNER_PROGRAM_SOURCE_H
#include "src/base/sha256.h"
#include "tuner/program/program.h"

/* Hashes the file that execvp would run in `cwd` (NULL: here); false if it cannot be read. */
bool program_file_hash(const char *name, const char *cwd, char hash[SHA256_TEXT]);
/* Hashes the executable if that alone runs, else the commands, because nothing else is known before a build. */
void program_source(const struct program_spec *spec, char hash[SHA256_TEXT]);
/* Returns {"command": template as typed, "input", "cwd", "build"}: strings, only those given. New reference. */
json_t *program_problem(const struct program_spec *spec);

#endif
