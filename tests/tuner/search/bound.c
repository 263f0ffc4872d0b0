/* SPDX-License-Identifier: GPL-3.0-or-later */
/* If changing one parameter at a time leads to the optimum, every strategy that learns must find it long before random
 * does, and results that it was told before must save it evaluations. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/tap.h"
#include "tests/tuner/search/land.h"
#include "tuner/search/search.h"

enum { SEEDS = 9, BOUND = 400, NONE = BOUND + 1 };

static int by_count(const void *a, const void *b) {
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	return (x > y) - (x < y);
}

/* The number of evaluations until the optimum is found, NONE if it is over the bound; `told` is known before. */
static size_t evaluations(const struct strategy *strategy, const struct land *land, uint64_t seed, const uint64_t *told,
                          size_t told_count) {
	struct err err = {0};
	struct search *search =
		search_new(strategy, &(struct strategy_task){.space = land->space, .seed = seed, .start = UINT64_MAX}, &err);
	size_t count = 0;
	bool found = false;
	for (size_t i = 0; i < told_count; i++)
		search_tell_value(search, told[i], STRATEGY_VALUE, land->time[told[i]]);
	for (uint64_t index; !found && count < NONE && search_ask(search, &index, 1); count++) {
		search_tell_value(search, index, STRATEGY_VALUE, land->time[index]);
		found = index == land->best;
	}
	search_free(search);
	return found ? count : NONE;
}

static size_t median(const struct strategy *strategy, const struct land *land, const uint64_t *told,
                     size_t told_count) {
	size_t counts[SEEDS];
	for (uint64_t seed = 0; seed < SEEDS; seed++)
		counts[seed] = evaluations(strategy, land, seed, told, told_count);
	qsort(counts, SEEDS, sizeof *counts, by_count);
	return counts[SEEDS / 2];
}

static bool learns(const struct strategy *strategy) {
	return strcmp(strategy->name, "grid") != 0 && strcmp(strategy->name, "random") != 0;
}

/* Good configurations, none of them one step from the best. */
static size_t good_ones(const struct land *land, uint64_t *out, size_t want) {
	size_t count = 0;
	for (uint64_t i = 0; i < land->valid && count < want; i++)
		if (land->time[i] > 1.5 && land->time[i] < 1.7)
			out[count++] = i;
	return count;
}

/* A configuration may have too many neighbours to list. */
static void copes_with_wide(const char *name) {
	struct land *land = land_wide();
	size_t count = median(strategy_find(name), land, NULL, 0);
	if (!ok(count <= BOUND, "%s finds the best of 2000 values and of another parameter in %d", name, BOUND))
		printf("# %zu\n", count);
	land_free(land);
}

int main(void) {
	static const char *const walkers[] = {"ils", "annealing"};
	struct land *land = land_bowl();
	uint64_t told[4];
	size_t told_count = good_ones(land, told, 4);
	ok(median(strategy_find("random"), land, NULL, 0) == NONE, "random needs more than %d", BOUND);
	ok(told_count == 4, "there are results to start from");
	for (const struct strategy *const *s = strategy_registry; *s; s++) {
		if (!learns(*s))
			continue;
		size_t cold = median(*s, land, NULL, 0), warm = median(*s, land, told, told_count);
		bool good = ok(cold <= BOUND, "%s finds the optimum of a separable landscape in %d", (*s)->name, BOUND);
		good &= ok(warm <= cold + cold / 4, "%s is not slowed down by good results that it was told first", (*s)->name);
		if (!good)
			printf("# %zu and %zu\n", cold, warm);
	}
	land_free(land);
	for (size_t i = 0; i < sizeof walkers / sizeof *walkers; i++)
		copes_with_wide(walkers[i]);
	return tap_done();
}
