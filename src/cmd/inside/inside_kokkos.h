/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs with Kokkos, whose kernels are contexts: the variables that make it load our library. */
#ifndef SRC_CMD_INSIDE_INSIDE_KOKKOS_H
#define SRC_CMD_INSIDE_INSIDE_KOKKOS_H
#include "src/plan/kokkos_program.h"

struct inside_kokkos {
	struct kokkos_tool tool;
	json_t *using; /* {"NAME": "value"}: variables of a run with what is known; empty where nothing is to be loaded */
	json_t *watching; /* of a run that is not asked, and of one that learns, in place of those */
	json_t *learning;
	char *facts; /* the file by which a run tells the next ones whether it may be asked; NULL: none */
};

/* Looks at the program after --. Notes tell why one of Kokkos is not tuned. */
void inside_kokkos_open(struct app *app, const struct opt_args *args, struct inside_kokkos *kokkos);
/* A note where the user has set another tool. */
void inside_kokkos_tell_own(struct app *app, const struct opt_args *args);
/* A note where tiles are left alone. */
void inside_kokkos_tell(struct ui *ui, const struct inside_kokkos *kokkos);
void inside_kokkos_clear(struct inside_kokkos *kokkos);
#endif
