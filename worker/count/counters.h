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
/* Counts each portable event of the CPU over a loop of known work, in this thread: {"rows":[{"event","source",
 * "expected":{"least","most"}|null,"counted","empty","start_stop_s","verdict","reason"}]}. verdict: "right", "wrong"
 * (of a source that is therefore not used), "unchecked" (counted, but nothing is known of its amount), "computed" or
 * "unavailable". New reference; NULL if the tables cannot be read. */
json_t *counters_prove(struct counters *counters, struct err *err);
/* The events that a kernel counts itself, in the arena; NULL if it has none. */
struct counter_software *counters_software(struct arena *arena, const struct ss_kernel *kernel);
/* Makes the memory that this many threads count in. */
void counters_software_alloc(struct arena *arena, struct counter_software *software, int threads);
#endif
