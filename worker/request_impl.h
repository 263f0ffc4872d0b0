/* SPDX-License-Identifier: BSD-3-Clause */
/* A checked request for a trial. */
#ifndef WORKER_REQUEST_IMPL_H
#define WORKER_REQUEST_IMPL_H

#include "worker/kernel/call.h"
#include "worker/kernel/library.h"

enum { REQUEST_COUNTERS_MAX = 32 };
enum verify { VERIFY_NEVER, VERIFY_ONCE, VERIFY_ALWAYS };

struct request {
	struct call call;
	int samples, warmup;
	double min_sample_s;
	double limit_s;   /* 0: none */
	double settles_s; /* a run that takes as long needs one sample only; 0: none does */
	double cut_s;     /* a run that takes longer is ended, and the process with it; 0: none is */
	enum verify verify;
	bool series;           /* report each step of the last run */
	bool flush_l2;         /* flush the GPU's L2 cache before each run */
	bool energy;           /* measure the energy of each of the GPU's samples */
	const char **counters; /* names as requested, NULL-terminated; the request owns the texts */
};

/* Reads the members of a "trial" request; missing ones take their defaults. The arena owns the data request points
 * to. */
int request_read(struct arena *arena, struct libraries *libraries, const json_t *json, struct request *request,
                 struct err *err);
#endif
