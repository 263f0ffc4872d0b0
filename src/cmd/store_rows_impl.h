/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `store list`, `store show` and `store rm`. */
#ifndef SRC_CMD_STORE_ROWS_IMPL_H
#define SRC_CMD_STORE_ROWS_IMPL_H
#include "src/app/cmd.h"

extern const struct cmd_verb verb_store_list, verb_store_show, verb_store_rm;
#endif
