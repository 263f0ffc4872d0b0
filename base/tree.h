/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders of ours that others fill. */
#ifndef BASE_TREE_H
#define BASE_TREE_H
#include <stdbool.h>

#include "base/err.h"

/* Removes a folder with everything in it. Does not follow links; needs the same number of descriptors and the same
 * stack at any depth; opens folders of ours that were closed with chmod. 0, or -1 if something is left. */
int tree_remove(const char *path);
/* Is this a folder of this user's, as mkdir(path, 0700) makes it, with nothing in it? */
bool tree_is_fresh(const char *path);

/* Is it "." or "..", which every folder has? */
bool tree_is_dots(const char *name);

/* Temporary folders that are locked as long as their owner lives, so that a later process finds and removes those of a
 * killed one. */

/* One for each kind of owner. */
#define SCRATCH_RUN     "sweetspot-run-" /* a trial of a program, which gets it as TMPDIR */
#define SCRATCH_REGIONS "sweetspot-regions-"
#define SCRATCH_INSIDE  "sweetspot-inside-"
#define SCRATCH_NVCC    "sweetspot-nvcc-"
#define SCRATCH_OUTPUTS "sweetspot-outputs-"

struct scratch {
	char *path;
	int fd; /* holds the lock */
};

/* Makes the folder PREFIX... below $TMPDIR, else /tmp. */
int scratch_open(struct scratch *scratch, const char *prefix, struct err *err);
/* Returns the hint for an error when writing there; why: its errno. */
const char *scratch_hint(int why);
/* A new unnamed file in it, for writing and reading; close-on-exec. -1 and errno. */
int scratch_file(const struct scratch *scratch);
void scratch_close(struct scratch *scratch);
/* Removes the folders PREFIX... whose owners are gone, and ends what still runs in them. */
void scratch_tidy(const char *prefix);
#endif
