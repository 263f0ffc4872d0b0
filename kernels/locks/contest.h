/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel `locks` times: threads contend for a lock until the counter that it protects has reached n. Included by
 * every lock after its verbs, so that they are inlined in the loop:
 *
 *     struct NAME_seat                what a thread's acquire and release need, found once before the loop
 *     NAME_size, NAME_init            as in struct lock_kind
 *     NAME_seat(lock, thread)
 *     NAME_acquire(seat), NAME_release(seat)
 *     NAME_destroy
 *     LOCK_KIND(NAME, "summary", flags); */
#ifndef KERNELS_LOCKS_CONTEST_H
#define KERNELS_LOCKS_CONTEST_H
#include <time.h>

#include "kernels/locks/lock.h"

enum { LOCK_LOG_MAX = 4096 };

/* What the lock protects: plain data, so that a lock that fails loses some of it. */
struct lock_prize {
	int64_t count;
	uint64_t sum;    /* the work of the critical sections, one chain */
	int64_t changes; /* of the owner; the first thread to enter is one */
	int64_t owner;   /* the last thread that entered; -1: none */
};

/* What a thread did; it writes here when it has finished. */
struct lock_tally {
	int64_t entries;
	uint64_t sum; /* the work outside, one chain */
};

/* Times from a release to the entry of another thread that was waiting. Protected by the lock, too. */
struct lock_log {
	int64_t left; /* when the last owner was about to release */
	int count;
	int64_t ns[LOCK_LOG_MAX];
};

struct lock_contest {
	int64_t n, critical, noncritical; /* entries in all; units of work inside and outside */
	struct lock_prize *prize;
	struct lock_tally *tallies; /* one a thread; tally_stride bytes apart */
	size_t tally_stride;
	struct lock_log *log; /* NULL: no clock is read */
};

static inline struct lock_tally *lock_contest_tally(const struct lock_contest *contest, int thread) {
	return (void *)((char *)contest->tallies + (size_t)thread * contest->tally_stride);
}

/* The MMIX generator (Knuth, The Art of Computer Programming 2, 3.3.4): a multiplication and an addition, about 1 ns. */
#define LOCK_WORK_FACTOR UINT64_C(6364136223846793005)
#define LOCK_WORK_TERM UINT64_C(1442695040888963407)
static inline uint64_t lock_work(uint64_t sum, int64_t units) {
	for (; units > 0; units--) {
		sum = sum * LOCK_WORK_FACTOR + LOCK_WORK_TERM;
		__asm__("" : "+r"(sum)); /* keeps several steps from becoming one */
	}
	return sum;
}

static inline int64_t lock_now(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The critical section. False when there is nothing left to do. */
static inline bool lock_contest_enter(const struct lock_contest *contest, int thread) {
	struct lock_prize *prize = contest->prize;
	int64_t count = prize->count;
	if (count >= contest->n)
		return false;
	prize->sum = lock_work(prize->sum, contest->critical + 1);
	prize->changes += prize->owner != thread;
	prize->owner = thread;
	prize->count = count + 1;
	return true;
}

/* The same between two looks at the clock; `asked` is when the thread began to wait. */
static inline bool lock_contest_enter_logged(const struct lock_contest *contest, int thread, int64_t asked) {
	struct lock_log *log = contest->log;
	int64_t now = lock_now(), owner = contest->prize->owner;
	if (owner != thread && owner >= 0 && asked < log->left && log->count < LOCK_LOG_MAX)
		log->ns[log->count++] = now - log->left;
	bool more = lock_contest_enter(contest, thread);
	log->left = lock_now();
	return more;
}

/* Once through the lock. */
#define LOCK_PASS(NAME)                                                                                                \
	static inline bool NAME##_pass(struct NAME##_seat seat, const struct lock_contest *contest, int thread) {          \
		NAME##_acquire(seat);                                                                                          \
		bool more = lock_contest_enter(contest, thread);                                                               \
		NAME##_release(seat);                                                                                          \
		return more;                                                                                                   \
	}                                                                                                                  \
	static inline bool NAME##_pass_logged(struct NAME##_seat seat, const struct lock_contest *contest, int thread) {   \
		int64_t asked = lock_now();                                                                                    \
		NAME##_acquire(seat);                                                                                          \
		bool more = lock_contest_enter_logged(contest, thread, asked);                                                 \
		NAME##_release(seat);                                                                                          \
		return more;                                                                                                   \
	}

/* A thread stops after n entries of its own, too: so it does with a lock that loses all that the others count. */
#define LOCK_LOOP(PASS)                                                                                                \
	while (tally.entries < own.n && PASS(seat, &own, thread)) {                                                        \
		tally.entries++;                                                                                               \
		tally.sum = lock_work(tally.sum, own.noncritical);                                                             \
	}

#define LOCK_CONTEND(NAME)                                                                                             \
	static void NAME##_contend(void *lock, int thread, struct lock_contest *contest) {                                 \
		const struct NAME##_seat seat = NAME##_seat(lock, thread);                                                     \
		const struct lock_contest own = *contest;                                                                      \
		struct lock_tally tally = {0, 0};                                                                              \
		if (own.log)                                                                                                   \
			LOCK_LOOP(NAME##_pass_logged)                                                                              \
		else                                                                                                           \
			LOCK_LOOP(NAME##_pass)                                                                                     \
		*lock_contest_tally(contest, thread) = tally;                                                                  \
	}

#define LOCK_KIND(NAME, SUMMARY, FLAGS)                                                                                \
	LOCK_PASS(NAME)                                                                                                    \
	LOCK_CONTEND(NAME)                                                                                                 \
	static void NAME##_enter(void *lock, int thread) {                                                                 \
		NAME##_acquire(NAME##_seat(lock, thread));                                                                     \
	}                                                                                                                  \
	static void NAME##_leave(void *lock, int thread) {                                                                 \
		NAME##_release(NAME##_seat(lock, thread));                                                                     \
	}                                                                                                                  \
	const struct lock_kind lock_##NAME = {#NAME,        SUMMARY,      FLAGS,          NAME##_size,   NAME##_init,      \
	                                      NAME##_enter, NAME##_leave, NAME##_contend, NAME##_destroy}

#endif
