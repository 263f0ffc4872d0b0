/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `run --device cuda -- PROGRAM`, and `run --counters GROUP -- PROGRAM`. */
#ifndef SRC_CMD_GPU_GPU_H
#define SRC_CMD_GPU_GPU_H
#include "src/app/cmd.h"

/* Whether it is meant. */
bool gpu_command_suits(struct app *app, const struct opt_args *args);
int gpu_command_run(struct app *app, const struct opt_args *args, struct err *err);

/* A table of what was counted in a program's work on GPUs. functions: rows with "counted", "launches" and "metrics" or
 * "counters". counters: rows whose sources have names of their own; NULL: none. */
void gpu_counts_print(struct ui *ui, const json_t *functions, const json_t *counters);
#endif
