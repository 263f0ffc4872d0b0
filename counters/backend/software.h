/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking things up in a counter_software, which may be NULL. */
#ifndef COUNTERS_BACKEND_SOFTWARE_H
#define COUNTERS_BACKEND_SOFTWARE_H
#include "counters/backend/counter.h"

/* Its place, by "NAME", "OWNER::NAME" or "sde:::OWNER::NAME"; -1 and why. */
int software_event(const struct counter_software *software, const char *event, char reason[COUNTER_REASON]);
/* Where thread counts; NULL where there is no memory for it. */
int64_t *software_counts(const struct counter_software *software, int thread);
/* Fills value: what was counted between two readings of one of its counts, which may be unknown. */
void software_value(struct counter_value *value, const char *name, int64_t begin, int64_t end);

#endif
