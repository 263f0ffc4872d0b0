/* SPDX-License-Identifier: BSD-3-Clause */
/* One command from its start to the end of everything that it has started. */
#ifndef SRC_WORKER_PROGRAM_RUN_H
#define SRC_WORKER_PROGRAM_RUN_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "src/base/err.h"
#include "src/base/proc/buffer.h"
#include "src/worker/program/procfs.h"
#include "src/worker/program/output.h"

/* What all commands of a trial share. */
struct program_place {
	char **environment;
	const char *cwd;     /* NULL: here */
	uint64_t file_limit; /* bytes a file may grow to; 0: no limit */
	int nothing;         /* /dev/null */
	int watch;           /* its hang-up ends everything; -1: nothing is watched */
};

struct program_command {
	const char *const *argv;
	int in;                        /* -1: nothing to read */
	double seconds;                /* 0: no limit */
	struct program_output *output; /* takes stdout */
	bool joined;                   /* without output: stdout goes where stderr goes, else to nothing */
	struct program_books *books;   /* or NULL */
};

enum program_end {
	PROGRAM_ENDED,     /* by itself: see status */
	PROGRAM_UNSTARTED, /* see err */
	PROGRAM_LATE,      /* killed after its seconds */
	PROGRAM_REFUSED,   /* killed, since its output can't be taken */
	PROGRAM_ABANDONED, /* killed, since nobody waits for the answer any more */
	PROGRAM_STUCK      /* killed, but it does not end */
};

struct program_run {
	enum program_end end;
	int status;                 /* of wait(2) */
	double seconds;             /* from before the fork to its end */
	struct rusage usage;        /* of all of it */
	struct program_extra extra; /* with books */
	struct err err;
	struct tail tail; /* the end of stderr; kept from one run to the next for its memory */
};

/* Fills the run, whose tail must be zero or from an earlier run. */
void program_run(const struct program_place *place, const struct program_command *command, struct program_run *run);
void program_run_free(struct program_run *run);
/* The last line of stderr that is not empty, cleaned; "" where there is none. */
void program_run_words(const struct program_run *run, char *words, size_t size);

#endif
