/* SPDX-License-Identifier: BSD-3-Clause */
/* Software-defined events that this process exports through libsde, so that PAPI sees them. A kernel's event is
 * exported once and stays exported, because libsde never reuses the number of an event (sde_lib_misc.c of PAPI 7.0.0)
 * and PAPI keeps a record of each number. Only the memory behind an event changes. */
#ifndef COUNTERS_PAPI_SDE_EXPORT_H
#define COUNTERS_PAPI_SDE_EXPORT_H
#include "counters/backend/counter.h"

enum { SDE_WORD = 256 };

/* Returns 0, or -1 with the reason if libsde is missing. */
int sde_export_start(char reason[COUNTER_REASON]);

/* Does OWNER::NAME or OWNER::NAME@THREAD name an event of a kernel that was opened before? */
bool sde_export_has(const char *event);

/* Exports the count of `thread` for software->names[event] as OWNER::NAME@THREAD, and the sum over threads as
 * OWNER::NAME. word receives PAPI's name of the first. libsde reads the memory until the page is closed. NULL if the
 * thread does not have a count. */
struct sde_page;
struct sde_page *sde_export_open(const struct counter_software *software, int event, int thread, char word[SDE_WORD]);
void sde_export_close(struct sde_page *page); /* accepts NULL */

#endif
