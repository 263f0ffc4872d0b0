/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel's own figures of its last run. */
#ifndef WORKER_FIGURES_H
#define WORKER_FIGURES_H
#include <jansson.h>

#include "worker/kernel/state.h"

/* [{"name","value","unit"}], or NULL if the kernel reports none; a value that is not finite becomes null. seconds:
 * duration of a run. New reference. */
json_t *figures_json(const struct state *state, double seconds);
/* [{"name","values":[..]}], or NULL; the first FIGURES_STEPS values of each at most. New reference. */
enum { FIGURES_STEPS = 20000 };
json_t *series_json(const struct state *state);

#endif
