/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bandit's credit, and the bandit: the arm that finds the best is asked most. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/rng.h"
#include "tests/tap.h"
#include "tuner/strategy/credit.h"

enum { ARMS = 4, USES = 400 };

struct played {
	size_t early[ARMS], late[ARMS]; /* uses in the first and in the second half */
};

/* Outcomes are normal; the good arm's are better. In the second half another arm may be the good one. */
static struct played play(size_t good, size_t then, uint64_t seed, double fails) {
	struct arena *arena = arena_new();
	struct credit *credit = credit_new(arena, ARMS);
	struct played played = {{0}, {0}};
	struct rng rng;
	rng_seed(&rng, seed);
	for (uint64_t i = 0; i < USES; i++) {
		static const bool idle[ARMS] = {false};
		size_t arm = credit_choose(credit, idle);
		bool early = i < USES / 2;
		credit_use(credit, arm, i);
		double value = 10 + rng_normal(&rng) - (arm == (early ? good : then) ? 2 : 0);
		credit_tell(credit, i, rng_unit(&rng) < fails ? INFINITY : value);
		(early ? played.early : played.late)[arm]++;
	}
	arena_free(arena);
	return played;
}

static void best_gets_most(void) {
	enum { SEEDS = 20 };
	size_t early = 0, late = 0, switched = 0, failing = 0;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		size_t good = seed % ARMS, then = (good + 1) % ARMS;
		struct played same = play(good, good, seed, 0), other = play(good, then, seed, 0);
		early += same.early[good];
		late += same.late[good];
		switched += other.late[then];
		failing += play(good, good, seed, 0.5).late[good];
	}
	size_t half = SEEDS * USES / 2;
	ok(2 * early > half, "the best arm gets most of the uses from the beginning (%zu of %zu)", early, half);
	ok(10 * late > 7 * half, "it gets over 70 %% later (%zu)", late);
	ok(2 * failing > half, "it gets most where half of all fails (%zu)", failing);
	ok(2 * switched > half, "another one gets most when it has become the best (%zu)", switched);
}

static void idle_arms(void) {
	struct arena *arena = arena_new();
	struct credit *credit = credit_new(arena, ARMS);
	bool idle[ARMS] = {true, true, false, true}, wrong = false;
	for (uint64_t i = 0; i < USES; i++) {
		wrong |= credit_choose(credit, idle) != 2;
		credit_use(credit, 2, i); /* never told */
	}
	ok(!wrong, "idle arms are not chosen, though outcomes never come");
	idle[2] = true;
	ok(credit_choose(credit, idle) == ARMS, "nor is any where all are idle");
	arena_free(arena);
}

static void all_are_used(void) {
	struct arena *arena = arena_new();
	struct credit *credit = credit_new(arena, ARMS);
	static const bool idle[ARMS] = {false};
	size_t uses[ARMS] = {0};
	for (uint64_t i = 0; i < USES; i++) {
		size_t arm = credit_choose(credit, idle);
		uses[arm]++;
		credit_use(credit, arm, i);
		credit_tell(credit, i, INFINITY);
	}
	bool fair = true;
	for (size_t a = 0; a < ARMS; a++)
		fair &= uses[a] >= USES / ARMS - 1 && uses[a] <= USES / ARMS + 1;
	ok(fair, "where nothing works, all are used alike");
	arena_free(arena);
}

int main(void) {
	best_gets_most();
	idle_arms();
	all_are_used();
	return tap_done();
}
