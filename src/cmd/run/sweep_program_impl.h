/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every combination of a program's parameters: `sweep --param B=16,64 -- ./app {B}`. */
#pragma once
#include "src/app/cmd.h"

int sweep_program(struct app *app, const struct opt_args *args, struct err *err);
