/* SPDX-License-Identifier: BSD-3-Clause */
/* Software-defined events of the kernels here. A file with KERNEL_COUNT in it is compiled twice (libkernels_counted
 * in local.mk): once for timed runs, without any trace of counting, and once with KERNEL_COUNTING for runs with
 * call->events. Its exported names differ between the two. */
#ifndef KERNELS_COUNT_H
#define KERNELS_COUNT_H
#include <omp.h>

#include "kernels/kernel.h"

/* Inside a nested region, too, a thread of the team is known by its place in the outermost one; threads that it has
 * started there count with it. */
static inline void kernel_count(int64_t *events, int event, int64_t n) {
	int thread = omp_get_level() > 0 ? omp_get_ancestor_thread_num(1) : 0;
	__atomic_fetch_add(&events[thread * SS_EVENTS_MAX + event], n, __ATOMIC_RELAXED);
}

#ifdef KERNEL_COUNTING
#define KERNEL_COUNTED(name)           name##_counted
#define KERNEL_COUNT(events, event, n) kernel_count(events, event, (int64_t)(n))
#define KERNEL_EVENTS(state)           ((state)->events)
#else
#define KERNEL_COUNTED(name)           name
#define KERNEL_COUNT(events, event, n) ((void)sizeof(events), (void)sizeof(n))
#define KERNEL_EVENTS(state)           NULL
#endif
#endif
