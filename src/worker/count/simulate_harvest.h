/* SPDX-License-Identifier: BSD-3-Clause */
/* All of callgrind's files in a folder with arbitrary content. */
#ifndef SRC_WORKER_COUNT_SIMULATE_HARVEST_H
#define SRC_WORKER_COUNT_SIMULATE_HARVEST_H
#include "src/worker/count/simulate_file.h"

struct simulate_harvest {
	struct simulate_part *parts;
	size_t count;
	double bytes; /* read so far */
};

/* Adds the files whose names begin with `prefix` and have no dot. NULL, or the error. */
const char *simulate_harvest_read(const char *folder, const char *prefix, struct simulate_harvest *harvest);
/* Content of a plain file, with a NUL appended; NULL if it is not one or is too long. The caller frees it. */
char *simulate_text(const char *path, size_t limit, size_t *size);
void simulate_harvest_free(struct simulate_harvest *harvest);

#endif
