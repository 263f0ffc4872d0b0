/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a last line to stderr if a kernel crashes; the exit status keeps the signal. */
#ifndef WORKER_KERNEL_CRASH_H
#define WORKER_KERNEL_CRASH_H

void crash_watch(void);
/* The running kernel, or NULL. The text must outlive the run. */
void crash_name(const char *kernel);

#endif
