/* SPDX-License-Identifier: BSD-3-Clause */
/* What this worker can count: tables, self-tests and judgement, kept over its trials. */
#ifndef SRC_WORKER_COUNT_COUNTERS_H
#define SRC_WORKER_COUNT_COUNTERS_H
#include "counters/plan/plan.h"
#include "kernels/kernel.h"
#include "src/base/mem.h"

struct counters;
struct counters *counters_new(void); /* looks at nothing yet */
void counters_free(struct counters *counters);
/* What `asked` means at this site: of threads of this process, of the programs that it starts, or of a GPU.
 * counter_plan_clear it. */
struct counter_plan *counters_plan(struct counters *counters, struct arena *arena, const char *const *asked,
                                   const struct counter_site *site, struct err *err);
/* Of a kernel; NULL where it has no events. In the arena. */
struct counter_software *counters_software(struct arena *arena, const struct ss_kernel *kernel);
/* Gives it the memory that this many threads count in. */
void counters_software_alloc(struct arena *arena, struct counter_software *software, int threads);

#endif
