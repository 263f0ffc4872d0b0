/* SPDX-License-Identifier: BSD-3-Clause */
/* The operation "program": times and watches a user's program. */
#ifndef WORKER_PROGRAM_PROGRAM_H
#define WORKER_PROGRAM_PROGRAM_H
#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "worker/count/counters.h"

/* The reply without its id, failures of the program included; NULL and err for a bad request. New reference. watch:
 * a descriptor whose hang-up means that nobody waits for the reply; then everything is killed, *abandoned is set,
 * and the reply is worthless. -1: none. */
json_t *program_answer(int watch, struct counters *counters, const json_t *request, bool *abandoned, struct err *err);

#endif
