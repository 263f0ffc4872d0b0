/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of one backend that are counted together, in every thread of a team or once for the machine. */
#ifndef SRC_WORKER_COUNT_COUNTING_BATCH_H
#define SRC_WORKER_COUNT_COUNTING_BATCH_H
#include "counters/backend/counter.h"
#include "src/worker/kernel/state.h"
#include "src/worker/kernel/team.h"

struct batch_slot;

struct batch {
	const struct counter_backend *backend;
	const struct counter_software *software;
	struct gpu *gpu; /* of what runs; NULL: none */
	const char *names[COUNTER_OPEN_MAX];
	size_t events[COUNTER_OPEN_MAX]; /* of the plan */
	size_t count, stride;
	int threads;
	char *states; /* threads * stride */
	struct batch_slot *slots;
	struct counter_value *values; /* threads * count */
	int64_t passes;               /* that batch_run made: so often it ran `runs` */
	json_t *details;              /* what else the backend tells; NULL: nothing */
};

/* Can this thread count them together? */
bool batch_fits(const struct batch *batch);
/* Opens, counts so many runs that take so long, reads and closes; batch_free in any case. On failure of the kernel, its
 * status. */
enum ss_status batch_run(struct batch *batch, struct state *state, const struct team *team, int64_t *runs,
                         double *seconds);
void batch_free(struct batch *batch);
/* Why thread t has no value of event e of the batch; empty where it has one. */
void batch_missing(const struct batch *batch, int t, size_t e, char reason[COUNTER_REASON]);
/* The longest that starting and stopping took in a thread, seconds. */
double batch_start_stop(const struct batch *batch);

#endif
