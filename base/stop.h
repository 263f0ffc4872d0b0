/* SPDX-License-Identifier: BSD-3-Clause */
/* The interrupt flag, for loops that read input: a space that is counted, a file that is read. Trials are not ended by
 * it, because their results would be lost; those have flags of their own. */
#ifndef BASE_STOP_H
#define BASE_STOP_H
#include <stdbool.h>

#include "base/err.h"

extern const volatile int *stop_flag;

/* The flag that a signal handler sets. It is used from now on, by all threads. NULL disables it. */
void stop_watch(const volatile int *flag);
static inline bool stop_asked(void) {
	return *stop_flag != 0;
}
/* True while nothing would be lost if the process ended, as in a command that only reads: then a signal ends it,
 * wherever it is. */
void stop_at_once(bool yes);
bool stop_is_at_once(void);
/* Sets ERR_INTERRUPTED. doing: for example "while the space was counted". Returns -1. */
int stop_fail(struct err *err, const char *doing);

/* How long measuring may wait for other programs to end, and repeat what they disturbed: the variable SWEETSPOT_WAIT.
 * On a machine that is never quiet, such as one that runs tests, waiting is useless. */

/* Sets *seconds to INFINITY if the variable is not set, because then the caller decides. */
int quiet_seconds(double *seconds, struct err *err);
#endif
