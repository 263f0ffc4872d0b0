/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of this machine, which `sweetspot` alone shows: what it is, what has been tuned, which results are
 * outdated, and what to do next. It does not start a worker, because it must answer at once. */
#ifndef SRC_CMD_STATUS_STATUS_STATE_H
#define SRC_CMD_STATUS_STATUS_STATE_H

#include "src/app/cmd.h"

extern const struct cmd cmd_state;

void state_print(struct ui *ui, const json_t *state, FILE *out);
#endif
