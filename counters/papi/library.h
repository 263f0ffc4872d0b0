/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI itself, of which a process has one. Nothing of it runs before the first call. */
#ifndef COUNTERS_PAPI_LIBRARY_H
#define COUNTERS_PAPI_LIBRARY_H
#include "counters/backend/counter.h"

/* Around all calls of PAPI but those of papi_counting_start, _stop and _read: one thread at a time makes event sets and
 * takes names. PAPI knows the thread from then on, until it ends. Starts PAPI the first time. -1 with the reason where
 * that fails, and then there is nothing to leave. */
int papi_library_enter(char reason[COUNTER_REASON]);
void papi_library_leave(void);
const char *papi_library_version(void); /* "7.0.0" */
/* The kernel's side of hardware and software events can't be seen by this user. */
bool papi_library_user_only(void);

#endif
