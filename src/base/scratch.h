/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder for one trial of a program, which the program gets as TMPDIR. It is locked as long as its worker lives,
 * so that a later worker finds and removes the folder of a killed one. */
#ifndef SRC_WORKER_COUNT_SCRATCH_H
#define SRC_WORKER_COUNT_SCRATCH_H
#include "src/base/err.h"

struct program_scratch {
	char *path;
	int fd; /* holds the lock */
};

/* Makes the folder below $TMPDIR, else /tmp. */
int program_scratch_open(struct program_scratch *scratch, struct err *err);
/* A new unnamed file in it, for writing and reading; close-on-exec. -1 and errno. */
int program_scratch_file(const struct program_scratch *scratch);
void program_scratch_close(struct program_scratch *scratch);
/* Removes the folders of workers that are gone. */
void program_scratch_tidy(void);

#endif
