/* SPDX-License-Identifier: BSD-3-Clause */
/* callgrind's output: the sums of one thread, or of a process (Valgrind, docs/html/cl-format.html, "Callgrind Format
 * Specification"). */
#ifndef SRC_WORKER_COUNT_SIMULATE_FILE_H
#define SRC_WORKER_COUNT_SIMULATE_FILE_H
#include <stddef.h>

#include "counters/cachegrind.h"

enum { SIMULATE_TRIGGER = 80, SIMULATE_CACHE = 60, SIMULATE_CACHES = 3 };

struct simulate_part {
	int thread;                                   /* valgrind's number, from 1; 0: all threads */
	int process;                                  /* 0: not stated */
	double begin;                                 /* in basic blocks since the process began */
	char trigger[SIMULATE_TRIGGER];               /* trigger of the dump */
	char caches[SIMULATE_CACHES][SIMULATE_CACHE]; /* I1, D1 and LL, in valgrind's words */
	double values[CACHEGRIND_EVENTS];
};

/* 0, or -1 if the text is not such a file; it may be anything. */
int simulate_part_read(const char *text, size_t size, struct simulate_part *part);

#endif
