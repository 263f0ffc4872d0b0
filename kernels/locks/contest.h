/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop that the kernel `locks` times: threads contend for a lock until the counter that it protects has reached n.
 * Included by every lock after its verbs, so that they are inlined in the loop:
 *
 *     struct NAME_seat                data for a thread's acquire and release, found once before the loop
 *     NAME_size, NAME_init            as in struct lock_kind
 *     NAME_seat(lock, thread)
 *     NAME_acquire(seat, events), NAME_release(seat)
 *     NAME_destroy
 *     LOCK_KIND(NAME, "summary", flags); */
#ifndef KERNELS_LOCKS_CONTEST_H
#define KERNELS_LOCKS_CONTEST_H
#include <time.h>

#include "kernels/count.h"
#include "kernels/locks/lock.h"

/* The order is that of the kernel's events. */
enum { LOCK_ACQUISITIONS, LOCK_HANDOVERS, LOCK_CONTENTIONS, LOCK_CAS_RETRIES };

/* Events on a thread's way in. They leave no code behind in runs without counting (count.h). WAITED: another thread
 * holds the lock. RETRIED: an exchange, or a compare and swap, has to be repeated. LOST: both. */
struct lock_events {
	int64_t waits, retries;
};
#ifdef KERNEL_COUNTING
enum { LOCK_COUNTING = 1 };
#define LOCK_WAITED(events)  ((void)(events)->waits++)
#define LOCK_RETRIED(events) ((void)(events)->retries++)
#else
enum { LOCK_COUNTING = 0 };
#define LOCK_WAITED(events)  ((void)sizeof(events))
#define LOCK_RETRIED(events) ((void)sizeof(events))
#endif
#define LOCK_LOST(events) (LOCK_WAITED(events), LOCK_RETRIED(events))

enum { LOCK_LOG_MAX = 4096 };

/* The data that the lock protects: plain, so that a lock that fails loses some of it. */
struct lock_prize {
	int64_t count;
	uint64_t sum;    /* the work of the critical sections, one chain */
	int64_t changes; /* of the owner; the first thread to enter is one */
	int64_t owner;   /* the last thread that entered; -1: none */
};

/* The result of a thread, written when it has finished. */
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
	int64_t *events;      /* ss_call's events, if counting */
};

static inline struct lock_tally *lock_contest_tally(const struct lock_contest *contest, int thread) {
	return (void *)((char *)contest->tallies + (size_t)thread * contest->tally_stride);
}

/* The MMIX generator (Knuth, The Art of Computer Programming 2, 3.3.4): a multiplication and an addition, about 1 ns.
 */
#define LOCK_WORK_FACTOR UINT64_C(6364136223846793005)
#define LOCK_WORK_TERM   UINT64_C(1442695040888963407)
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

/* The same with counting. A thread that finds nothing left to do does not count as an acquisition, though it may
 * have waited. */
static inline bool lock_contest_enter_counted(const struct lock_contest *contest, int thread) {
	int64_t owner = contest->prize->owner, *events = contest->events + (size_t)thread * SS_EVENTS_MAX;
	bool more = lock_contest_enter(contest, thread);
	events[LOCK_ACQUISITIONS] += more;
	events[LOCK_HANDOVERS] += more && owner >= 0 && owner != thread;
	return more;
}

/* A thread stops after n entries of its own, too: so it does with a lock that loses all that the others count. A
 * function each, so that each loop has the registers for itself. */
#define LOCK_CONTEND_AS(FUNCTION, NAME, PASS)                                                                          \
	__attribute__((noinline)) static void FUNCTION(void *lock, int thread, const struct lock_contest *contest) {       \
		const struct NAME##_seat seat = NAME##_seat(lock, thread);                                                     \
		const struct lock_contest own = *contest;                                                                      \
		struct lock_tally tally = {0, 0};                                                                              \
		while (tally.entries < own.n && PASS(seat, &own, thread)) {                                                    \
			tally.entries++;                                                                                           \
			tally.sum = lock_work(tally.sum, own.noncritical);                                                         \
		}                                                                                                              \
		*lock_contest_tally(contest, thread) = tally;                                                                  \
	}

/* Once through the lock, and how often. */
#ifdef KERNEL_COUNTING
#define LOCK_PASS(NAME)                                                                                                \
	static inline bool NAME##_pass_counted(struct NAME##_seat seat, const struct lock_contest *contest, int thread) {  \
		int64_t *events = contest->events + (size_t)thread * SS_EVENTS_MAX;                                            \
		struct lock_events entry = {0, 0};                                                                             \
		NAME##_acquire(seat, &entry);                                                                                  \
		bool more = lock_contest_enter_counted(contest, thread);                                                       \
		NAME##_release(seat);                                                                                          \
		events[LOCK_CONTENTIONS] += entry.waits > 0;                                                                   \
		events[LOCK_CAS_RETRIES] += entry.retries;                                                                     \
		return more;                                                                                                   \
	}
#define LOCK_CONTEND(NAME) LOCK_CONTEND_AS(NAME##_contend, NAME, NAME##_pass_counted)
#else
#define LOCK_PASS(NAME)                                                                                                \
	static inline bool NAME##_pass(struct NAME##_seat seat, const struct lock_contest *contest, int thread) {          \
		NAME##_acquire(seat, NULL);                                                                                    \
		bool more = lock_contest_enter(contest, thread);                                                               \
		NAME##_release(seat);                                                                                          \
		return more;                                                                                                   \
	}                                                                                                                  \
	static inline bool NAME##_pass_logged(struct NAME##_seat seat, const struct lock_contest *contest, int thread) {   \
		int64_t asked = lock_now();                                                                                    \
		NAME##_acquire(seat, NULL);                                                                                    \
		bool more = lock_contest_enter_logged(contest, thread, asked);                                                 \
		NAME##_release(seat);                                                                                          \
		return more;                                                                                                   \
	}
#define LOCK_CONTEND(NAME)                                                                                             \
	LOCK_CONTEND_AS(NAME##_contend_timed, NAME, NAME##_pass)                                                           \
	LOCK_CONTEND_AS(NAME##_contend_logged, NAME, NAME##_pass_logged)                                                   \
	static void NAME##_contend(void *lock, int thread, const struct lock_contest *contest) {                           \
		(contest->log ? NAME##_contend_logged : NAME##_contend_timed)(lock, thread, contest);                          \
	}
#endif

#define LOCK_KIND(NAME, SUMMARY, FLAGS)                                                                                \
	LOCK_PASS(NAME)                                                                                                    \
	LOCK_CONTEND(NAME)                                                                                                 \
	static void NAME##_enter(void *lock, int thread) {                                                                 \
		struct lock_events ignored = {0, 0};                                                                           \
		NAME##_acquire(NAME##_seat(lock, thread), &ignored);                                                           \
	}                                                                                                                  \
	static void NAME##_leave(void *lock, int thread) {                                                                 \
		NAME##_release(NAME##_seat(lock, thread));                                                                     \
	}                                                                                                                  \
	const struct lock_kind KERNEL_COUNTED(lock_##NAME) = {                                                             \
		#NAME, SUMMARY, FLAGS, NAME##_size, NAME##_init, NAME##_enter, NAME##_leave, NAME##_contend, NAME##_destroy}
#endif
