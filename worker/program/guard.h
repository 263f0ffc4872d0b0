/* SPDX-License-Identifier: BSD-3-Clause */
/* While programs run, the tuner's death must not kill the worker before it has cleaned up. */
#ifndef WORKER_PROGRAM_GUARD_H
#define WORKER_PROGRAM_GUARD_H
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct program_guard {
	int signal; /* the signal that the parent's death sends; 0: none */
	pid_t parent;
	struct rlimit limits[RLIM_NLIMITS];
};

/* From then on orphans of a program come to this process; true the first time. */
bool program_guard_begin(struct program_guard *guard);
/* Has a program lowered the limits of this process, its parent (prlimit)? Then it cannot run anything more. */
bool program_guard_robbed(const struct program_guard *guard);
/* Restores the earlier state; false if the parent has died meanwhile. */
bool program_guard_end(const struct program_guard *guard);

#endif
