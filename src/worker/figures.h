/* SPDX-License-Identifier: BSD-3-Clause */
/* What a kernel tells of its last run beside the time. */
#ifndef SRC_WORKER_FIGURES_H
#define SRC_WORKER_FIGURES_H
#include <jansson.h>

#include "src/worker/kernel/state.h"

/* [{"name","value","unit"}], or NULL where the kernel has none; a value that is no number is null. seconds: what a run
 * took. New reference. */
json_t *figures_json(const struct state *state, double seconds);
/* [{"name","values":[..]}], or NULL; at most FIGURES_STEPS values each, the first ones. New reference. */
enum { FIGURES_STEPS = 20000 };
json_t *series_json(const struct state *state);

#endif
