/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs independent pieces of work, known by number, on several threads. */
#ifndef TUNER_REPLAY_THREADS_H
#define TUNER_REPLAY_THREADS_H
#include <stdbool.h>
#include <stddef.h>

struct replay_threads_work {
	size_t count;
	void (*work)(void *ctx, size_t i);
	/* Called a few times a second in the thread that called replay_threads_run; true: begin no more pieces. May be
	 * NULL. */
	bool (*watch)(void *ctx, size_t done);
	void *ctx;
};

/* Pieces begin in order and end in any order. Returns the number of pieces that were begun when all of them are done.
 */
size_t replay_threads_run(const struct replay_threads_work *work, size_t threads);
size_t replay_threads_cores(void); /* cores that this process may use */
#endif
