/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests predictions of the cost of evaluations, which must matter if the budget is a time, and never otherwise. */
#include "tuner/surrogate/surrogate_impl.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/tap.h"
#include "tests/tuner/search/land.h"
#include "tests/tuner/space/help.h"
#include "tuner/search/search.h"

enum { SEEDS = 12, MOST = 400, SEQUENCE = 60, TOLD = 80 };
enum { SIDE = 9, KINDS = 4, CHEAP = 2 };
static const double BUDGET = 3000, DEAR = 20;

/* The seconds of an evaluation. */
typedef double cost_model(const int *config, uint64_t index);

static double by_kind(const int *config, uint64_t index) {
	(void)index;
	return config[2] < CHEAP ? 1 : DEAR;
}

static double alike(const int *config, uint64_t index) {
	return 3 + 0.3 * (double)(config[0] == 4) + 0.1 * (double)(index % 5);
}

static double untold(const int *config, uint64_t index) {
	(void)config, (void)index;
	return 0;
}

/* A cost that does not depend on any parameter. */
static double erratic(const int *config, uint64_t index) {
	struct rng rng;
	(void)config;
	rng_seed(&rng, index);
	return exp(2 * rng_normal(&rng));
}

/* The kind matters only for the cost. */
static double bowl(const struct space *space, const int *config, const void *shape) {
	double x = config[0] - 6, y = config[1] - 2;
	(void)space, (void)shape;
	return 1 + 0.05 * x * x + 0.08 * y * y + 0.02 * x * y;
}

static struct land *land_kinds(void) {
	struct space *space = space_new();
	add_param(space, "x", "0..8", NULL);
	add_param(space, "y", "0..8", NULL);
	add_param(space, "kind", "plain,simple,deep,wide", NULL);
	return land_new(space, bowl, NULL, NULL);
}

static struct search *begin(const struct land *land, const char *strategy, uint64_t seed, double seconds) {
	struct err err = {0};
	struct strategy_task task = {
		.space = land->space, .seed = seed, .start = UINT64_MAX, .budget = 100, .seconds = seconds};
	struct search *search = search_new(strategy_find(strategy), &task, &err);
	if (!search)
		exit(1);
	return search;
}

static double tell(struct search *search, const struct land *land, uint64_t index, cost_model *price) {
	int config[SPACE_PARAMS_MAX];
	space_config(land->space, index, config);
	double seconds = price(config, index);
	search_tell(search, index,
	            &(struct strategy_outcome){.result = STRATEGY_VALUE, .value = land->time[index], .seconds = seconds});
	return seconds;
}

/* The simulated seconds until the optimum is found, at most the budget. */
static double seconds_to_best(const struct land *land, uint64_t seed, double budget) {
	struct search *search = begin(land, "auto", seed, budget);
	double spent = 0;
	uint64_t index;
	bool found = false;
	for (int i = 0; i < MOST && !found && spent < BUDGET && search_ask(search, &index, 1); i++) {
		spent += tell(search, land, index, by_kind);
		found = land->time[index] <= land->time[land->best];
	}
	search_free(search);
	return found ? fmin(spent, BUDGET) : BUDGET;
}

static void test_cheap_first(const struct land *land) {
	double known = 0, ignored = 0;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		known += seconds_to_best(land, seed, BUDGET);
		ignored += seconds_to_best(land, seed, 0);
	}
	ok(known < 0.8 * ignored,
	   "configurations that cost 20 times as much without a gain are avoided: %.0f s, %.0f s without prediction", known,
	   ignored);
}

static bool same_sequence(const struct land *land, const char *strategy, uint64_t seed, const double budgets[2],
                          cost_model *const prices[2]) {
	struct search *one = begin(land, strategy, seed, budgets[0]), *other = begin(land, strategy, seed, budgets[1]);
	bool same = true;
	for (int i = 0; i < SEQUENCE && same; i++) {
		uint64_t x = UINT64_MAX, y = UINT64_MAX;
		same = search_ask(one, &x, 1) == search_ask(other, &y, 1) && x == y;
		if (same && x != UINT64_MAX) {
			tell(one, land, x, prices[0]);
			tell(other, land, y, prices[1]);
		}
	}
	search_free(one);
	search_free(other);
	return same;
}

/* The number of seeds whose sequences are equal. */
static int same_count(const struct land *land, const char *strategy, const double budgets[2],
                      cost_model *const prices[2]) {
	int same = 0;
	for (uint64_t seed = 0; seed < SEEDS; seed++)
		same += same_sequence(land, strategy, seed, budgets, prices);
	return same;
}

static void test_sequences(const struct land *land) {
	static const double none[2] = {0, 0}, one[2] = {BUDGET, 0}, both[2] = {BUDGET, BUDGET};
	static const char *const models[] = {"auto", "bayes"};
	for (size_t i = 0; i < 2; i++) {
		ok(same_count(land, models[i], none, (cost_model *[]){by_kind, untold}) == SEEDS,
		   "%s: with a budget of evaluations costs do not matter", models[i]);
		ok(same_count(land, models[i], one, (cost_model *[]){alike, alike}) == SEEDS, "%s: equal costs change nothing",
		   models[i]);
		ok(same_count(land, models[i], both, (cost_model *[]){by_kind, by_kind}) == SEEDS,
		   "%s: the same seed gives the same sequence", models[i]);
		ok(same_count(land, models[i], both, (cost_model *[]){by_kind, untold}) < SEEDS, "%s: different costs do",
		   models[i]);
	}
}

/* A predictor that was told some costs, in an arbitrary order. */
static struct cost *told(struct arena *arena, const struct land *land, const struct coding *coding, cost_model *price) {
	struct strategy_task task = {.space = land->space, .arena = arena, .seconds = 1e9};
	struct cost *cost = cost_new(&task, coding);
	int config[SPACE_PARAMS_MAX];
	for (uint64_t i = 0; i < TOLD; i++) {
		uint64_t index = i * 37 % land->valid;
		space_config(land->space, index, config);
		cost_report(cost, index, &(struct strategy_outcome){.seconds = price(config, index)});
	}
	return cost;
}

static double predict_kind(const struct cost *cost, const struct coding *coding, int kind) {
	uint16_t codes[GP_DIMS_MAX];
	int config[] = {3, 3, kind};
	coding_config(coding, config, codes);
	return cost_predict(cost, codes);
}

static void test_learned(const struct land *land) {
	struct arena *arena = arena_new();
	const struct coding *coding = coding_new(arena, land->space, 0);
	struct cost *cost = told(arena, land, coding, by_kind);
	double apart = predict_kind(cost, coding, KINDS - 1) - predict_kind(cost, coding, 0);
	ok(fabs(apart - log(DEAR)) < 0.2 * log(DEAR), "kinds are distinguished by their cost: %.1f times", exp(apart));
	ok(cost_power(cost) > 0.8 && cost_power(cost) <= 1, "the prediction of costs is trusted: %.2f", cost_power(cost));
	ok(cost_power(told(arena, land, coding, alike)) == 0, "equal costs are ignored");
	ok(cost_power(told(arena, land, coding, untold)) == 0, "costs that nobody tells are ignored");
	double power = cost_power(told(arena, land, coding, erratic));
	ok(power < 0.1, "an unpredictable cost hardly counts: %.2f", power);
	cost_report(cost, 0, &(struct strategy_outcome){.seconds = 2e9});
	ok(cost_power(cost) == 0, "costs do not count when the budget is spent");
	arena_free(arena);
}

/* The kind matters only for the build, the rest takes a second. */
static struct cost *told_builds(struct arena *arena, const struct land *land, const struct coding *coding,
                                size_t builders, double stop) {
	struct strategy_task task = {.space = land->space, .arena = arena, .seconds = 1e9, .builders = builders};
	struct cost *cost = cost_new(&task, coding);
	int config[SPACE_PARAMS_MAX];
	for (uint64_t i = 0; i < TOLD; i++) {
		uint64_t index = i * 37 % land->valid;
		space_config(land->space, index, config);
		double build = config[2] == KINDS - 1 ? DEAR : 1;
		struct strategy_outcome outcome = {.result = STRATEGY_VALUE, .value = 1, .build = build, .seconds = build + 1};
		if (build > stop)
			outcome =
				(struct strategy_outcome){.build = stop, .seconds = stop, .given_up = true, .result = STRATEGY_FAILURE};
		cost_report(cost, index, &outcome);
	}
	return cost;
}

static void test_builds(const struct land *land) {
	struct arena *arena = arena_new();
	const struct coding *coding = coding_new(arena, land->space, 0);
	double few = 0, many = 0, stopped = 0, all = 0;
	uint16_t codes[GP_DIMS_MAX];
	struct cost *one = told_builds(arena, land, coding, 1, INFINITY),
				*sixteen = told_builds(arena, land, coding, 16, INFINITY);
	struct cost *given_up = told_builds(arena, land, coding, 1, 6);
	few = predict_kind(one, coding, KINDS - 1) - predict_kind(one, coding, 0);
	many = predict_kind(sixteen, coding, KINDS - 1) - predict_kind(sixteen, coding, 0);
	ok(fabs(few - log((DEAR + 1) / 2)) < 0.25 * few, "builds are distinguished by their seconds: %.1f times", exp(few));
	ok(many < 0.5 * few && many > 0, "seconds of builds matter less with 16 builders: %.1f times", exp(many));
	stopped = predict_kind(given_up, coding, KINDS - 1) - predict_kind(given_up, coding, 0);
	ok(stopped > log(3.5), "builds that were stopped after 6 s count as longer ones: %.1f times", exp(stopped));
	coding_config(coding, (int[]){3, 3, KINDS - 1}, codes);
	all = cost_share(one, 0.1, codes);
	ok(all < 0.01 && cost_share(one, 0, codes) == 1,
	   "a build that takes over 10 times a typical one is put last: %.4f of its gain is left", all);
	coding_config(coding, (int[]){3, 3, 0}, codes);
	ok(cost_share(one, 0.1, codes) > 0.5, "a build that takes no longer than others is not put last");
	arena_free(arena);
}

static void test_no_budget(const struct land *land) {
	struct arena *arena = arena_new();
	struct strategy_task task = {.space = land->space, .arena = arena, .budget = 100};
	struct cost *none = cost_new(&task, coding_new(arena, land->space, 0));
	cost_report(none, 0, &(struct strategy_outcome){.seconds = 1});
	ok(!none && cost_power(none) == 0, "there is nothing to learn without a budget in seconds");
	arena_free(arena);
}

int main(void) {
	struct land *land = land_kinds();
	ok(land->valid == SIDE * SIDE * KINDS, "a landscape of %llu", (unsigned long long)land->valid);
	test_learned(land);
	test_builds(land);
	test_no_budget(land);
	test_cheap_first(land);
	test_sequences(land);
	land_free(land);
	return tap_done();
}
