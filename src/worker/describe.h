/* SPDX-License-Identifier: BSD-3-Clause */
/* What this worker is and what it has. */
#ifndef SRC_WORKER_DESCRIBE_H
#define SRC_WORKER_DESCRIBE_H
#include <jansson.h>

#include "kernels/registry.h"

/* The answer to "describe" with these kernels, which end with a NULL one. New reference. */
json_t *describe_json(const struct kernel_entry *entries);

#endif
