/* SPDX-License-Identifier: BSD-3-Clause */
/* A manual trial: words and options of the command line instead of a request. */
#ifndef WORKER_MANUAL_H
#define WORKER_MANUAL_H
#include "base/opt.h"

extern const struct opt manual_options[];
/* args: "run", the kernel, "P=V" words. Prints the trial's line to fd `out`. 0, 1 for a failed trial, or -1 with err
 * and nothing printed. */
int manual_run(const struct opt_args *args, int out, struct err *err);

#endif
