/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a command runs a program with Kokkos, which can load a tool library. */
#ifndef SRC_PLAN_KOKKOS_PROGRAM_H
#define SRC_PLAN_KOKKOS_PROGRAM_H
#include "src/app/cmd.h"

enum kokkos_program {
	KOKKOS_PROGRAM_NONE,
	KOKKOS_PROGRAM_NAMED, /* Kokkos was built without tuning: a tool sees the names and times of kernels only */
	KOKKOS_PROGRAM_TUNED
};

/* Looks at the files of the command's words, behind launchers (`mpirun -n 2 ./app`) and into scripts and code for a
 * shell. Nothing is started. */
enum kokkos_program kokkos_program_find(const char *const *words, size_t count, const char *cwd);

struct kokkos_tool {
	enum kokkos_program program;
	char *file;           /* the program that has it, behind launchers; NULL: none */
	char *library;        /* the path of libsweetspot-kokkos.so; NULL: it is not to be loaded */
	const char *variable; /* of the environment, which tells Kokkos what to load: another one up to 3.x */
};

/* The tool that such a command is to load; the caller frees both paths. A note says where the user has set another
 * tool, where the library is not installed and, if it `tunes`, where Kokkos cannot be tuned. */
struct kokkos_tool kokkos_tool_find(struct ui *ui, const char *const *words, size_t count, const char *cwd, bool tunes);
#endif
