/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters of this worker: tables, self-tests and judgement, kept over its trials. */
#ifndef WORKER_COUNT_COUNTERS_H
#define WORKER_COUNT_COUNTERS_H
#include "counters/plan/plan.h"
#include "kernels/kernel.h"

struct counters;
struct counters *counters_new(void); /* opens nothing yet */
void counters_free(struct counters *counters);
/* The groups and portable events, read when they are first needed; NULL if they cannot be read. */
const struct counter_tables *counters_tables(struct counters *counters, struct err *err);
/* Resolves `asked` for this site: threads of this process, programs that it starts, or a GPU. Release the plan with
 * counter_plan_clear. */
struct counter_plan *counters_plan(struct counters *counters, struct arena *arena, const char *const *asked,
                                   const struct counter_site *site, struct err *err);
/* The events that a kernel counts itself, in the arena; NULL if it has none. */
struct counter_software *counters_software(struct arena *arena, const struct ss_kernel *kernel);
/* Makes the memory that this many threads count in. */
void counters_software_alloc(struct arena *arena, struct counter_software *software, int threads);
#endif
