/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/strategy/credit.h"

#include <math.h>

enum { WINDOW = 100 };
static const double EXPLORATION = 0.05; /* OpenTuner's */
static const double BEST_SHARE = 0.1;   /* of the window: successes */

struct use {
	uint64_t index;
	size_t arm;
	bool told, success;
	double value;
};

struct credit {
	struct use uses[WINDOW]; /* a ring */
	size_t used, arms, *own; /* own: uses of each arm in the window */
};

struct credit *credit_new(struct arena *arena, size_t arms) {
	struct credit *credit = arena_alloc(arena, 1, sizeof *credit);
	credit->arms = arms;
	credit->own = arena_alloc(arena, arms, sizeof *credit->own);
	return credit;
}

static size_t window(const struct credit *credit) {
	return credit->used < WINDOW ? credit->used : WINDOW;
}

/* Uses of the window, the oldest first. */
static const struct use *use_at(const struct credit *credit, size_t i) {
	return &credit->uses[(credit->used - window(credit) + i) % WINDOW];
}

static double area(const struct credit *credit, size_t arm) {
	size_t told = 0, sum = 0;
	for (size_t i = 0; i < window(credit); i++) {
		const struct use *use = use_at(credit, i);
		if (use->arm != arm || !use->told)
			continue;
		told++;
		sum += use->success ? told : 0;
	}
	return told ? 2 * (double)sum / ((double)told * (double)(told + 1)) : 0;
}

static double score(const struct credit *credit, size_t arm) {
	double own = (double)credit->own[arm], all = (double)window(credit);
	return own > 0 ? area(credit, arm) + EXPLORATION * sqrt(2 * log(all) / own) : INFINITY;
}

/* Of equal ones the next after the last used. */
size_t credit_choose(const struct credit *credit, const bool *idle) {
	size_t best = credit->arms, last = credit->used ? use_at(credit, window(credit) - 1)->arm : credit->arms - 1;
	double most = -1;
	for (size_t i = 1; i <= credit->arms; i++) {
		size_t arm = (last + i) % credit->arms;
		double own = idle[arm] ? -1 : score(credit, arm);
		if (own > most) {
			most = own;
			best = arm;
		}
	}
	return best;
}

void credit_use(struct credit *credit, size_t arm, uint64_t index) {
	struct use *use = &credit->uses[credit->used % WINDOW];
	if (credit->used >= WINDOW)
		credit->own[use->arm]--;
	*use = (struct use){.index = index, .arm = arm};
	credit->own[arm]++;
	credit->used++;
}

/* Is it among the best of the window? */
static bool succeeds(const struct credit *credit, double value) {
	size_t better = 0, told = 0;
	for (size_t i = 0; i < window(credit); i++) {
		const struct use *use = use_at(credit, i);
		told += use->told;
		better += use->told && use->value <= value;
	}
	return isfinite(value) && (double)better <= BEST_SHARE * (double)told;
}

void credit_tell(struct credit *credit, uint64_t index, double value) {
	for (size_t i = 0; i < window(credit); i++) {
		struct use *use = &credit->uses[(credit->used - window(credit) + i) % WINDOW];
		if (use->index != index || use->told)
			continue;
		use->success = succeeds(credit, value);
		use->value = value;
		use->told = true;
		return;
	}
}
