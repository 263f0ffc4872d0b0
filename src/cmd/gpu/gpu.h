/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `run --device cuda -- PROGRAM`. */
#pragma once
#include "src/app/cmd.h"

/* Whether it is meant. */
bool gpu_command_suits(struct app *app, const struct opt_args *args);
int gpu_command_run(struct app *app, const struct opt_args *args, struct err *err);
