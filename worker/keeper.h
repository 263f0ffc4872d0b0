/* SPDX-License-Identifier: BSD-3-Clause */
/* The parent of a worker: a small process that outlives it and ends everything that it leaves, because a worker that is
 * killed by SIGKILL cannot, and because the tuner may be killed next. */
#ifndef WORKER_KEEPER_H
#define WORKER_KEEPER_H

/* Forks, so it must be called before there are threads. Returns 0 in the worker, -1 if there can be no other process.
 * The keeper itself ends as the worker did. */
int keeper_start(void);

#endif
