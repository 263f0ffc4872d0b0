/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `tune --plan` on this machine: says what would be run, and runs nothing. */
#ifndef SRC_CMD_TUNE_DRY_H
#define SRC_CMD_TUNE_DRY_H
#include "src/cmd/tune/session.h"

void tune_dry_print(const struct tune_session *session);

#endif
