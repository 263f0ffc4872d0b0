/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COUNTERS_PAPI_PROBE_H
#define COUNTERS_PAPI_PROBE_H
#include "counters/backend/counter.h"

/* Says which hardware counters PAPI offers here, or why it offers none and what replaces them. */
void papi_probe(struct counter_probe *probe);
/* Does the kernel lack a hardware PMU? */
bool papi_pmu_absent(void);

#endif
