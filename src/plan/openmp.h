/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inspects a binary program for OpenMP: finds the runtime that it loads, and whether OMP_SCHEDULE affects any loop. */
#ifndef SRC_PLAN_OPENMP_H
#define SRC_PLAN_OPENMP_H
#include <stdbool.h>
#include <stddef.h>

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

/* Reads program files and libraries as bytes, without trusting anything in them. */
enum openmp_file {
	OPENMP_FILE_OTHER,  /* a script, a program of 32 bits, or a damaged or unreadable file */
	OPENMP_FILE_STATIC, /* an ELF program that the system starts itself */
	OPENMP_FILE_DYNAMIC /* an ELF program that a dynamic loader starts */
};
/* interpreter: the dynamic loader that the file asks for; empty if it is not named like one. */
enum openmp_file openmp_file_kind(const char *path, char *interpreter, size_t size);
/* Tells whether the file contains text that begins with `start` and that `wanted` accepts (NULL accepts any). `wanted`
 * gets the letters, digits and _ from `start` on, at most 127. 1 yes, 0 no, -1 if the file is unreadable or too large.
 */
int openmp_file_has(const char *path, const char *start, bool (*wanted)(const char *text));
#endif
