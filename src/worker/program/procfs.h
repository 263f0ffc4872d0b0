/* SPDX-License-Identifier: BSD-3-Clause */
/* What wait4(2) does not tell of a program: how often the kernel moved it between CPUs, and how long it was ready to
 * run but had none. Perf counts migrations of the whole tree where that is allowed; otherwise both come from the books
 * of the program's first thread, read while it is a zombie, and are known only if it was alone. */
#ifndef SRC_WORKER_PROGRAM_PROCFS_H
#define SRC_WORKER_PROGRAM_PROCFS_H
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "counters/perf/event.h"

/* NAN where it is not known, and then why. */
struct program_extra {
	double migrations, run_delay_s;
	const char *no_migrations, *no_run_delay;
};

/* Of a leader that has ended and was not waited for yet. */
struct program_leader {
	bool read, alone;               /* alone: no other thread and no process below it was seen */
	long switches;                  /* of its first thread */
	double migrations, run_delay_s; /* NAN: the kernel does not say */
};

struct program_books {
	struct perf_group tree;
};

void program_books_open(struct program_books *books);
void program_books_close(struct program_books *books);
void program_books_start(struct program_books *books);
void program_books_leader(pid_t pid, struct program_leader *leader);
/* After all of it has ended. usage: of all of it; strays: something outlived the leader. */
struct program_extra program_books_stop(struct program_books *books, const struct program_leader *leader,
                                        const struct rusage *usage, bool strays);

#endif
