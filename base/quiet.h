/* SPDX-License-Identifier: BSD-3-Clause */
/* How long measuring may wait for other programs to end, and repeat what they disturbed: the variable SWEETSPOT_WAIT.
 * On a machine that is never quiet, such as one that runs tests, waiting is useless. */
#ifndef BASE_QUIET_H
#define BASE_QUIET_H
#include "base/err.h"

/* Sets *seconds to INFINITY if the variable is not set, because then the caller decides. */
int quiet_seconds(double *seconds, struct err *err);
#endif
