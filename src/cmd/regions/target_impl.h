/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program whose regions are meant, checked before it is run. */
#ifndef SRC_CMD_REGIONS_TARGET_IMPL_H
#define SRC_CMD_REGIONS_TARGET_IMPL_H
#include "src/plan/kokkos_program.h"

struct regions_target {
	char *const *words; /* of the command, NULL-terminated */
	size_t count;
	char *path;    /* of the program, absolute */
	char *subject; /* what has the regions: path, the program that it starts, as mpirun does, or its script */
	char *library; /* libsweetspot-omp.so */
	struct kokkos_tool kokkos; /* for `run` */
	char *mpi;                 /* libsweetspot-mpi.so beside it, if a launcher of MPI starts the program; NULL: none */
};

/* command: for hints ("tune"). ERR_USAGE for a program that cannot be reached: static, setuid, without OpenMP. */
int regions_target_read(struct regions_target *target, struct app *app, const struct opt_args *args,
                        const char *command, struct err *err);
json_t *regions_target_command(const struct regions_target *target); /* its words; new reference */
void regions_target_clear(struct regions_target *target);
/* The subject of a command whose program is `path`. Caller frees. */
char *regions_subject(const char *path, char *const *words, size_t count);
#endif
