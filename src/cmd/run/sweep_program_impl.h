/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every combination of a program's parameters: `sweep --param B=16,64 -- ./app {B}`. */
#ifndef SRC_CMD_RUN_SWEEP_PROGRAM_IMPL_H
#define SRC_CMD_RUN_SWEEP_PROGRAM_IMPL_H
#include "src/app/cmd.h"

int sweep_program(struct app *app, const struct opt_args *args, struct err *err);
#endif
