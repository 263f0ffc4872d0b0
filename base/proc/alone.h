/* SPDX-License-Identifier: BSD-3-Clause */
/* How long one thread of a program alone wants a processor, while the others wait for it. */
#ifndef BASE_PROC_ALONE_H
#define BASE_PROC_ALONE_H
#include <stdbool.h>

/* Calls run(ctx) until the programs that it runs, as grandchildren of this process, were looked at for so many seconds,
 * until it was called `most` times, or until it says false. Returns the share of this time, and in *slower how many
 * times as long it would take on so many cores, because the threads that want to run at a time share them; NAN: too
 * little was seen. What other programs do does not change it, because a thread that waits for a processor wants it. */
double alone_share(bool (*run)(void *ctx), void *ctx, double seconds, int most, double cores, double *slower);
#endif
