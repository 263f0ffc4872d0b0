/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of single parameters, checked against their rows. */
#ifndef SRC_WORKER_KERNEL_PARAM_H
#define SRC_WORKER_KERNEL_PARAM_H
#include <jansson.h>

#include "kernels/kernel.h"
#include "src/base/err.h"
#include "src/base/mem.h"

/* ERR_USAGE if the value has the wrong type, is out of bounds or is not one of the words. */
int param_read(struct arena *arena, const struct ss_param *param, const json_t *json, struct ss_value *out,
               struct err *err);
/* The initial value, which need not be inside the bounds; ERR_USAGE if the row has none. */
int param_initial(struct arena *arena, const struct ss_param *param, struct ss_value *out, struct err *err);

#endif
