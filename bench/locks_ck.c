/* SPDX-License-Identifier: GPL-3.0-or-later */
/* locks_ck THREADS ROUNDS N: our locks and those of Concurrency Kit in the same loop, in turn. One line for each round:
 * both names, both times in ns per acquisition, both shares of handovers. Prints nothing where Concurrency Kit is not
 * installed. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#if __has_include(<ck_spinlock.h>)
#include <ck_spinlock.h>

#include "kernels/locks/cells.h"
#include "kernels/locks/locks.h"
#include "kernels/locks/registry.h"

#define NOTHING_TO_DESTROY(NAME)                                                                                       \
	static void NAME##_destroy(void *lock) {                                                                           \
		(void)lock;                                                                                                    \
	}

/* Locks of one word. */
#define CK_WORD(NAME, TYPE, INIT, LOCK, UNLOCK, SUMMARY, FLAGS)                                                        \
	struct NAME##_seat {                                                                                               \
		TYPE *lock;                                                                                                    \
	};                                                                                                                 \
	static size_t NAME##_size(const struct lock_shape *shape) {                                                        \
		(void)shape;                                                                                                   \
		return sizeof(TYPE);                                                                                           \
	}                                                                                                                  \
	static int NAME##_init(void *lock, const struct lock_shape *shape) {                                               \
		(void)shape;                                                                                                   \
		INIT(lock);                                                                                                    \
		return 0;                                                                                                      \
	}                                                                                                                  \
	static inline struct NAME##_seat NAME##_seat(void *lock, int thread) {                                             \
		(void)thread;                                                                                                  \
		return (struct NAME##_seat){lock};                                                                             \
	}                                                                                                                  \
	static inline void NAME##_acquire(struct NAME##_seat seat, struct lock_look *look) {                               \
		(void)look;                                                                                                    \
		LOCK(seat.lock);                                                                                               \
	}                                                                                                                  \
	static inline void NAME##_release(struct NAME##_seat seat) {                                                       \
		UNLOCK(seat.lock);                                                                                             \
	}                                                                                                                  \
	NOTHING_TO_DESTROY(NAME)                                                                                           \
	LOCK_KIND(NAME, SUMMARY, FLAGS)

CK_WORD(ck_fas, ck_spinlock_fas_t, ck_spinlock_fas_init, ck_spinlock_fas_lock, ck_spinlock_fas_unlock,
        "fetch-and-store", 0);
CK_WORD(ck_fas_eb, ck_spinlock_fas_t, ck_spinlock_fas_init, ck_spinlock_fas_lock_eb, ck_spinlock_fas_unlock, "backoff",
        0);
CK_WORD(ck_dec, ck_spinlock_dec_t, ck_spinlock_dec_init, ck_spinlock_dec_lock, ck_spinlock_dec_unlock, "decrement", 0);
CK_WORD(ck_ticket, ck_spinlock_ticket_t, ck_spinlock_ticket_init, ck_spinlock_ticket_lock, ck_spinlock_ticket_unlock,
        "ticket", LOCK_FIFO);

/* Slots of 8 bytes one after the other are part of its interface. */
struct ck_array {
	ck_spinlock_anderson_t lock __attribute__((aligned(LOCK_LINE)));
	ck_spinlock_anderson_thread_t slots[] __attribute__((aligned(LOCK_LINE)));
};

struct ck_array_seat {
	ck_spinlock_anderson_t *lock;
	ck_spinlock_anderson_thread_t **slot;
};

static size_t ck_array_slots(const struct lock_shape *shape) {
	size_t slots = 1;
	while (slots < (size_t)shape->threads)
		slots *= 2;
	return slots;
}

static size_t ck_array_slots_size(const struct lock_shape *shape) {
	size_t size = sizeof(struct ck_array) + ck_array_slots(shape) * sizeof(ck_spinlock_anderson_thread_t);
	return (size + LOCK_LINE - 1) / LOCK_LINE * LOCK_LINE;
}

static size_t ck_array_size(const struct lock_shape *shape) {
	return LOCK_LINE + ck_array_slots_size(shape) + (size_t)shape->threads * LOCK_LINE;
}

/* A line with the distance of the threads' lines, the lock, the threads' lines. */
static int ck_array_init(void *lock, const struct lock_shape *shape) {
	struct ck_array *array = (void *)((char *)lock + LOCK_LINE);
	*(size_t *)lock = LOCK_LINE + ck_array_slots_size(shape);
	ck_spinlock_anderson_init(&array->lock, array->slots, (unsigned)ck_array_slots(shape));
	return 0;
}

static inline struct ck_array_seat ck_array_seat(void *lock, int thread) {
	return (struct ck_array_seat){(void *)((char *)lock + LOCK_LINE),
	                              (void *)((char *)lock + *(size_t *)lock + (size_t)thread * LOCK_LINE)};
}

static inline void ck_array_acquire(struct ck_array_seat seat, struct lock_look *look) {
	(void)look;
	ck_spinlock_anderson_lock(seat.lock, seat.slot);
}

static inline void ck_array_release(struct ck_array_seat seat) {
	ck_spinlock_anderson_unlock(seat.lock, *seat.slot);
}

NOTHING_TO_DESTROY(ck_array)
LOCK_KIND(ck_array, "Anderson", LOCK_FIFO);

/* Cells: the queue; a node for each thread and one more; each thread's node. */
struct ck_clh_seat {
	ck_spinlock_clh_t **queue, **node;
};

static size_t ck_clh_size(const struct lock_shape *shape) {
	return cells_size(shape, CELL_REST + 1 + 2 * (size_t)shape->threads);
}

static int ck_clh_init(void *lock, const struct lock_shape *shape) {
	size_t threads = (size_t)shape->threads;
	cells_init(lock, shape);
	((struct cells *)lock)->count = (unsigned)threads;
	for (size_t i = 0; i < threads; i++)
		*(ck_spinlock_clh_t **)cells_at(lock, CELL_REST + 1 + threads + i) = cells_at(lock, CELL_REST + i);
	ck_spinlock_clh_init(cells_at(lock, CELL_QUEUE), cells_at(lock, CELL_REST + threads));
	return 0;
}

static inline struct ck_clh_seat ck_clh_seat(void *lock, int thread) {
	unsigned threads = ((struct cells *)lock)->count;
	return (struct ck_clh_seat){cells_at(lock, CELL_QUEUE), cells_at(lock, CELL_REST + 1 + threads + (size_t)thread)};
}

static inline void ck_clh_acquire(struct ck_clh_seat seat, struct lock_look *look) {
	(void)look;
	ck_spinlock_clh_lock(seat.queue, *seat.node);
}

static inline void ck_clh_release(struct ck_clh_seat seat) {
	ck_spinlock_clh_unlock(seat.node);
}

NOTHING_TO_DESTROY(ck_clh)
LOCK_KIND(ck_clh, "CLH", LOCK_FIFO);

struct ck_mcs_seat {
	ck_spinlock_mcs_t *queue;
	ck_spinlock_mcs_context_t *node;
};

static size_t ck_mcs_size(const struct lock_shape *shape) {
	return cells_size(shape, CELL_REST + (size_t)shape->threads);
}

static int ck_mcs_init(void *lock, const struct lock_shape *shape) {
	cells_init(lock, shape);
	ck_spinlock_mcs_init(cells_at(lock, CELL_QUEUE));
	return 0;
}

static inline struct ck_mcs_seat ck_mcs_seat(void *lock, int thread) {
	return (struct ck_mcs_seat){cells_at(lock, CELL_QUEUE), cells_at(lock, CELL_REST + (size_t)thread)};
}

static inline void ck_mcs_acquire(struct ck_mcs_seat seat, struct lock_look *look) {
	(void)look;
	ck_spinlock_mcs_lock(seat.queue, seat.node);
}

static inline void ck_mcs_release(struct ck_mcs_seat seat) {
	ck_spinlock_mcs_unlock(seat.queue, seat.node);
}

NOTHING_TO_DESTROY(ck_mcs)
LOCK_KIND(ck_mcs, "MCS", LOCK_FIFO);

static const struct lock_kind *const pairs[][2] = {
	{&lock_tas, &lock_ck_fas},        {&lock_ttas, &lock_ck_fas},      {&lock_ttas, &lock_ck_dec},
	{&lock_backoff, &lock_ck_fas_eb}, {&lock_ticket, &lock_ck_ticket}, {&lock_array, &lock_ck_array},
	{&lock_clh, &lock_ck_clh},        {&lock_mcs, &lock_ck_mcs},
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

struct round {
	double ns, handovers;
};

static struct round timed(const struct locks_arena *arena, const struct locks_input *input, int threads) {
	struct lock_contest contest = locks_arena_contest(arena, input);
	locks_arena_clear(arena, threads);
	int64_t begun = lock_now();
	locks_arena_run(arena, &contest, threads);
	double ns = (double)(lock_now() - begun), n = (double)input->n;
	if (arena->prize->count != input->n || arena->prize->sum != input->sum) {
		fprintf(stderr, "%s is wrong\n", arena->kind->name);
		exit(1);
	}
	return (struct round){ns / n, (double)arena->prize->changes / n};
}

/* The order changes from round to round. */
static void measure(const struct lock_kind *const pair[2], const struct locks_input *input, int threads, int rounds) {
	const struct lock_shape shape = {.threads = threads, .pad = true};
	struct locks_arena arenas[2];
	for (int i = 0; i < 2; i++)
		if (locks_arena_new(&arenas[i], pair[i], &shape) != SS_OK)
			exit(1);
	for (int round = 0; round < rounds; round++) {
		struct round done[2];
		for (int i = 0; i < 2; i++) {
			int which = (i + round) % 2;
			done[which] = timed(&arenas[which], input, threads);
		}
		printf("%s %s %.3f %.3f %.3f %.3f\n", pair[0]->name, pair[1]->name, done[0].ns, done[1].ns, done[0].handovers,
		       done[1].handovers);
	}
	for (int i = 0; i < 2; i++)
		locks_arena_free(&arenas[i]);
}

int main(int argc, char **argv) {
	int threads = argc == 4 ? atoi(argv[1]) : 0, rounds = argc == 4 ? atoi(argv[2]) : 0;
	struct locks_input input = {.n = argc == 4 ? atoll(argv[3]) : 0};
	if (threads < 1 || rounds < 1 || input.n < 1)
		return 2;
	input.sum = locks_oracle(0, (uint64_t)input.n);
	for (int i = 0; i < PAIRS; i++)
		measure(pairs[i], &input, threads, rounds);
	return 0;
}
#else
int main(void) {
	return 0;
}
#endif
