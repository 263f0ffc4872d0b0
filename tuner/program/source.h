/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What identifies a program: two measurements are comparable where all of this is the same. */
#ifndef TUNER_PROGRAM_SOURCE_H
#define TUNER_PROGRAM_SOURCE_H
#include "src/base/sha256.h"
#include "tuner/program/program.h"

/* Of the file that execvp takes in `cwd` (NULL: here); false where it can't be read. */
bool program_file_hash(const char *name, const char *cwd, char hash[SHA256_TEXT]);
/* Of the executable where that alone is what runs, else of the commands: they are all that is known before a build. */
void program_source(const struct program_spec *spec, char hash[SHA256_TEXT]);
/* {"command": template as it would be typed, "input", "cwd", "build"}: strings, only what is given. New reference. */
json_t *program_problem(const struct program_spec *spec);

#endif
