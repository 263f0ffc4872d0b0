/* SPDX-License-Identifier: BSD-3-Clause */
/* A request for a trial, checked. */
#ifndef SRC_WORKER_REQUEST_H
#define SRC_WORKER_REQUEST_H
#include <jansson.h>
#include <stdbool.h>

#include "src/worker/kernel/call.h"
#include "src/worker/kernel/library.h"

enum { REQUEST_COUNTERS_MAX = 32 };
enum verify { VERIFY_NEVER, VERIFY_ONCE, VERIFY_ALWAYS };

struct request {
	struct call call;
	int samples, warmup;
	double min_sample_s;
	double limit_s; /* 0: none */
	enum verify verify;
	bool series;           /* tell of each step of the last run */
	bool flush_l2;         /* of a GPU, before each run */
	bool energy;           /* of a GPU, of each sample */
	const char **counters; /* as asked for, NULL-terminated; the words are the request's */
};

/* The members of a "trial" request; what is absent takes its default. The arena owns what request points to. */
int request_read(struct arena *arena, struct libraries *libraries, const json_t *json, struct request *request,
                 struct err *err);

#endif
