/* SPDX-License-Identifier: BSD-3-Clause */
/* While programs run, the death of the tuner must not kill the worker before it has cleaned up. */
#ifndef SRC_WORKER_PROGRAM_GUARD_H
#define SRC_WORKER_PROGRAM_GUARD_H
#include <stdbool.h>
#include <sys/types.h>

struct program_guard {
	int signal; /* that the parent's death sends; 0: none */
	pid_t parent;
};

/* From then on what a program leaves behind comes to this process; the first time returns true. */
bool program_guard_begin(struct program_guard *guard);
/* As before; false where the parent has died meanwhile. */
bool program_guard_end(const struct program_guard *guard);

#endif
