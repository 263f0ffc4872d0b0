/* SPDX-License-Identifier: BSD-3-Clause */
/* A checked request to run a program. */
#ifndef WORKER_PROGRAM_RUNNER_REQUEST_IMPL_H
#define WORKER_PROGRAM_RUNNER_REQUEST_IMPL_H
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

struct program_request {
	const char **argv;                                  /* NULL-terminated */
	const char **set;                                   /* "NAME=VALUE"; the first place is left free for the caller */
	const char **unset;                                 /* names and prefixes ("OMP_*") */
	const char *device;                                 /* "cuda:0": what it does on GPUs is reported; NULL: no */
	const char *kernel;                                 /* of metric "kernel:NAME", whose time is the metric, or NULL */
	const char *cwd, *input, *before, *verify, *metric; /* or NULL */
	const char *energy_command; /* prints the joules of the run that has just ended; NULL: RAPL counts them */
	bool energy;
	const char **counters; /* names as asked for, NULL-terminated */
	int samples, warmup;
	double timeout_s, limit_s, cut_s; /* 0: none */
	double side_s;                    /* for `before` and `verify` each; 0: 60 */
	double left_s;                    /* for everything together; 0: no end */
	bool hash, regions;
	bool evidence;       /* the reply says what each run did */
	bool show;           /* where stdout is not needed, its end is kept for the answer instead of being discarded */
	uint64_t file_limit; /* bytes; 0: by the free space */
};

/* Missing members take their defaults. The arena and the request own the data it points to. */
int program_request_read(struct arena *arena, const json_t *json, struct program_request *request, struct err *err);
#endif
