/* SPDX-License-Identifier: BSD-3-Clause */
/* Work on what a program under test left behind, with code that is not ours: debug information, mangled names. It runs
 * in a forked child, which may crash, take too long or fill its memory without harm to this process. */
#ifndef BASE_PROC_APART_H
#define BASE_PROC_APART_H
#include <stdbool.h>
#include <stddef.h>

/* Zeroed memory that the child shares, so that what it did before it failed is kept. NULL: there is none. */
void *apart_memory(size_t size);
void apart_free(void *memory, size_t size);

/* Calls work(ctx) in a child with `cpu_seconds` of processor time and a gigabyte of further memory. Waits for a minute
 * at most, and until a signal asks this process to stop. False unless the work was done. Nothing that the child writes
 * elsewhere than in shared memory comes back, and of that everything must be checked. */
bool apart_run(void (*work)(void *ctx), void *ctx, unsigned cpu_seconds);
#endif
