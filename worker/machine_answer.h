/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes the worker's host to a tuner on another machine. */
#ifndef WORKER_MACHINE_ANSWER_H
#define WORKER_MACHINE_ANSWER_H
#include <jansson.h>

#include "base/err.h"

/* The answer to "machine". New reference. */
json_t *machine_answer(const json_t *request, struct err *err);

#endif
