/* SPDX-License-Identifier: BSD-3-Clause */
/* Temporary folders that are locked as long as their owner lives, so that a later process finds and removes those of a
 * killed one. */
#ifndef BASE_SCRATCH_H
#define BASE_SCRATCH_H
#include "base/err.h"

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
