/* SPDX-License-Identifier: BSD-3-Clause */
/* The learner of a class of problems, and the judge of its trials. */
#ifndef LIB_INSIDE_LEARN_IMPL_H
#define LIB_INSIDE_LEARN_IMPL_H
#include <math.h>
#include <time.h>

#include "lib/inside/inside_impl.h"

enum {
	WINDOW = 9,   /* calls with the incumbent that say what it costs */
	SAMPLES = 16, /* of a candidate, at most */
	RECENT_LEAST = 4
};
enum role { ROLE_NONE, ROLE_INCUMBENT, ROLE_CANDIDATE, ROLE_BESIDE, ROLE_DEFAULT, ROLE_MEMBER, ROLES = 8 };

static const double COST_LEAST = 1e-12, COST_MOST = 1e9;

struct trial {
	struct inside_slot *slot; /* NULL: there is none */
	const struct inside_config *config;
	enum inside_goal goal;
	bool out; /* a choice has the candidate */
	unsigned waited, tried, held;
	double candidate[SAMPLES], incumbent[SAMPLES]; /* logarithms of costs */
};

struct inside_learner {
	_Atomic uint32_t busy;
	struct sweetspot_context *context;
	struct inside_ring *ring;
	struct inside_cell *cell;
	const struct inside_config *_Atomic incumbent;
	_Atomic uint64_t out;    /* the ticket of the candidate's choice; 0: none */
	_Atomic uint64_t answer; /* the bits of its cost; 0: none */
	uint64_t tickets;
	double relative; /* logarithm of the incumbent's cost against the default's */
	double recent[WINDOW];
	uint64_t calls;          /* with the incumbent, since it holds */
	double observed[WINDOW]; /* calls that had the default, whatever was known */
	uint64_t observed_calls;
	double level, noise;            /* of recent */
	double cost;                    /* of a call at that level */
	double settled;                 /* the level that it has had since it holds; NAN: not yet known */
	unsigned drifting, drifts, gap; /* gap: calls until the next trial */
	uint32_t advice, random;
	struct trial trial;
};

/* False: another thread has it now. */
static inline bool busy_take(_Atomic uint32_t *busy) {
	return !atomic_exchange_explicit(busy, 1, memory_order_acquire);
}

static inline void busy_leave(_Atomic uint32_t *busy) {
	atomic_store_explicit(busy, 0, memory_order_release);
}

static inline uint64_t now_ns(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline void ns_add(_Atomic uint64_t *sum, double seconds) {
	atomic_fetch_add_explicit(sum, (uint64_t)(int64_t)(seconds * 1e9), memory_order_relaxed);
}

/* Counts the call; false: its cost counts for nothing. */
static inline bool call_count(const struct inside_learner *learner, double cost) {
	bool counts = cost > COST_LEAST && cost < COST_MOST;
	atomic_fetch_add_explicit(&learner->cell->calls, 1, memory_order_relaxed);
	if (counts)
		ns_add(&learner->cell->ns, cost);
	return counts;
}

/* Counts the cost of a call, and what it saved or lost: the default would have moved with the incumbent. */
static inline void account(const struct inside_learner *learner, bool tries, double cost) {
	struct inside_ring *ring = learner->ring;
	double held = tries && learner->calls ? learner->cost : cost;
	ns_add(&ring->ns, cost);
	if (learner->relative != 0 || tries)
		ns_add(&ring->saved_ns, held * exp(-learner->relative) - cost);
	if (tries && cost > held)
		ns_add(&ring->spent_ns, cost - held);
}

static inline size_t seen_of(uint64_t calls) {
	return calls < WINDOW ? (size_t)calls : WINDOW;
}
#endif
