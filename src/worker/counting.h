/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters, in runs of their own. */
#ifndef WORKER_COUNTING_H
#define WORKER_COUNTING_H
#include <jansson.h>

#include "counters/counter.h"
#include "src/worker/state.h"
#include "src/worker/team.h"

/* Runs the state once more for each backend, counted in every thread of the team, and returns [{"name", "value",
 * "unit", "status", "reason", "per_thread"}] with values a run. Where a backend can't count, each of its events says
 * why. NULL where the kernel failed, with its status. New reference. */
json_t *counting_run(struct state *state, const struct counter_backend *const *backends, const struct team *team,
                     enum ss_status *status);

#endif
