/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests the model of a search with earlier searches as sources. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "tests/tuner/search/land.h"
#include "tests/tuner/surrogate/watched.h"

/* All candidates at once in single precision must agree with each of them alone. */
static bool codes_agree(const struct surrogate *surrogate) {
	size_t dim = surrogate->dims - surrogate->prior.source_count;
	for (size_t c = 0; c < surrogate->pool.count; c++) {
		const uint16_t *codes = surrogate->pool.codes + c * surrogate->dims;
		for (size_t s = 0; s < surrogate->prior.source_count; s++)
			if (abs(codes[dim + s] - source_model_code(surrogate->prior.source[s], codes, surrogate->pool.index[c])) >
			    1)
				return false;
	}
	return true;
}

static void source_followed(void) {
	struct land *land = land_bowl();
	enum { COUNT = 300 };
	struct strategy_outcome outcome[COUNT];
	uint64_t index[COUNT], next = 0;
	struct rng rng;
	rng_seed(&rng, 6);
	for (size_t i = 0; i < COUNT; i++) {
		index[i] = space_sample(land->space, &rng);
		outcome[i] = (struct strategy_outcome){.result = STRATEGY_VALUE, .value = 3 * land->time[index[i]]};
	}
	const struct strategy_source source = {.name = "a", .count = COUNT, .index = index, .outcome = outcome};
	struct search *search = watched_begin(land->space, &source, 1);
	bool agree = true;
	double best = INFINITY;
	for (int i = 0; i < 8 && search_ask(search, &next, 1); i++) {
		watched_answer(search, next, land->time[next]);
		best = fmin(best, land->time[next]);
		agree &= codes_agree(watch.surrogate);
	}
	ok(agree, "a source predicts the same for all candidates and for each");
	ok(best <= 1.35 * land->time[land->best], "the best of an earlier search is near the best here (%.3f)", best);
	search_free(search);
	land_free(land);
}

/* The codes follow the values that the source knows, without a model of it. */
static void whole_known(void) {
	struct land *land = land_bowl();
	struct strategy_outcome *outcome = calloc(land->valid, sizeof *outcome);
	uint64_t *index = calloc(land->valid, sizeof *index), next;
	for (uint64_t i = 0; i < land->valid; i++) {
		index[i] = i;
		outcome[i] = (struct strategy_outcome){.result = STRATEGY_VALUE, .value = 3 * land->time[i]};
	}
	const struct strategy_source source = {.name = "a", .count = land->valid, .index = index, .outcome = outcome};
	struct search *search = watched_begin(land->space, &source, 1);
	bool asked = search_ask(search, &next, 1), ordered = next == land->best;
	const struct pool *pool = &watch.surrogate->pool;
	size_t dims = watch.surrogate->dims, steps = 0;
	for (size_t c = 1; c < pool->count; c++) {
		uint16_t code = pool->codes[c * dims + dims - 1], before = pool->codes[(c - 1) * dims + dims - 1];
		bool slower = land->time[pool->index[c]] > land->time[pool->index[c - 1]];
		ordered &= code == before || (code > before) == slower;
		steps += code != before;
	}
	ok(asked && ordered && codes_agree(watch.surrogate) && steps > pool->count / 2,
	   "a source that knows the whole space is believed to the letter");
	search_free(search);
	free(outcome);
	free(index);
	land_free(land);
}

static void sources(void) {
	static const double values[] = {1, INFINITY, 0, -1, NAN, 2, 1e308, 1e-308, 3, 4, 5, 6};
	enum { COUNT = sizeof values / sizeof *values };
	struct strategy_outcome outcome[COUNT];
	uint64_t index[COUNT], twins[COUNT] = {0}, next;
	for (size_t i = 0; i < COUNT; i++) {
		outcome[i] = (struct strategy_outcome){.result = STRATEGY_VALUE, .value = values[i]};
		index[i] = i == 8 ? UINT64_MAX : i / 2;
	}
	const struct strategy_source list[] = {{.name = "a", .count = COUNT, .index = index, .outcome = outcome},
	                                       {.name = "b", .count = 0},
	                                       {.name = "c", .count = COUNT, .index = twins, .outcome = outcome}};
	struct land *lands[] = {land_separable(), land_single(), land_two(), land_conditional()};
	for (size_t l = 0; l < sizeof lands / sizeof *lands; l++) {
		struct search *search = watched_begin(lands[l]->space, list, 3);
		bool taken = watch.surrogate->prior.source_count > 0;
		search_tell_value(search, 0, STRATEGY_VALUE, 2);
		uint64_t count = 1;
		for (; count < 40 && search_ask(search, &next, 1); count++)
			watched_answer(search, next, lands[l]->time[next]);
		ok(taken && watch.fresh && watch.finite && count == (lands[l]->valid < 40 ? lands[l]->valid : 40),
		   "sources with duplicates, extremes and invalid numbers do no harm (%zu)", l);
		search_free(search);
		land_free(lands[l]);
	}
}

enum { KNOWN = 200, COLD = 30, INFORMED = 50, FEW = 20 };

struct known {
	uint64_t index[KNOWN];
	struct strategy_outcome outcome[KNOWN];
};

/* Every source has its own scale; in a bad one, whatever is fast here is slow. */
static struct strategy_source known_fill(struct known *known, const struct land *land, uint64_t seed, bool bad) {
	struct rng rng;
	rng_seed(&rng, seed);
	for (size_t i = 0; i < KNOWN; i++) {
		uint64_t index = space_sample(land->space, &rng);
		double value = bad ? 1 / land->time[index] : land->time[index];
		known->index[i] = index;
		known->outcome[i] = (struct strategy_outcome){.result = STRATEGY_VALUE, .value = (double)seed * value};
	}
	return (struct strategy_source){.name = "s", .count = KNOWN, .index = known->index, .outcome = known->outcome};
}

static size_t steps_of(const struct land *land, const struct strategy_task *task, uint64_t *out, size_t most) {
	struct search *search = search_new(strategy_find("auto"), task, NULL);
	size_t count = 0;
	for (; count < most && search_ask(search, &out[count], 1); count++)
		search_tell_value(search, out[count], STRATEGY_VALUE, land->time[out[count]]);
	search_free(search);
	return count;
}

static size_t steps(const struct land *land, const struct strategy_source *list, size_t sources, uint64_t *out,
                    size_t most) {
	struct strategy_task task = {
		.space = land->space, .seed = 3, .start = UINT64_MAX, .budget = 60, .sources = list, .source_count = sources};
	return steps_of(land, &task, out, most);
}

static void order_ignored(void) {
	struct land *land = land_bowl();
	struct known known[3];
	struct strategy_source a = known_fill(&known[0], land, 1, false), b = known_fill(&known[1], land, 2, true),
						   c = known_fill(&known[2], land, 3, false);
	const struct strategy_source one[] = {a, b, c}, other[] = {c, b, a, b};
	uint64_t first[COLD], second[COLD];
	size_t count = steps(land, one, 3, first, COLD);
	bool same = steps(land, other, 4, second, COLD) == count && memcmp(first, second, count * sizeof *first) == 0;
	ok(count == COLD && same, "the order of sources does not matter, and twice the same one counts once");
	land_free(land);
}

/* The evaluations until the best is found. */
static size_t until_best(const struct land *land, const struct strategy_source *list, size_t sources) {
	uint64_t out[INFORMED];
	size_t count = steps(land, list, sources, out, INFORMED), at = 0;
	while (at < count && out[at] != land->best)
		at++;
	return at + 1;
}

static void bad_survived(void) {
	struct land *land = land_bowl();
	struct known known;
	struct strategy_source bad = known_fill(&known, land, 5, true);
	size_t alone = until_best(land, NULL, 0), with = until_best(land, &bad, 1);
	ok(alone <= COLD && with <= alone + FEW, "a source that is the wrong way round costs a few evaluations (%zu, %zu)",
	   with, alone);
	land_free(land);
}

/* A search that may only know the lengths takes other steps, from where its model begins. */
static void lengths_expected(void) {
	const double lengths[] = {0.2, 5, 5, 5};
	struct land *land = land_bowl();
	struct strategy_task task = {.space = land->space, .seed = 3, .start = UINT64_MAX, .budget = 60};
	uint64_t usual[COLD], expected[COLD];
	size_t count = steps_of(land, &task, usual, COLD), same = 0;
	task.lengths = lengths;
	task.length_count = sizeof lengths / sizeof *lengths;
	bool whole = steps_of(land, &task, expected, COLD) == count && count == COLD;
	while (same < count && usual[same] == expected[same])
		same++;
	ok(whole && same >= WATCHED_FIRST && same < count, "lengths from elsewhere change what the model proposes (%zu)",
	   same);
	land_free(land);
}

/* In the source, one parameter decides. */
static void lengths_told(void) {
	struct land *land = land_bowl();
	struct known known;
	struct strategy_source source = known_fill(&known, land, 1, false);
	for (size_t i = 0; i < KNOWN; i++) {
		int config[SPACE_PARAMS_MAX];
		space_config(land->space, known.index[i], config);
		known.outcome[i].value = 1 + config[2] % 3 * 0.3;
	}
	struct search *search = watched_begin(land->space, &source, 1);
	size_t count = 0;
	const double *lengths = surrogate_lengths(watch.surrogate, &count);
	bool right = count >= 4;
	for (size_t d = 0; right && d < 4; d++)
		right &= d == 2 || lengths[d] > 1.5 * lengths[2];
	ok(right, "a source tells which parameter matters (%.2f, %.2f)", right ? lengths[2] : NAN,
	   right ? lengths[0] : NAN);
	search_free(search);
	land_free(land);
}

static void useless_ignored(void) {
	struct land *land = land_bowl();
	const struct strategy_source empty = {.name = "empty"};
	uint64_t cold[COLD], informed[COLD];
	size_t alone = steps(land, NULL, 0, cold, COLD), all = steps(land, &empty, 1, informed, COLD);
	ok(alone == all && memcmp(cold, informed, all * sizeof *cold) == 0, "a source without results changes nothing");
	land_free(land);
}

/* A search with a good source begins with what was fast there; by chance, hundreds of evaluations would find one of
 * these. One of the first may test whether the source is right at all. */
static void no_random_start(void) {
	enum { FIRST = 4, BEST = 8 };
	struct land *land = land_bowl();
	struct known known;
	struct strategy_source good = known_fill(&known, land, 4, false);
	uint64_t asked[FIRST];
	size_t count = steps(land, &good, 1, asked, FIRST), found = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t better = 0;
		for (uint64_t j = 0; j < land->valid; j++)
			better += land->time[j] < land->time[asked[i]];
		found += better < BEST;
	}
	ok(found >= FIRST - 1, "a search with a good source begins with what was fast there (%zu of %d)", found, FIRST);
	land_free(land);
}

int main(void) {
	no_random_start();
	order_ignored();
	bad_survived();
	useless_ignored();
	lengths_expected();
	lengths_told();
	source_followed();
	whole_known();
	sources();
	return tap_done();
}
