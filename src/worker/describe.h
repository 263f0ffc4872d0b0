/* SPDX-License-Identifier: BSD-3-Clause */
/* What this worker is and what it has. */
#ifndef WORKER_DESCRIBE_H
#define WORKER_DESCRIBE_H
#include <jansson.h>

/* The answer to "describe". New reference. */
json_t *describe_json(void);

#endif
