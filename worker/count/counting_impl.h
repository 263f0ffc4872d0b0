/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of one backend that are counted together, in every thread of a team or once for the machine. */
#ifndef WORKER_COUNT_COUNTING_IMPL_H
#define WORKER_COUNT_COUNTING_IMPL_H
#include "worker/count/counting.h"

struct batch_slot;

struct batch {
	const struct counter_backend *backend;
	const struct counter_software *software;
	struct gpu *gpu; /* the GPU that runs; NULL: none */
	const char *names[COUNTER_OPEN_MAX];
	size_t events[COUNTER_OPEN_MAX]; /* of the plan */
	size_t count, stride;
	int threads;
	char *states; /* threads * stride */
	struct batch_slot *slots;
	struct counter_value *values; /* threads * count */
	int64_t passes;               /* rounds that batch_run made, each of `runs` runs */
	json_t *details;              /* further members from the backend; NULL: none */
};

/* Opens, counts this many runs of this length, reads and closes; call batch_free in any case. Returns the kernel's
 * status if it fails. */
enum ss_status batch_run(struct batch *batch, struct state *state, const struct team *team, int64_t *runs,
                         double *seconds);
void batch_free(struct batch *batch);
/* The reason why thread t lacks a value of event e; empty if it has one. */
void batch_missing(const struct batch *batch, int t, size_t e, char reason[COUNTER_REASON]);
#endif
