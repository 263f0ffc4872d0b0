/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `store list`, `store show` and `store rm`. */
#ifndef SRC_CMD_STORE_ROWS_IMPL_H
#define SRC_CMD_STORE_ROWS_IMPL_H
#include "src/app/cmd.h"

int store_rows_list(struct app *app, const struct opt_args *args, struct err *err);
int store_rows_show(struct app *app, const struct opt_args *args, struct err *err);
int store_rows_rm(struct app *app, const struct opt_args *args, struct err *err);
#endif
