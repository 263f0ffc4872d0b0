/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Independent pieces of work, by number, on several threads. */
#ifndef TUNER_REPLAY_THREADS_H
#define TUNER_REPLAY_THREADS_H
#include <stdbool.h>
#include <stddef.h>

struct replay_threads_work {
	size_t count;
	void (*work)(void *ctx, size_t i);
	/* Called a few times a second where replay_threads_run was called; true: begin no more. NULL: nothing to do. */
	bool (*watch)(void *ctx, size_t done);
	void *ctx;
};

/* Pieces begin in order and end in any. Returns when all that were begun are done; how many those are. */
size_t replay_threads_run(const struct replay_threads_work *work, size_t threads);
size_t replay_threads_cores(void); /* that this process may use */

#endif
