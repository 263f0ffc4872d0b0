/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands' own option --regions. Each function does the whole command, as its `run` would. */
#ifndef SRC_CMD_REGIONS_REGIONS_H
#define SRC_CMD_REGIONS_REGIONS_H
#include "src/app/cmd.h"
#include "tuner/program/program.h"

/* tables: the options of the command. */
int regions_command_tune(struct app *app, const struct opt_args *args, const struct opt *const *tables,
                         struct err *err);
int regions_command_run(struct app *app, const struct opt_args *args, const struct opt *const *tables, struct err *err);
/* Becomes the program; returns where that is not possible. */
int regions_command_apply(struct app *app, const struct opt_args *args, struct err *err);
/* Lines for a shell, a job script or a modulefile. */
int regions_command_export(struct app *app, const struct opt_args *args, struct err *err);
/* The limit of each region of the program after --, or of the only one that has been tuned. */
int regions_command_explain(struct app *app, const struct opt_args *args, struct err *err);
/* regions_profile of one run of at most so many seconds, {"regions": []} if it enters none, NULL if they cannot be
 * seen. The caller holds the lock. New reference. */
json_t *regions_command_look(struct app *app, const struct program_spec *program, double seconds);
/* Whether `tune --openmp` should tune by region instead: it runs the program once if nothing else was asked for.
 */
bool regions_command_suits(struct app *app, const struct opt_args *args, const struct opt *const *tables);
/* Settings of the program are kept, and those of the store do not know it. */
bool regions_command_known(struct app *app, const struct opt_args *args);
/* Every document in the folder in the order of names, until `visit` returns non-zero, which is then returned. Files
 * that cannot be read are left out. */
int regions_files_each(const struct opt_args *args, int (*visit)(void *ctx, const json_t *document), void *ctx);
#endif
