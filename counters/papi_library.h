/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI itself, of which a process has one. Nothing of it runs before the first call. */
#ifndef COUNTERS_PAPI_LIBRARY_H
#define COUNTERS_PAPI_LIBRARY_H
#include "counters/counter.h"

/* Around all calls of PAPI but those of papi_counting_start, _stop and _read: one thread at a time makes event sets and
 * takes names, and in between PAPI knows the thread. Starts PAPI the first time. -1 with the reason where that fails, and
 * then there is nothing to leave. */
int papi_library_enter(char reason[COUNTER_REASON]);
void papi_library_leave(void);
/* In between: PAPI goes on knowing this thread after it has left, until it is let go as often as it was kept. */
void papi_library_keep(void);
void papi_library_let_go(void);

const char *papi_library_version(void); /* "7.0.0" */
/* The kernel's side of hardware and software events can't be seen by this user. */
bool papi_library_user_only(void);

#endif
