/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs every strategy in a space that is too large to list: 10^12 configurations without the constraints, conditional
 * parameters, some 30 % failures, batches of 1 to 16 told in any order, late or never. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/tap.h"
#include "tests/tuner/space/help.h"
#include "tuner/search/search.h"

enum { PARAMS = 12, ASKED = 300, BATCH_MAX = 16, HINTS = 3 };

static struct space *large_space(void) {
	struct space *space = space_new();
	char name[] = "pa";
	for (int p = 0; p + 2 < PARAMS; p++, name[1]++)
		add_param(space, name, "1..12", NULL);
	add_param(space, "mode", "plain,tiled", NULL);
	add_param(space, "tile", "1..16*2", "mode == 'tiled'");
	add_constraint(space, "pa * pb <= 100");
	add_constraint(space, "pc % pd == 0 or pe > pf");
	add_constraint(space, "tile * pg <= 96");
	return built(space);
}

/* The constraints refer to values, which are one more than the level, except for the tile. */
static bool allowed(const int *config) {
	bool tiled = config[10] == 1;
	if ((config[0] + 1) * (config[1] + 1) > 100 || tiled != (config[11] != SPACE_ABSENT))
		return false;
	if ((config[2] + 1) % (config[3] + 1) != 0 && config[4] <= config[5])
		return false;
	return !tiled || (1 << config[11]) * (config[6] + 1) <= 96;
}

struct run {
	const struct space *space;
	struct search *search;
	struct rng rng;
	uint64_t asked[ASKED + BATCH_MAX], late[ASKED + BATCH_MAX];
	size_t count, late_count;
	bool honest;
};

static void answer(struct run *run, uint64_t index) {
	int config[SPACE_PARAMS_MAX];
	double sum = 0;
	space_config(run->space, index, config);
	for (int p = 0; p < PARAMS; p++)
		sum += config[p] == SPACE_ABSENT ? 0.3 : 0.05 * abs(config[p] - 3);
	if (index * 0x9E3779B97F4A7C15u >> 32 < 0.3 * 0x1p32)
		search_tell_value(run->search, index, STRATEGY_FAILURE, 0);
	else
		search_tell_value(run->search, index, STRATEGY_VALUE, exp(sum + 0.05 * rng_normal(&run->rng)));
}

static void check(struct run *run, size_t count) {
	int config[SPACE_PARAMS_MAX];
	run->honest &= count > 0 && count <= BATCH_MAX;
	for (size_t i = run->count; run->honest && i < run->count + count; i++) {
		run->honest &= run->asked[i] < space_valid(run->space);
		if (run->honest)
			space_config(run->space, run->asked[i], config);
		run->honest = run->honest && allowed(config);
		for (size_t j = 0; j < i; j++)
			run->honest &= run->asked[i] != run->asked[j];
	}
}

static struct run *play(const struct strategy *strategy, const struct space *space, uint64_t seed,
                        const uint64_t *hints) {
	struct run *run = mem_alloc(1, sizeof *run);
	struct err err = {0};
	*run = (struct run){.space = space, .honest = true};
	rng_split(&run->rng, seed, "large");
	run->search = search_new(strategy,
	                         &(struct strategy_task){.space = space,
	                                                 .seed = seed,
	                                                 .start = UINT64_MAX,
	                                                 .budget = ASKED,
	                                                 .hints = hints,
	                                                 .hint_count = hints ? HINTS : 0},
	                         &err);
	while (run->search && run->honest && run->count < ASKED) {
		size_t count = search_ask(run->search, run->asked + run->count, 1 + rng_below(&run->rng, BATCH_MAX));
		check(run, count);
		for (size_t i = 0; run->honest && i < count; i++)
			run->late[run->late_count++] = run->asked[run->count + i];
		run->count += count;
		rng_shuffle(&run->rng, run->late, run->late_count, sizeof *run->late);
		for (size_t keep = rng_below(&run->rng, 12); run->honest && run->late_count > keep;)
			if (rng_below(&run->rng, 10) > 0)
				answer(run, run->late[--run->late_count]);
			else
				run->late_count--;
	}
	run->honest &= run->search != NULL;
	search_free(run->search);
	run->search = NULL;
	return run;
}

static bool same(const struct run *a, const struct run *b) {
	return a->count == b->count && memcmp(a->asked, b->asked, a->count * sizeof *a->asked) == 0;
}

static bool uses(const struct run *run, uint64_t index) {
	for (size_t i = 0; i < 2 * BATCH_MAX && i < run->count; i++)
		if (run->asked[i] == index)
			return true;
	return false;
}

static void follows_hints(const struct strategy *strategy, const struct space *space) {
	uint64_t valid = space_valid(space), hints[HINTS] = {valid / 3, valid / 2, UINT64_MAX};
	struct run *run = play(strategy, space, 1, hints);
	ok(run->honest && uses(run, hints[0]) && uses(run, hints[1]), "%s starts with the machine's hints", strategy->name);
	free(run);
}

int main(void) {
	static const char *const hinted[] = {"ils", "annealing", "genetic"};
	struct space *space = large_space();
	ok(space_cartesian(space) >= 5e11 && space_valid(space) > UINT64_C(10000000000), "the space is large");
	for (const struct strategy *const *s = strategy_registry; *s; s++) {
		struct run *a = play(*s, space, 1, NULL), *b = play(*s, space, 1, NULL);
		ok(a->honest && a->count >= ASKED, "%s: as many valid configurations as requested, without duplicates",
		   (*s)->name);
		ok(same(a, b), "%s: the same seed gives the same sequence", (*s)->name);
		free(a);
		free(b);
	}
	for (size_t i = 0; i < sizeof hinted / sizeof *hinted; i++)
		follows_hints(strategy_find(hinted[i]), space);
	space_free(space);
	return tap_done();
}
