/* SPDX-License-Identifier: BSD-3-Clause */
/* A last line on stderr where a kernel crashes; the exit status keeps the signal. */
#ifndef SRC_WORKER_KERNEL_CRASH_H
#define SRC_WORKER_KERNEL_CRASH_H

void crash_watch(void);
/* The kernel that is running now, or NULL. The text must outlive the run. */
void crash_name(const char *kernel);

#endif
