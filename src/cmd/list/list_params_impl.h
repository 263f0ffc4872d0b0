/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SRC_CMD_LIST_LIST_PARAMS_IMPL_H
#define SRC_CMD_LIST_LIST_PARAMS_IMPL_H
#include "src/app/cmd.h"

/* Shows the parameters of the kernel in word 1, or of the specification of --spec. */
int list_params(struct app *app, const struct opt_args *args, struct err *err);

#endif
