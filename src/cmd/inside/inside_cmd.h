/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contexts of programs, for the commands that run them. */
#ifndef SRC_CMD_INSIDE_INSIDE_CMD_H
#define SRC_CMD_INSIDE_INSIDE_CMD_H
#include "src/plan/kokkos_program.h"
#include "tuner/inside/inside.h"

/* The program after -- may have contexts, by its files, and no option asks for anything else. tables: the options of
 * the command. */
bool inside_command_suits(const struct opt_args *args, const struct opt *const *tables);
/* Does the whole command, as its `run` would. ERR_ABSENT: the program has no contexts. */
int inside_command_tune(struct app *app, const struct opt_args *args, struct err *err);
/* The variables for a program that uses what is proven, {"NAME": "value"}; empty where nothing is known. New reference.
 */
json_t *inside_command_environment(struct app *app, const struct opt_args *args);
/* Keeps what a session has learned, in the store of the options; writes nothing where that is nothing. *store_session:
 * 0 at first, then the session of the store that it belongs to. proof: as in inside_session_keep. */
int inside_command_keep(struct app *app, const struct opt_args *args, struct inside_session *session,
                        int64_t *store_session, const json_t *proof, struct err *err);
/* Takes over what the store of the options knows; nothing where there is no store. */
int inside_command_recall(struct app *app, const struct opt_args *args, struct inside_session *session,
                          struct err *err);

/* Programs with Kokkos, whose kernels are contexts: the variables that make it load our library. */
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
