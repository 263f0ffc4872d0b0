/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `sweep --plan`: says what would be measured, and measures nothing. */
#ifndef SRC_CMD_RUN_SWEEP_PLAN_IMPL_H
#define SRC_CMD_RUN_SWEEP_PLAN_IMPL_H
#include <jansson.h>

#include "base/opt.h"

/* rows: [{"config", "problem" of a kernel, "line" of a program, "device" of several}], all combinations in their order.
 * runs: how often each runs at least. Prints a document with --json. */
void sweep_plan_print(const struct opt_args *args, const char *kernel, int runs, const json_t *rows);
#endif
