/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs one command until everything that it started has ended. */
#ifndef WORKER_PROGRAM_RUNNER_RUN_IMPL_H
#define WORKER_PROGRAM_RUNNER_RUN_IMPL_H
#include <sys/resource.h>
#include "base/proc/proc.h"
#include "worker/program/output_impl.h"
#include "counters/perf/perf.h"

/* Figures that wait4(2) does not report: how often the kernel moved a program between CPUs, and how long it was
 * ready to run without a CPU. Perf counts migrations of the whole tree where that is allowed. Otherwise both come
 * from /proc of the program's first thread, read while it is a zombie, and are known only if it was alone. */
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

#define PROGRAM_BINARY "(binary data)" /* in place of what cannot be read */

/* Settings that all commands of a trial share. */
struct program_place {
	char **environment;
	const char *cwd;     /* NULL: the current folder */
	uint64_t file_limit; /* bytes a file may grow to; 0: no limit */
	int nothing;         /* /dev/null */
	int watch;           /* a hang-up ends everything; -1: not watched */
};

struct program_command {
	const char *const *argv;
	int in;                        /* -1: no input */
	double seconds;                /* 0: no limit */
	struct program_output *output; /* receives stdout */
	bool joined;                   /* without output: stdout goes where stderr goes, else it is discarded */
	struct program_procfs *procfs; /* or NULL */
};

enum program_end {
	PROGRAM_ENDED,     /* ended by itself: see status */
	PROGRAM_UNSTARTED, /* see err */
	PROGRAM_LATE,      /* killed at its time limit */
	PROGRAM_REFUSED,   /* killed because its output cannot be accepted */
	PROGRAM_ABANDONED, /* killed because nobody waits for the answer any more */
	PROGRAM_STUCK,     /* killed, but it does not end */
	PROGRAM_REMAINS    /* processes that it or an earlier run started cannot be ended: see remains */
};

struct program_run {
	enum program_end end;
	int status;                 /* of wait(2) */
	double seconds;             /* from before the fork to its end */
	struct rusage usage;        /* of the whole tree */
	struct program_extra extra; /* procfs was read */
	struct err err;
	char remains[160];
	char left[160]; /* names of processes that still ran when it had ended by itself: "sleep, sh"; "" if there were none
	                 */
	struct tail tail; /* end of stderr; its memory is reused by the next run */
};

/* Fills the run, whose tail must be zero or from an earlier run. */
void program_run(const struct program_place *place, const struct program_command *command, struct program_run *run);
void program_run_free(struct program_run *run);
/* The last line of stderr that is not empty, cleaned; "" if there is none. */
void program_run_words(const struct program_run *run, char *words, size_t size);
#endif
