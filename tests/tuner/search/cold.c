/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the search with sources and the one without take turns (strategy_impl.h): sources that mislead cost a few
 * evaluations, and sources that help go on. */
#include <stdlib.h>

#include "tests/tap.h"
#include "tests/tuner/search/land.h"
#include "tuner/search/search.h"
#include "tuner/strategy/strategy_impl.h"

enum { FIRST = 7, REWARD = 8, SAVED = 16, MANY = 40 };

struct fixture {
	struct land *land;
	struct search *outer; /* its history is empty */
	struct arena *arena;
	struct cold *cold;
	uint64_t next;
};

static struct fixture begin(void) {
	struct fixture fixture = {.land = land_bowl(), .arena = arena_new()};
	struct err err = {0};
	struct strategy_task task = {.space = fixture.land->space, .seed = 1, .start = UINT64_MAX, .budget = 100};
	fixture.outer = search_new(strategy_find("random"), &task, &err);
	task.history = search_history(fixture.outer);
	task.arena = fixture.arena;
	fixture.cold = cold_new(strategy_find("random"), &task, &err);
	if (!fixture.outer || !fixture.cold)
		exit(1);
	return fixture;
}

static void end(struct fixture *fixture) {
	arena_free(fixture->arena);
	search_free(fixture->outer);
	land_free(fixture->land);
}

/* An evaluation of the search with sources. */
static void informed(struct fixture *fixture, double value, bool sources) {
	const struct strategy_outcome outcome = {.result = STRATEGY_VALUE, .value = value};
	cold_await(fixture->cold, fixture->next);
	cold_report(fixture->cold, fixture->next++, &outcome, sources);
}

/* The evaluations in a row that are left for the search with sources, at most MANY, none of which finds anything. */
static int left(struct fixture *fixture) {
	int count = 0;
	for (; count < MANY && cold_ask(fixture->cold) == UINT64_MAX; count++)
		informed(fixture, 9, true);
	return count;
}

/* After one value: improvements by a factor each, then the evaluations that are left. */
static int left_after(double value, double factor, int improvements, bool sources) {
	struct fixture fixture = begin();
	informed(&fixture, value, true);
	for (int i = 0; i < improvements; i++)
		informed(&fixture, value *= factor, sources);
	int count = left(&fixture);
	end(&fixture);
	return count;
}

static int left_after_baseline(void) {
	struct fixture fixture = begin();
	const struct strategy_outcome baseline = {.result = STRATEGY_VALUE, .value = 8};
	cold_report(fixture.cold, 4000, &baseline, true);
	informed(&fixture, 1, true);
	int count = left(&fixture);
	end(&fixture);
	return count;
}

int main(void) {
	ok(left_after(1, 1, 0, true) == FIRST - 1, "the search with sources begins");
	ok(left_after_baseline() == FIRST - 1,
	   "the first value of the search with sources earns nothing, although it beats the baseline");
	ok(left_after(1, .9, 1, true) == FIRST - 2 + REWARD, "an improvement earns more evaluations");
	ok(left_after(1, .995, 1, true) == FIRST - 2 + REWARD / 2, "a small one earns a part of them");
	ok(left_after(1, .9, 5, true) == SAVED, "evaluations that were earned do not add up without a limit");
	ok(left_after(1, .9, 1, false) == FIRST - 2, "an improvement without sources earns nothing");
	return tap_done();
}
