/* SPDX-License-Identifier: BSD-3-Clause */
/* Software-defined events that this process exports through libsde, so that PAPI sees them. An event of a kernel is
 * exported once and stays exported: libsde never reuses the number of an event (sde_lib_misc.c of PAPI 7.0.0), and PAPI
 * keeps a record of each number. What changes is the memory that it is read from. */
#ifndef COUNTERS_PAPI_SDE_BOOK_H
#define COUNTERS_PAPI_SDE_BOOK_H
#include "counters/backend/counter.h"

enum { SDE_WORD = 256 };

/* 0, or -1 with the reason where there is no libsde. */
int sde_book_start(char reason[COUNTER_REASON]);

/* Is OWNER::NAME or OWNER::NAME@THREAD an event of a kernel that was opened once? */
bool sde_book_has(const char *event);

/* Exports what `thread` counts of software->names[event], as OWNER::NAME@THREAD, and the sum over threads as
 * OWNER::NAME. word is PAPI's name of the first. The memory is read until it is closed. NULL where it has none. */
struct sde_page;
struct sde_page *sde_book_open(const struct counter_software *software, int event, int thread, char word[SDE_WORD]);
void sde_book_close(struct sde_page *page); /* NULL is fine */

#endif
