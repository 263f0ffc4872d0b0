/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests whether an event that opens counts at all. It is counted over a loop of known work, once per machine
 * and boot, and the answer is kept in $XDG_CACHE_HOME/sweetspot/counters.json. A counter that stays below the least
 * amount that the loop causes is not believed, because some processors and hypervisors (QEMU's PMU, for one) open any
 * event and count 0. */
#ifndef COUNTERS_SELFTEST_H
#define COUNTERS_SELFTEST_H
#include "counters/backend/counter.h"

struct counter_selftest;
struct counter_selftest *counter_selftest_new(void);
void counter_selftest_free(struct counter_selftest *selftest); /* keeps new results; accepts NULL */
/* Asks the backend, then the cache, then the loop. least 0: any value is trusted and the loop does not run. */
bool counter_selftest_good(struct counter_selftest *selftest, const struct counter_backend *backend, const char *event,
                           const struct counter_site *site, double least, char reason[COUNTER_REASON]);
#endif
