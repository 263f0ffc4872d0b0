/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop of known work, to see whether counters count. */
#ifndef COUNTERS_PLAN_LOOP_H
#define COUNTERS_PLAN_LOOP_H
#include <stdbool.h>

/* Some 50 ms. False without memory. */
bool counter_loop_run(void);
/* How much of something the loop causes at least, whatever the machine: "instructions", "cycles", "branches",
 * "mispredictions", "loads", "stores", "flops" (double precision), "lines" (of 64 bytes that no cache holds, read in an
 * order that no prefetcher follows), "pages" (that no TLB holds), "faults", "switches" (voluntary), "nanoseconds" (of
 * CPU time). A counter is believed from a quarter of the real amount on. False for another word. */
bool counter_loop_amount(const char *word, double *amount);

#endif
