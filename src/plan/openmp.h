/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inspects a binary program for OpenMP: finds the runtime that it loads, and whether OMP_SCHEDULE affects any loop. */
#ifndef SRC_PLAN_OPENMP_H
#define SRC_PLAN_OPENMP_H
#include <stdbool.h>

#include "base/err.h"

enum openmp_runtime {
	OPENMP_NONE,    /* an ELF program without a known OpenMP runtime */
	OPENMP_UNKNOWN, /* a script, a shell, or an unreadable file */
	OPENMP_GOMP,    /* libgomp */
	OPENMP_LLVM     /* libomp, libiomp5 */
};
enum openmp_schedule { OPENMP_SCHEDULE_UNKNOWN, OPENMP_SCHEDULE_NONE, OPENMP_SCHEDULE_USED };

struct openmp_program {
	enum openmp_runtime runtime;
	enum openmp_schedule schedule; /* whether it has schedule(runtime) loops */
	char library[256];             /* file of the runtime, for messages; may be empty */
};

/* Inspects the program that execvp would find in `cwd` (NULL for ours). The dynamic loader itself lists the objects
 * (ld.so --list), so the program is never started. A runtime that is linked in statically is recognised by the names of
 * its variables, but then the loops stay unknown. Libraries that a program loads while it runs are not seen. -1 if the
 * program is not found. */
int openmp_inspect(const char *program, const char *cwd, struct openmp_program *out, struct err *err);

/* Calls `look` with the program's file and those that the dynamic loader would load for it, until it returns true.
 * Returns whether it did. */
bool openmp_files_any(const char *path, const char *cwd, bool (*look)(void *ctx, const char *path), void *ctx);

/* For a command that the files do not tell about, such as a script: runs it for a few seconds at most and asks the
 * dynamic loader (LD_DEBUG, ld.so(8)) which runtime is loaded, and by which program, which is then inspected. Output is
 * dropped. *out keeps what it says where nothing is seen. */
void openmp_watch(const char *const *argv, const char *cwd, const char *input, struct openmp_program *out);
#endif
