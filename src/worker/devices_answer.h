/* SPDX-License-Identifier: BSD-3-Clause */
/* What there is of CUDA here, and of GPUs. */
#ifndef SRC_WORKER_DEVICES_ANSWER_H
#define SRC_WORKER_DEVICES_ANSWER_H
#include <jansson.h>

#include "src/worker/kernel/device.h"

/* {"parts":[..],"devices":[..]}, and "device" where the request names one, which is opened. New reference; NULL and err
 * for a bad request, and (ERR_UNAVAILABLE) where that one can't be opened. */
json_t *devices_answer(struct devices *devices, const json_t *request, struct err *err);

#endif
