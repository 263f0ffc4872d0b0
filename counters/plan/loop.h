/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop of known work that shows whether counters count. */
#ifndef COUNTERS_PLAN_LOOP_H
#define COUNTERS_PLAN_LOOP_H
#include <stdbool.h>

/* Takes some 50 ms. False without memory. */
bool counter_loop_run(void);
/* Returns the amount that the loop causes at least on any machine: "instructions", "cycles", "branches",
 * "mispredictions", "loads", "stores", "flops" (double precision), "lines" (64 bytes each, in no cache and in an order
 * that defeats prefetchers), "pages" (in no TLB), "faults", "switches" (voluntary), "nanoseconds" (of CPU time). A
 * counter is believed if it shows a quarter of the real amount. False for another word. */
bool counter_loop_amount(const char *word, double *amount);

#endif
