/* SPDX-License-Identifier: BSD-3-Clause */
/* `omp critical` is a region, not an object: one for the whole process, without acquire and release. */
#include "kernels/locks/contest.h"
#include "kernels/locks/registry.h"

struct critical_seat {
	void *lock;
};

static size_t critical_size(const struct lock_shape *shape) {
	(void)shape;
	return sizeof(int);
}

static int critical_init(void *lock, const struct lock_shape *shape) {
	(void)lock, (void)shape;
	return 0;
}

static inline struct critical_seat critical_seat(void *lock, int thread) {
	(void)thread;
	return (struct critical_seat){lock};
}

#ifdef KERNEL_COUNTING
static inline bool critical_pass_counted(struct critical_seat seat, const struct lock_contest *contest, int thread) {
	bool more;
	(void)seat;
#pragma omp critical(kernel_locks)
	more = lock_contest_enter_counted(contest, thread);
	return more;
}
#else
static inline bool critical_pass(struct critical_seat seat, const struct lock_contest *contest, int thread) {
	bool more;
	(void)seat;
#pragma omp critical(kernel_locks)
	more = lock_contest_enter(contest, thread);
	return more;
}

static inline bool critical_pass_logged(struct critical_seat seat, const struct lock_contest *contest, int thread) {
	int64_t asked = lock_now();
	bool more;
	(void)seat;
#pragma omp critical(kernel_locks)
	more = lock_contest_enter_logged(contest, thread, asked);
	return more;
}
#endif

static void critical_destroy(void *lock) {
	(void)lock;
}

LOCK_CONTEND(critical)
const struct lock_kind KERNEL_COUNTED(lock_critical) = {.name = "critical",
                                                        .summary = "omp critical",
                                                        .flags = LOCK_WAITS_HIDDEN | LOCK_RETRIES_HIDDEN,
                                                        .size = critical_size,
                                                        .init = critical_init,
                                                        .contend = critical_contend,
                                                        .destroy = critical_destroy};
