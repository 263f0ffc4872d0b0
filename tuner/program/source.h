/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The identity of a program: two measurements are comparable if all of this is equal. */
#ifndef TUNER_PROGRAM_SOURCE_H
#define TUNER_PROGRAM_SOURCE_H
#include "base/hash.h"
#include "tuner/program/program.h"

/* Hashes the file that execvp would run in `cwd` (NULL: here); false if it cannot be read. */
bool program_file_hash(const char *name, const char *cwd, char hash[SHA256_TEXT]);
/* Of what does the work in a command: the script of an interpreter, the program behind a launcher, or else the file of
 * the first word. `first` is always that file's, which earlier versions recorded. "": there is no such file. */
struct program_hashes {
	char work[SHA256_TEXT], first[SHA256_TEXT];
	bool absolute; /* the path of what does the work */
};
struct program_hashes program_hashes_read(const char *const *words, const char *cwd);
struct program_hashes program_hashes_recorded(const json_t *argv,
                                              const char *cwd); /* the words as a profile has them */
bool program_hashes_have(const struct program_hashes *hashes, const char *source);
/* Hashes the executable or script if that alone runs, else the commands, because nothing else is known before a build.
 */
void program_source(const struct program_spec *spec, char hash[SHA256_TEXT]);
/* Returns {"command": template as typed, "input", "cwd", "build"}: strings, only those given. New reference. */
json_t *program_problem(const struct program_spec *spec);
#endif
