/* SPDX-License-Identifier: BSD-3-Clause */
/* How a run of a kernel ends the worker. If it crashes, a last line goes to stderr, and the exit status keeps the
 * signal. If it takes too long, an answer goes to the tuner: nothing else ends a team of threads. */
#ifndef WORKER_KERNEL_CRASH_H
#define WORKER_KERNEL_CRASH_H

void crash_watch(void);
/* The running kernel, or NULL. The text must outlive the run. */
void crash_name(const char *kernel);

/* The line that the answers' descriptor gets when a run is cut; NULL: none is. The line is copied. */
void crash_cut_answer(int out, const char *line);
/* The process ends this many seconds from now, unless the other function is called before; 0, or without an answer:
 * it does not. */
void crash_cut_begin(double seconds);
void crash_cut_end(void);
#endif
