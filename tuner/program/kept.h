/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the build of a configuration that an earlier session has kept, so that exactly what was measured can be run
 * again. Nothing is locked, changed or built. */
#ifndef TUNER_PROGRAM_KEPT_H
#define TUNER_PROGRAM_KEPT_H

#include "base/hash.h"
#include "tuner/program/program.h"

struct program_kept {
	char *tree;    /* the folder of the build; NULL: none is kept */
	json_t *files; /* {"name": [mode, "sha256:.."]} below it */
	bool outdated; /* one is kept, but the sources have changed since */
	char *name;    /* the program's file below the folder; NULL: the command does not run a file of the build */
	char hash[SHA256_TEXT]; /* of that file, "" without one */
};

/* check: every file of the build still has its hash. Everything is empty for a program that is not built. */
struct program_kept program_kept_find(const struct program *program, const json_t *config, bool check);
void program_kept_clear(struct program_kept *kept);
/* Does the folder, usually that of the sources, hold everything that the build does? */
bool program_kept_covers(const struct program_kept *kept, const char *folder);
#endif
