/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI itself, of which a process has one. Nothing of it runs before the first call. */
#ifndef COUNTERS_PAPI_LIBRARY_H
#define COUNTERS_PAPI_LIBRARY_H
#include "counters/counter.h"

/* 0, or -1 with the reason. Starts PAPI the first time that it is called. */
int papi_library_start(char reason[COUNTER_REASON]);
const char *papi_library_version(void); /* "7.0.0.0" */
/* The kernel's side of hardware and software events can't be seen by this user. */
bool papi_library_user_only(void);
/* Around all but start, read and stop: PAPI takes names and makes event sets for one thread at a time. Where PAPI is absent,
 * both do nothing. */
void papi_library_lock(void);
void papi_library_unlock(void);
/* For each thread, before and after it uses PAPI; they may be nested. */
int papi_library_thread_enter(void);
void papi_library_thread_leave(void);

#endif
