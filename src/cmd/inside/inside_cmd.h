/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contexts of programs, for the commands that run them. */
#ifndef SRC_CMD_INSIDE_INSIDE_CMD_H
#define SRC_CMD_INSIDE_INSIDE_CMD_H
#include "src/app/cmd.h"
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
#endif
