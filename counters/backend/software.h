/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks up events and counts in a counter_software, which may be NULL. */
#ifndef COUNTERS_BACKEND_SOFTWARE_H
#define COUNTERS_BACKEND_SOFTWARE_H
#include "counters/backend/counter.h"

/* Returns the index of an event given as "NAME", "OWNER::NAME" or "sde:::OWNER::NAME"; -1 with the reason. */
int software_event(const struct counter_software *software, const char *event, char reason[COUNTER_REASON]);
/* Returns the counts of this thread; NULL if it does not have any. */
int64_t *software_counts(const struct counter_software *software, int thread);
/* Fills in the difference between two readings of one count, either of which may be unknown. */
void software_value(struct counter_value *value, const char *name, int64_t begin, int64_t end);

#endif
