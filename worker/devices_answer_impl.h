/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of CUDA and the GPUs of this host. */
#ifndef WORKER_DEVICES_ANSWER_IMPL_H
#define WORKER_DEVICES_ANSWER_IMPL_H
#include <jansson.h>

#include "worker/kernel/device.h"

/* {"parts":[..],"devices":[..]}, and "device" if the request names one, which is opened. New reference; NULL and err
 * for a bad request, and (ERR_UNAVAILABLE) if the device cannot be opened. */
json_t *devices_answer(struct devices *devices, const json_t *request, struct err *err);

#endif
