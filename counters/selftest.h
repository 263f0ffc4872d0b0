/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests whether an event that opens counts what it should. It is counted over a loop of known work, once per machine
 * and boot, and the answer is kept in $XDG_CACHE_HOME/sweetspot/counters.json. A counter outside the bounds of that
 * work is not believed: some processors and hypervisors (QEMU's PMU, for one) open any event and count 0, and an event
 * may count something else than its name says. */
#ifndef COUNTERS_SELFTEST_H
#define COUNTERS_SELFTEST_H
#include "counters/plan/plan.h"

struct counter_selftest;
struct counter_selftest *counter_selftest_new(void);
void counter_selftest_free(struct counter_selftest *selftest); /* keeps new results; accepts NULL */
/* Asks the backend, then the cache, then the loop. A loop without a word: any value is trusted, and nothing runs. */
bool counter_selftest_good(struct counter_selftest *selftest, const struct counter_backend *backend, const char *event,
                           const struct counter_site *site, const struct counter_loop *loop,
                           char reason[COUNTER_REASON]);

struct counter_proof {
	double counted;              /* over the loop */
	double empty;                /* between a start and a stop with nothing in between; median of several */
	double seconds;              /* of a start, a stop and a read */
	char reason[COUNTER_REASON]; /* why it could not be counted; may be empty */
};
/* Counts now, in this thread; false if that is impossible. */
bool counter_selftest_count(const struct counter_backend *backend, const char *event, const struct counter_site *site,
                            const struct counter_loop *loop, struct counter_proof *proof);
/* Is the count within the loop's bounds? To one of the whole machine, other programs may add. */
bool counter_selftest_believes(double counted, const struct counter_loop *loop, const struct counter_backend *backend,
                               const char *event, char reason[COUNTER_REASON]);
#endif
