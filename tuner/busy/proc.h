/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of /proc: what all processors did, and what a process and its descendants did. */
#ifndef TUNER_BUSY_PROC_H
#define TUNER_BUSY_PROC_H
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct proc_times {
	double busy_s;  /* of the processors that this process may use, except for time that was stolen */
	double steal_s; /* that the hypervisor took from them */
	int processors;
};

/* Reads the lines "cpuN" of a file like /proc/stat, of the processors for which `allowed` holds. */
bool proc_times_read(FILE *file, bool (*allowed)(void *ctx, int cpu), void *ctx, struct proc_times *times);
/* CPU seconds of the process `root` and of all its descendants, living and reaped, from a folder like /proc. */
double proc_tree_seconds(const char *folder, pid_t root);
double proc_tick(void); /* the seconds of a tick, the unit of all of these */
/* The load average over a minute; NAN: unknown. */
double proc_load(const char *path);

#endif
