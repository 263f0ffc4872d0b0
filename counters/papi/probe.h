/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COUNTERS_PAPI_PROBE_H
#define COUNTERS_PAPI_PROBE_H
#include "counters/backend/counter.h"

/* Which hardware counters PAPI gives here, or why not and what is used instead. */
void papi_probe(struct counter_probe *probe);
/* Has the kernel no hardware PMU to offer? */
bool papi_pmu_absent(void);

#endif
