/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The OpenMP of a program that we have only as a binary: which runtime it really loads, and whether it has loops that
 * OMP_SCHEDULE can reach. */
#ifndef SRC_PLAN_OPENMP_H
#define SRC_PLAN_OPENMP_H
#include <stdbool.h>

#include "src/base/err.h"

enum openmp_runtime {
	OPENMP_NONE,    /* an ELF program that loads no OpenMP runtime that we know */
	OPENMP_UNKNOWN, /* a script, or not readable */
	OPENMP_GOMP,    /* libgomp */
	OPENMP_LLVM     /* libomp, libiomp5 */
};
enum openmp_schedule { OPENMP_SCHEDULE_UNKNOWN, OPENMP_SCHEDULE_NONE, OPENMP_SCHEDULE_USED };

struct openmp_program {
	enum openmp_runtime runtime;
	enum openmp_schedule schedule; /* are there schedule(runtime) loops? */
	char library[256];             /* file of the runtime, for people; may be empty */
};

/* `program` as execvp finds it in `cwd` (NULL: here). Objects are listed by the dynamic loader itself (ld.so --list):
 * the program is never started. A runtime that is linked in is known by the names of its variables, and then nothing is
 * known of the loops. What a program loads while it runs is not seen. -1: there is no such program. */
int openmp_inspect(const char *program, const char *cwd, struct openmp_program *out, struct err *err);

#endif
