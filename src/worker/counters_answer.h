/* SPDX-License-Identifier: BSD-3-Clause */
/* What a worker would count, without running anything: a misspelt name is found before the first trial. */
#ifndef WORKER_COUNTERS_ANSWER_H
#define WORKER_COUNTERS_ANSWER_H
#include <jansson.h>

#include "src/worker/counters.h"
#include "src/worker/library.h"

/* {"events":[{"name","unit","source","group","rerun","reason"}],"metrics":[{"group","name","unit","formula"}]}, a new
 * reference; NULL and err for a bad request. */
json_t *counters_answer(struct counters *counters, struct libraries *libraries, const json_t *json, struct err *err);

#endif
