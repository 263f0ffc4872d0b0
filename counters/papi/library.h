/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI itself: one instance for the process, started by the first call. */
#ifndef COUNTERS_PAPI_LIBRARY_H
#define COUNTERS_PAPI_LIBRARY_H
#include "counters/backend/counter.h"

/* Enclose all calls of PAPI but papi_counting_start, _stop and _read, because only one thread at a time may make event
 * sets and look up names. PAPI knows the thread from then on, until it ends. The first call starts PAPI. -1 with the
 * reason if that fails, and then do not leave. */
int papi_library_enter(char reason[COUNTER_REASON]);
void papi_library_leave(void);
const char *papi_library_version(void); /* "7.0.0" */
/* True if this user may not count the kernel's side of hardware and software events. */
bool papi_library_user_only(void);

#endif
