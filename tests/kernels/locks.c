/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Locks: no thread enters beside the owner, the fair ones keep the order, and a lock that fails is found out. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "kernels/locks/cells.h"
#include "kernels/locks/locks.h"
#include "kernels/locks/registry.h"
#include "tests/kernels/live.h"
#include "tests/tap.h"

static const size_t pad_bytes[] = {0, LOCK_LINE, LOCK_WIDE};
enum { PADS = 3 };

static const int teams[] = {1, 2, 3, 8};
enum { TEAMS = sizeof teams / sizeof *teams, ENTRIES = 300, QUEUE = 4, TRIES = 200 };

static void *lock_new(const struct lock_kind *kind, const struct lock_shape *shape) {
	size_t size = (kind->size(shape) + LOCK_LINE - 1) / LOCK_LINE * LOCK_LINE;
	void *lock = memset(aligned_alloc(LOCK_LINE, size), 0, size);
	if (kind->init(lock, shape) != 0)
		abort();
	return lock;
}

static void lock_free(const struct lock_kind *kind, void *lock) {
	kind->destroy(lock);
	free(lock);
}

/* A read, something else, a write: an increment is lost if anybody gets in between. */
static bool excludes(const struct lock_kind *kind, const struct lock_shape *shape) {
	void *lock = lock_new(kind, shape);
	volatile int shared = 0, inside = 0;
	int alone = 0;
#pragma omp parallel num_threads(shape->threads) reduction(+ : alone)
	for (int i = 0, thread = omp_get_thread_num(); i < ENTRIES; i++) {
		kind->acquire(lock, thread);
		int seen = shared;
		alone += inside == 0;
		inside = 1;
		if (i % 64 == 0)
			sched_yield();
		inside = 0;
		shared = seen + 1;
		kind->release(lock, thread);
	}
	lock_free(kind, lock);
	return shared == alone && shared == shape->threads * ENTRIES;
}

static void check_exclusion(const struct lock_kind *kind) {
	for (int pad = 0; pad < PADS; pad++)
		for (int t = 0; t < TEAMS; t++) {
			const struct lock_shape shape = {.threads = teams[t], .pad = pad_bytes[pad]};
			ok(excludes(kind, &shape), "%s, pad %d: %d threads lose no increment", kind->name, pad, teams[t]);
		}
}

struct queue {
	const struct lock_kind *kind;
	void *lock;
	int order[QUEUE + 1], entered;
};

struct waiter {
	struct queue *queue;
	int thread;
};

static void *wait_in_queue(void *opaque) {
	struct waiter *waiter = opaque;
	struct queue *queue = waiter->queue;
	queue->kind->acquire(queue->lock, waiter->thread);
	queue->order[queue->entered++] = waiter->thread;
	queue->kind->release(queue->lock, waiter->thread);
	return NULL;
}

/* Thread 0 holds the lock until the others, one after the other, stand in the queue: kernels/locks/cells.h says where
 * that is seen. */
static bool keeps_order(const struct lock_kind *kind, const struct lock_shape *shape, const int *threads) {
	struct queue queue = {.kind = kind, .lock = lock_new(kind, shape)};
	struct waiter waiters[QUEUE];
	pthread_t started[QUEUE];
	atomic_uint *end = cells_at(queue.lock, CELL_QUEUE);
	bool same = true;
	kind->acquire(queue.lock, 0);
	for (int i = 0; i < QUEUE; i++) {
		unsigned before = atomic_load(end);
		waiters[i] = (struct waiter){&queue, threads[i]};
		if (pthread_create(&started[i], NULL, wait_in_queue, &waiters[i]) != 0)
			abort();
		while (atomic_load(end) == before)
			sched_yield();
	}
	same &= queue.entered == 0;
	kind->release(queue.lock, 0);
	for (int i = 0; i < QUEUE; i++)
		pthread_join(started[i], NULL);
	for (int i = 0; i < QUEUE; i++)
		same &= queue.order[i] == threads[i];
	lock_free(kind, queue.lock);
	return same && queue.entered == QUEUE;
}

static void check_order(const struct lock_kind *kind) {
	static const int orders[][QUEUE] = {{1, 2, 3, 4}, {4, 3, 2, 1}, {2, 4, 1, 3}};
	for (int pad = 0; pad < PADS; pad++)
		for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
			const struct lock_shape shape = {.threads = QUEUE + 1, .pad = pad_bytes[pad]};
			ok(keeps_order(kind, &shape, orders[i]), "%s, pad %d: threads enter in the order %d, %d, ..", kind->name,
			   pad, orders[i][0], orders[i][1]);
		}
}

static struct live *problem(const char *n, const char *critical, const char *noncritical) {
	struct live *live = live_new(kernel_find("locks")->kernel);
	live_problem(live, "n", n);
	live_problem(live, "critical", critical);
	live_problem(live, "noncritical", noncritical);
	if (live_open(live) != SS_OK)
		abort();
	return live;
}

static const struct locks_state *configured(struct live *live, const char *lock, const char *pad, int threads) {
	live_config(live, 0, "lock", lock);
	live_config(live, 0, "pad", pad);
	live->state[0].threads = threads;
	if (live_setup(live, 0) != SS_OK)
		abort();
	return live->state[0].memory;
}

/* Twice: a run must not depend on the one before. */
static void check_runs(const struct lock_kind *kind) {
	static const char *const pads[] = {"none", "line", "1024"};
	struct live *live = problem("2000", "3", "5");
	for (int pad = 0; pad < PADS; pad++)
		for (int t = 0; t < TEAMS; t++) {
			configured(live, kind->name, pads[pad], teams[t]);
			bool right = true;
			for (int i = 0; i < 2; i++)
				right &= live_run(live, 0) == SS_OK && live_verify(live, 0) == SS_OK;
			ok(right, "%s, pad %s, %d threads: %s", kind->name, pads[pad], teams[t], right ? "right" : live->message);
			live_teardown(live, 0);
		}
	live_free(live);
}

static double figure(const struct ss_figure *figures, size_t count, const char *name) {
	for (size_t i = 0; i < count; i++)
		if (strcmp(figures[i].name, name) == 0)
			return figures[i].value;
	return -1;
}

static void check_figures(const struct lock_kind *kind, int threads) {
	struct live *live = problem("1000", "10", "0");
	const struct locks_state *s = configured(live, kind->name, "line", threads);
	struct ss_figure f[SS_FIGURES_MAX];
	live_run(live, 0);
	struct lock_prize before = *s->arena.prize;
	struct ss_call call = live_call(live, 0);
	size_t count = live->kernel->figures(s, &call, 0.001, f, SS_FIGURES_MAX);
	double jain = figure(f, count, "fairness_jain"), ratio = figure(f, count, "fairness_min_max");
	double share = figure(f, count, "handover_share"), handovers = figure(f, count, "handovers");
	bool safe = !(kind->flags & LOCK_UNSAFE) || threads == 1;
	ok(jain >= 0.9999 / s->team && jain <= 1.0001 && ratio >= 0 && ratio <= 1, "%s, %d threads: fairness", kind->name,
	   threads);
	ok(!safe || (share >= 0 && share <= 1 && handovers >= 0 && handovers < 1000), "%s: handovers", kind->name);
	ok(!safe || fabs(figure(f, count, "throughput") - 1000) < 1e-6, "%s: 1000 in a millisecond", kind->name);
	ok(!safe || fabs(figure(f, count, "ns_per_acquire") - 1000) < 1e-6, "%s: one in 1000 ns", kind->name);
	bool queue = threads > 1 && !(kind->flags & LOCK_UNSAFE);
	ok(queue || figure(f, count, "handover_latency") < 0, "%s: no latency without waiting threads", kind->name);
	ok(memcmp(&before, s->arena.prize, sizeof before) == 0, "%s: the latency is of another contest", kind->name);
	ok(threads > 1 || (jain == 1 && ratio == 1 && handovers == 0), "%s: one thread is fair to itself", kind->name);
	ok(live->kernel->figures(s, &call, 0.001, f, 2) == 2, "%s: no more figures than asked for", kind->name);
	live_teardown(live, 0);
	live_free(live);
}

/* Shares that are given by hand. */
static void check_fairness(void) {
	struct live *live = problem("40", "0", "0");
	struct locks_state *s = live->state[0].memory;
	struct ss_figure f[SS_FIGURES_MAX];
	configured(live, "mutex", "line", 4);
	live_run(live, 0);
	s->team = 4;
	for (int thread = 0; thread < 4; thread++)
		locks_tally(s, thread)->entries = thread < 2 ? 15 : 5;
	s->arena.prize->changes = 14;
	struct ss_call call = live_call(live, 0);
	size_t count = live->kernel->figures(s, &call, 1, f, SS_FIGURES_MAX);
	ok(fabs(figure(f, count, "fairness_jain") - 0.8) < 1e-9, "shares of 15, 15, 5, 5: 40^2 / (4 * 500) after Jain");
	ok(fabs(figure(f, count, "fairness_min_max") - 1. / 3) < 1e-9, "the least share is a third of the most");
	ok(fabs(figure(f, count, "handover_share") - 1. / 3) < 1e-9, "13 handovers of 39");
	live_teardown(live, 0);
	live_free(live);
}

/* No lock, but it says that it is one. */
struct broken_seat {
	void *lock;
};

static size_t broken_size(const struct lock_shape *shape) {
	return (size_t)shape->threads;
}

static int broken_init(void *lock, const struct lock_shape *shape) {
	return lock && shape ? 0 : -1;
}

static inline struct broken_seat broken_seat(void *lock, int thread) {
	return (struct broken_seat){(char *)lock + thread};
}

static inline void broken_acquire(struct broken_seat seat, struct lock_events *events) {
	(void)events;
	__asm__ volatile("" : : "r"(seat.lock) : "memory");
}

static inline void broken_release(struct broken_seat seat) {
	__asm__ volatile("" : : "r"(seat.lock) : "memory");
}

static void broken_destroy(void *lock) {
	(void)lock;
}

extern const struct lock_kind lock_broken;
LOCK_KIND(broken, "no lock", 0);

/* Sections of about a millisecond: on a busy machine, too, one of them is left half done to run the other thread. */
static void check_broken(void) {
	struct live *live = problem("50", "1000000", "0");
	configured(live, "none", "line", 2);
	struct locks_state *s = live->state[0].memory;
	s->arena.kind = &lock_broken;
	bool found = false;
	for (int i = 0; i < TRIES && !found; i++)
		found = live_run(live, 0) == SS_OK && live_verify(live, 0) == SS_INCORRECT;
	ok(found && live->message[0], "a lock that does not exclude is found: %s", live->message);
	s->arena.kind = &lock_none;
	ok(live_verify(live, 0) == SS_OK, "lost updates are right for the lock that promises nothing");
	live_teardown(live, 0);
	live_free(live);
}

/* Each thing that is checked, made wrong by itself. */
static void check_verify(void) {
	struct live *live = problem("100", "1", "7");
	struct locks_state *s = live->state[0].memory;
	configured(live, "ticket", "none", 2);
	live_run(live, 0);
	ok(live_verify(live, 0) == SS_OK, "untouched it is right");
	struct lock_prize *prize = s->arena.prize, kept = *prize;
	struct lock_tally *tally = locks_tally(s, (int)prize->owner), own = *tally;
	int64_t *const numbers[] = {&prize->count, (int64_t *)&prize->sum, &tally->entries, (int64_t *)&tally->sum};
	static const char *const names[] = {"counter", "protected sum", "entries", "work outside"};
	for (int i = 0; i < 4; i++)
		for (int64_t by = -1; by <= 1; by += 2) {
			*numbers[i] += by;
			ok(live_verify(live, 0) == SS_INCORRECT, "%s off by %d: %s", names[i], (int)by, live->message);
			*prize = kept;
			*tally = own;
		}
	static const int64_t owners[] = {-1, 2, 100}, changes[] = {-1, 0, 101};
	for (int i = 0; i < 3; i++) {
		prize->owner = owners[i];
		ok(live_verify(live, 0) == SS_INCORRECT, "owner %d: %s", (int)owners[i], live->message);
		*prize = kept;
		prize->changes = changes[i];
		ok(live_verify(live, 0) == SS_INCORRECT, "%d changes: %s", (int)changes[i], live->message);
		*prize = kept;
	}
	ok(live_verify(live, 0) == SS_OK, "the state is right again once nothing is spoilt");
	live_teardown(live, 0);
	live_free(live);
}

static void check_oracle(void) {
	static const int64_t units[] = {0, 1, 2, 3, 63, 64, 1000, 12345};
	bool same = true;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		same &= locks_oracle(i, (uint64_t)units[i]) == lock_work(i, units[i]);
	ok(same, "the oracle's leaps end where the steps do");
}

static void check_refused(const char *n, const char *critical, const char *noncritical) {
	struct live *live = live_new(kernel_find("locks")->kernel);
	live_problem(live, "n", n);
	live_problem(live, "critical", critical);
	live_problem(live, "noncritical", noncritical);
	ok(live_open(live) == SS_INVALID && live->message[0], "n=%s critical=%s noncritical=%s is refused: %s", n, critical,
	   noncritical, live->message);
	live_free(live);
}

static void check_registry(void) {
	char words[] = LOCK_WORDS, *rest = words;
	int i = 0;
	for (char *word; (word = strsep(&rest, ",")); i++)
		ok(lock_registry[i] && strcmp(lock_registry[i]->name, word) == 0 && lock_find(word) == lock_registry[i],
		   "%s is word %d", word, i);
	ok(!lock_registry[i] && !lock_find("") && !lock_find("tick"), "these are all");
}

#if defined(__clang__)
#if __has_feature(thread_sanitizer)
/* A lock that does not lock, and one that is broken on purpose, are there to be found out. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void) {
	return "race:none_contend\nrace:broken_contend\n";
}
#endif
#endif

int main(void) {
	check_registry();
	check_oracle();
	for (const struct lock_kind *const *kind = lock_registry; *kind; kind++) {
		if ((*kind)->acquire && !((*kind)->flags & LOCK_UNSAFE))
			check_exclusion(*kind);
		if ((*kind)->flags & LOCK_FIFO)
			check_order(*kind);
		check_runs(*kind);
		check_figures(*kind, 1);
		check_figures(*kind, 3);
	}
	check_fairness();
	check_broken();
	check_verify();
	check_refused("0", "0", "0");
	check_refused("100000001", "0", "0");
	check_refused("1", "-1", "0");
	check_refused("1", "0", "1000001");
	check_refused("1000000", "100000", "1");
	return tap_done();
}
