/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures that wait4(2) does not report: how often the kernel moved a program between CPUs, and how long it was
 * ready to run without a CPU. Perf counts migrations of the whole tree where that is allowed. Otherwise both come
 * from /proc of the program's first thread, read while it is a zombie, and are known only if it was alone. */
#ifndef WORKER_PROGRAM_PROCFS_H
#define WORKER_PROGRAM_PROCFS_H
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "counters/perf/perf.h"

/* NAN if unknown; then the reason is set. */
struct program_extra {
	double migrations, run_delay_s;
	const char *no_migrations, *no_run_delay;
};

/* Reads the figures of a leader that has ended but was not reaped yet. */
struct program_leader {
	bool read, alone;               /* alone: neither another thread nor a child process was seen */
	long switches;                  /* of its first thread */
	double migrations, run_delay_s; /* NAN: the kernel does not report it */
};

struct program_procfs {
	struct perf_group tree;
};

void program_procfs_open(struct program_procfs *procfs);
void program_procfs_close(struct program_procfs *procfs);
void program_procfs_start(struct program_procfs *procfs);
void program_procfs_leader(pid_t pid, struct program_leader *leader);
/* Call it after everything has ended. usage: of the whole tree; strays: a process outlived the leader. */
struct program_extra program_procfs_stop(struct program_procfs *procfs, const struct program_leader *leader,
                                         const struct rusage *usage, bool strays);

#endif
