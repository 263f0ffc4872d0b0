/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/cuda/inject.h"

struct injected {
	struct cuda_record *record; /* NULL: nothing is watched */
	bool times, counts;
};

static struct injected *injected(void) {
	static struct injected only;
	return &only;
}

struct inject_guard inject_guard_begin(void) {
	struct inject_guard guard = {.error = errno};
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard.cancel);
	return guard;
}

void inject_guard_end(struct inject_guard guard) {
	errno = guard.error;
	pthread_setcancelstate(guard.cancel, NULL);
}

/* A process that was forked since then must not speak for its parent. */
static void end(void) {
	struct injected *now = injected();
	if (now->record->pid != (uint32_t)getpid())
		return;
	const struct inject_guard guard = inject_guard_begin();
	if (now->times)
		inject_activity_end();
	if (now->counts)
		inject_count_end();
	now->record->ended = 1;
	inject_guard_end(guard);
}

/* The driver calls it in cuInit. 1: success; the program runs in any case. */
__attribute__((visibility("default"))) int InitializeInjection(void);
int InitializeInjection(void) {
	struct injected *now = injected();
	if (now->record)
		return 1;
	const struct inject_guard guard = inject_guard_begin();
	now->record = inject_record_make();
	const struct inject_cupti *cupti = now->record ? inject_cupti(now->record) : NULL;
	const char *metrics = getenv("SWEETSPOT_CUDA_METRICS");
	if (cupti && metrics)
		now->counts = inject_count_start(cupti, now->record, metrics);
	else if (cupti)
		now->times = inject_activity_start(cupti, now->record);
	if (now->record)
		atexit(end);
	inject_guard_end(guard);
	return 1;
}
