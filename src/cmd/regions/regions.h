/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands' own option --regions. Each function does the whole command, as its `run` would. */
#ifndef SRC_CMD_REGIONS_REGIONS_H
#define SRC_CMD_REGIONS_REGIONS_H
#include "src/app/cmd.h"

int regions_command_tune(struct app *app, const struct opt_args *args, struct err *err);
int regions_command_run(struct app *app, const struct opt_args *args, struct err *err);
/* Becomes the program; returns where that is not possible. */
int regions_command_apply(struct app *app, const struct opt_args *args, struct err *err);
/* Lines for a shell, a job script or a modulefile. */
int regions_command_export(struct app *app, const struct opt_args *args, struct err *err);

#endif
