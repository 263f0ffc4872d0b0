/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs one command until everything that it started has ended. */
#ifndef WORKER_PROGRAM_RUN_H
#define WORKER_PROGRAM_RUN_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/err.h"
#include "base/proc/buffer.h"
#include "worker/program/procfs.h"
#include "worker/program/output.h"

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
