/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests how the model of a search learns what fails. */
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "tests/tap.h"
#include "tests/tuner/search/land.h"
#include "tests/tuner/space/help.h"
#include "tests/tuner/surrogate/watched.h"
#include "tuner/surrogate/surrogate_impl.h"

enum { LEARNED = 100, SEEDS = 8, EVALUATIONS = 100, AFTER = 20 };

/* Five parameters of seven powers of two, whose places are their logarithms, and a word. */
static struct space *powers(void) {
	struct space *space = space_new();
	char name[] = "pa";
	for (int p = 0; p < 4; p++, name[1]++)
		add_param(space, name, "1,2,4,8,16,32,64", NULL);
	add_param(space, "word", "a,b,c", NULL);
	return space;
}

/* A product of three is limited, and the limit is half as large with one of the words. */
static bool product_fits(const int *config) {
	return config[0] + config[1] + config[2] + (config[4] == 2) <= 11;
}

/* Either of two products may be beyond its limit, but not both. */
static bool either_fits(const int *config) {
	return config[0] + config[1] <= 6 || config[2] + config[3] <= 5;
}

/* The best of all would be beyond the limit. */
static double hidden_best(const int *config) {
	static const int best[] = {4, 5, 4, 2};
	double sum = 0.1 * (config[4] != 1);
	for (int p = 0; p < 4; p++)
		sum += 0.1 * abs(config[p] - best[p]);
	return exp(sum);
}

static double with_product(const struct space *space, const int *config, const void *shape) {
	(void)space, (void)shape;
	return product_fits(config) ? hidden_best(config) : INFINITY;
}

static double with_either(const struct space *space, const int *config, const void *shape) {
	(void)space, (void)shape;
	return either_fits(config) ? hidden_best(config) : INFINITY;
}

/* Nothing tells which of them fail. */
static double by_chance(const struct space *space, const int *config, const void *shape) {
	struct rng rng;
	uint64_t index = 0;
	(void)shape;
	space_index(space, config, &index);
	rng_seed(&rng, index);
	return rng_unit(&rng) < 0.22 ? INFINITY : hidden_best(config);
}

static double failing(const struct land *land) {
	uint64_t count = 0;
	for (uint64_t i = 0; i < land->valid; i++)
		count += isinf(land->time[i]);
	return (double)count / (double)land->valid;
}

static double right_share(const struct land *land, const struct coding *coding, const struct limits *limits) {
	uint64_t right = 0;
	for (uint64_t i = 0; i < land->valid; i++) {
		uint16_t codes[GP_DIMS_MAX];
		float logit;
		coding_index(coding, i, codes);
		limits_logits(limits, codes, 0, 1, &logit);
		right += (logit > 0) == isfinite(land->time[i]);
	}
	return (double)right / (double)land->valid;
}

static void test_limit_of_product(void) {
	struct arena *arena = arena_new();
	struct land *land = land_new(powers(), with_product, NULL, NULL);
	const struct coding *coding = coding_new(arena, land->space, 0);
	struct limits *limits = limits_new(arena, coding, LEARNED);
	struct rng rng;
	uint16_t codes[GP_DIMS_MAX];
	rng_seed(&rng, 2);
	for (int i = 0; i < LEARNED; i++) {
		uint64_t index = space_sample(land->space, &rng);
		coding_index(coding, index, codes);
		limits_add(limits, codes, isfinite(land->time[index]));
	}
	limits_fit(limits);
	double share = right_share(land, coding, limits);
	ok(share > 0.9, "%d of %d configurations tell a product's limit: %.1f %% are right (%.0f %% fail)", LEARNED,
	   (int)land->valid, 100 * share, 100 * failing(land));
	land_free(land);
	arena_free(arena);
}

/* Blocks of candidates, the last one not full, must give what each gives alone. */
static void test_blocks(void) {
	enum { COUNT = 150 };
	struct arena *arena = arena_new();
	struct land *land = land_new(powers(), with_product, NULL, NULL);
	const struct coding *coding = coding_new(arena, land->space, 0);
	struct limits *limits = limits_new(arena, coding, LEARNED);
	uint16_t *codes = arena_alloc(arena, COUNT * coding->count, sizeof *codes);
	float many[COUNT], one;
	bool same = true;
	for (uint64_t i = 0; i < COUNT; i++) {
		coding_index(coding, i * 47 % land->valid, codes + i * coding->count);
		limits_add(limits, codes + i * coding->count, isfinite(land->time[i * 47 % land->valid]));
	}
	ok(limits->count == LEARNED, "configurations beyond the room are not learned");
	limits_fit(limits);
	limits_logits(limits, codes, coding->count, COUNT, many);
	for (uint64_t i = 0; i < COUNT; i++) {
		limits_logits(limits, codes + i * coding->count, 0, 1, &one);
		same &= fabsf(one - many[i]) < 1e-5F;
	}
	ok(same, "many at a time have the same odds as one by one");
	land_free(land);
	arena_free(arena);
}

struct tally {
	int failed, proposed, found;
};

static void play(const struct land *land, const char *strategy, uint64_t seed, struct tally *tally) {
	struct err err = {0};
	const struct strategy_task task = {.space = land->space, .seed = seed, .start = UINT64_MAX, .budget = EVALUATIONS};
	struct search *search = search_new(strategy_find(strategy), &task, &err);
	uint64_t index;
	bool found = false;
	for (int i = 0; i < EVALUATIONS && search_ask(search, &index, 1); i++) {
		tally->failed += i >= AFTER && isinf(land->time[index]);
		tally->proposed += i >= AFTER;
		found |= land->time[index] <= land->time[land->best];
		watched_answer(search, index, land->time[index]);
	}
	tally->found += found;
	search_free(search);
}

/* The time alone would draw the search beyond the limit: without the line, more than half of the proposals fail. */
static void test_searches(const char *what, land_model *model) {
	static const char *const strategies[] = {"auto", "bayes"};
	struct land *land = land_new(powers(), model, NULL, NULL);
	for (size_t s = 0; s < 2; s++) {
		struct tally tally = {0};
		for (uint64_t seed = 1; seed <= SEEDS; seed++)
			play(land, strategies[s], seed, &tally);
		double share = (double)tally.failed / tally.proposed;
		ok(share <= 0.06, "%s, %s: of all configurations %.0f %% fail, of the proposals after the %dth %.1f %%", what,
		   strategies[s], 100 * failing(land), AFTER, 100 * share);
		ok(tally.found >= SEEDS - 1, "%s, %s: %d of %d searches find the best", what, strategies[s], tally.found,
		   SEEDS);
	}
	land_free(land);
}

static void test_chance(void) {
	struct land *land = land_new(powers(), by_chance, NULL, NULL);
	struct search *search = watched_begin(land->space, NULL, 0);
	uint64_t index;
	int strict = 0, failed = 0;
	for (int i = 0; i < EVALUATIONS && search_ask(search, &index, 1); i++) {
		strict += watch.surrogate->odds.strict;
		failed += isinf(land->time[index]);
		watched_answer(search, index, land->time[index]);
	}
	ok(watch.finite && watch.fresh, "failures by chance: finite numbers");
	ok(strict < EVALUATIONS / 4, "a model that can't tell what fails rules nothing out (%d of %d times, %d failed)",
	   strict, EVALUATIONS, failed);
	search_free(search);
	land_free(land);
}

int main(void) {
	test_limit_of_product();
	test_blocks();
	test_searches("a product's limit", with_product);
	test_searches("either of two limits", with_either);
	test_chance();
	return tap_done();
}
