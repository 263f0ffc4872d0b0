/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `sweetspot store export` and `import`. */
#ifndef SRC_CMD_STORE_SHARE_H
#define SRC_CMD_STORE_SHARE_H
#include "src/app/cmd.h"

int store_share_export(struct app *app, const struct opt_args *args, struct err *err);
int store_share_import(struct app *app, const struct opt_args *args, struct err *err);

#endif
