/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tune --gpus: several GPUs of this machine measure at the same time. */
#ifndef SRC_CMD_TUNE_GPUS_H
#define SRC_CMD_TUNE_GPUS_H
#include "src/app/app.h"
#include "base/opt.h"

/* The GPUs that --gpus names ("all", or "0,2"), as CUDA_VISIBLE_DEVICES names them: NULL-terminated, each for free(3).
 * Without --device, CUDA is used from now on. NULL with ERR_USAGE if there is no such GPU, or ERR_UNAVAILABLE. */
char **tune_gpus_read(struct app *app, const struct opt_args *args, struct err *err);

#endif
