/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes this worker and its kernels. */
#ifndef WORKER_DESCRIBE_IMPL_H
#define WORKER_DESCRIBE_IMPL_H
#include <jansson.h>

#include "kernels/registry.h"
#include "worker/count/counters.h"

/* The answer to "describe" for these kernels; a NULL kernel ends the list. counters: NULL leaves out what can be
 * counted, because probing every source takes longer than everything else. New reference. */
json_t *describe_json(const struct kernel_entry *entries, struct counters *counters);

#endif
