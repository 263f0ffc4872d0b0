/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Building ahead: a pool asks for some configurations, lets the search order them after each result, gives back what it
 * does not expect anything of, and tells results in any order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/tap.h"
#include "tests/tuner/search/land.h"
#include "tuner/search/search.h"

enum { POOL_MAX = 512, SOME = 40 };

struct pool {
	const struct land *land;
	struct search *search;
	struct rng rng;
	uint64_t pending[POOL_MAX];
	size_t count, told, withdrawn, ranked_out;
	bool *taken;
	bool honest;     /* only valid configurations that are neither pending nor told */
	bool permuted;   /* ranking gives the same configurations, and no more of them */
	uint64_t digest; /* of everything that the search answered */
};

static void note(struct pool *pool, uint64_t answer) {
	pool->digest = (pool->digest ^ answer) * 0x100000001b3ull;
}

static void answer(struct pool *pool, uint64_t index) {
	double time = pool->land->time[index];
	struct strategy_outcome outcome = {.result = STRATEGY_VALUE, .value = time, .seconds = 3, .build = 2};
	if (isinf(time))
		outcome = (struct strategy_outcome){.result = STRATEGY_FAILURE, .seconds = 2, .build = 2};
	search_tell(pool->search, index, &outcome);
	pool->told++;
}

static void fill(struct pool *pool, size_t room) {
	uint64_t asked[POOL_MAX];
	size_t count = pool->count < room ? search_ask(pool->search, asked, room - pool->count) : 0;
	pool->honest &= count <= room - pool->count;
	for (size_t i = 0; i < count && pool->honest; i++) {
		pool->honest = asked[i] < pool->land->valid && !pool->taken[asked[i]];
		if (!pool->honest)
			break;
		pool->taken[asked[i]] = true;
		pool->pending[pool->count++] = asked[i];
		note(pool, asked[i]);
	}
}

static uint64_t take(struct pool *pool, size_t at) {
	uint64_t index = pool->pending[at];
	memmove(pool->pending + at, pool->pending + at + 1, (--pool->count - at) * sizeof *pool->pending);
	return index;
}

static void give_back(struct pool *pool, size_t at) {
	uint64_t index = take(pool, at);
	search_withdraw(pool->search, index);
	pool->honest &= !history_taken(search_history(pool->search), index);
	pool->taken[index] = false;
	pool->withdrawn++;
}

static void rank(struct pool *pool) {
	bool *before = mem_alloc(pool->land->valid, sizeof *before);
	size_t worth = search_rank(pool->search, pool->pending, pool->count);
	for (size_t i = 0; i < pool->count; i++) {
		pool->permuted &= pool->pending[i] < pool->land->valid && !before[pool->pending[i]];
		pool->permuted &= pool->taken[pool->pending[i]];
		before[pool->pending[i]] = true;
		note(pool, pool->pending[i]);
	}
	free(before);
	pool->permuted &= worth <= pool->count;
	pool->ranked_out += pool->count - worth;
	note(pool, worth);
	/* Half of the times only, as if their builds had ended. */
	while (pool->permuted && pool->count > worth && rng_below(&pool->rng, 2))
		give_back(pool, pool->count - 1);
}

static void turn(struct pool *pool, size_t room) {
	fill(pool, room);
	if (pool->count == 0 || !pool->honest)
		return;
	answer(pool, take(pool, rng_below(&pool->rng, pool->count)));
	rank(pool);
	if (pool->count && rng_below(&pool->rng, 20) == 0)
		give_back(pool, rng_below(&pool->rng, pool->count));
}

static struct pool play(const struct strategy *strategy, const struct land *land, size_t room, size_t most) {
	struct err err = {0};
	struct strategy_task task = {.space = land->space, .seed = 5, .start = land->start, .budget = 100};
	struct pool pool = {.land = land, .honest = true, .permuted = true};
	rng_seed(&pool.rng, room);
	pool.search = search_new(strategy, &task, &err);
	pool.taken = mem_alloc(land->valid, sizeof *pool.taken);
	pool.taken[land->start] = true;
	answer(&pool, land->start);
	for (size_t before = 0; pool.told != before && pool.told < most && pool.honest && pool.permuted;) {
		before = pool.told;
		turn(&pool, room);
	}
	search_free(pool.search);
	free(pool.taken);
	return pool;
}

static void conduct(const struct strategy *strategy, const struct land *land, const char *name, size_t room,
                    size_t most) {
	struct pool one = play(strategy, land, room, most), other = play(strategy, land, room, most < SOME ? most : SOME);
	struct pool again = most > SOME ? play(strategy, land, room, SOME) : one;
	size_t want = most < land->valid ? most : land->valid;
	ok(one.honest && one.permuted && one.told == want, "%s on %s, %zu at a time: %zu told once each, %zu withdrawn",
	   strategy->name, name, room, one.told, one.withdrawn);
	ok(again.digest == other.digest && again.told == other.told, "%s on %s, %zu at a time: the same again",
	   strategy->name, name, room);
}

static void conducts(const struct strategy *strategy, const struct land *land, const char *name) {
	static const size_t rooms[] = {1, 8, 64};
	for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
		conduct(strategy, land, name, rooms[i], SOME);
}

/* One that somebody else asked for, and that is known to be slow, goes behind those of the model, but is never refused.
 */
static void test_order(void) {
	struct land *land = land_bowl();
	struct err err = {0};
	struct strategy_task task = {.space = land->space, .seed = 1, .start = land->start, .budget = 100};
	struct search *search = search_new(strategy_find("auto"), &task, &err);
	uint64_t pending[9], worst = 0;
	struct rng rng;
	rng_seed(&rng, 1);
	for (int i = 0; i < 40; i++) {
		uint64_t index = history_unseen(search_history(search), land->space, &rng);
		search_tell_value(search, index, STRATEGY_VALUE, land->time[index]);
	}
	size_t count = search_ask(search, pending + 1, 8);
	for (uint64_t i = 0; i < land->valid; i++)
		if (!history_taken(search_history(search), i) && land->time[i] > land->time[worst])
			worst = i;
	pending[0] = worst;
	size_t worth = search_rank(search, pending, count + 1);
	ok(count == 8 && worth >= 5 && pending[worth - 1] == worst, "what is known to be slow goes to the end of %zu",
	   worth);
	for (uint64_t i = 0; i < land->valid; i += 16) /* now the valley is known */
		if (!history_taken(search_history(search), i))
			search_tell_value(search, i, STRATEGY_VALUE, land->time[i]);
	size_t later = search_rank(search, pending, 9);
	ok(later < 9 && later > 0, "after more results some are not worth building any more: %zu of 9 are", later);
	search_free(search);
	land_free(land);
}

static size_t rank_twice(void *state, uint64_t *pending, size_t count) {
	(void)state;
	pending[count - 1] = pending[0];
	return 1;
}

static size_t rank_too_many(void *state, uint64_t *pending, size_t count) {
	(void)state;
	uint64_t last = pending[count - 1];
	pending[count - 1] = pending[0];
	pending[0] = last;
	return count + 1;
}

static void test_wrong(void) {
	struct land *land = land_bowl();
	size_t (*const ranks[])(void *, uint64_t *, size_t) = {rank_twice, rank_too_many};
	for (size_t i = 0; i < 2; i++) {
		struct err err = {0};
		struct strategy wrong = *strategy_find("random");
		wrong.rank = ranks[i];
		struct search *search =
			search_new(&wrong, &(struct strategy_task){.space = land->space, .start = UINT64_MAX}, &err);
		uint64_t asked[4], kept[4];
		size_t count = search_ask(search, asked, 4);
		memcpy(kept, asked, sizeof kept);
		ok(count == 4 && search_rank(search, kept, 4) == 4 && memcmp(kept, asked, sizeof kept) == 0,
		   "a strategy that does not give another order is ignored");
		search_free(search);
	}
	land_free(land);
}

static void test_patience(void) {
	struct land *land = land_bowl();
	struct err err = {0};
	struct search *search =
		search_new(strategy_find("auto"), &(struct strategy_task){.space = land->space, .start = UINT64_MAX}, &err);
	for (uint64_t i = 0; i < 4; i++)
		search_tell(search, i,
		            &(struct strategy_outcome){.result = STRATEGY_VALUE, .value = 1, .seconds = 3, .build = 2});
	ok(isinf(search_patience(search)), "four builds are too few to be impatient");
	search_tell(search, 4, &(struct strategy_outcome){.result = STRATEGY_FAILURE, .seconds = 2, .build = 2});
	ok(search_patience(search) == 20, "a build may take 10 times the median after five: %g s", search_patience(search));
	search_tell(search, 5, &(struct strategy_outcome){.result = STRATEGY_VALUE, .value = 1, .seconds = 9, .build = -1});
	search_tell(search, 6, &(struct strategy_outcome){.result = STRATEGY_VALUE, .value = 1, .build = INFINITY});
	ok(search_patience(search) == 20, "times that cannot be are left out");
	search_free(search);
	land_free(land);
}

int main(void) {
	struct land *failing = land_failing(), *conditional = land_conditional(), *single = land_single();
	for (const struct strategy *const *s = strategy_registry; *s; s++) {
		conduct(*s, single, "single", 1, SIZE_MAX);
		conduct(*s, single, "single", POOL_MAX, SIZE_MAX);
		conducts(*s, conditional, "conditional");
		conducts(*s, failing, "failing");
		conduct(*s, conditional, "conditional, whole", POOL_MAX, SIZE_MAX);
	}
	test_order();
	test_wrong();
	test_patience();
	land_free(failing);
	land_free(conditional);
	land_free(single);
	return tap_done();
}
