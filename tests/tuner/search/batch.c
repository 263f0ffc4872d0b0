/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks strategies for many configurations at a time, as several nodes do: they must not give duplicates or invalid
 * ones, even if results come late or out of order; and a search that decides on eight at a time must not need many more
 * evaluations than one that sees each result first. SWEETSPOT_BATCH_TABLE=1 prints the table of all landscapes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/stats.h"
#include "tests/tap.h"
#include "tests/tuner/search/land.h"
#include "tuner/search/search.h"

enum { BATCH_MAX = 64, BATCH = 8, SEEDS = 7, BOUND = 600 };
static const double NEAR = 1.05;

static void answer(struct search *search, const struct land *land, uint64_t index) {
	if (isinf(land->time[index]))
		search_tell_value(search, index, STRATEGY_FAILURE, 0);
	else
		search_tell_value(search, index, STRATEGY_VALUE, land->time[index]);
}

static struct search *begin(const struct strategy *strategy, const struct land *land, uint64_t seed) {
	struct err err = {0};
	const struct strategy_task task = {.space = land->space, .seed = seed, .start = land->start, .budget = BOUND};
	struct search *search = search_new(strategy, &task, &err);
	if (search)
		answer(search, land, land->start);
	return search;
}

struct conduct {
	bool honest;  /* only valid configurations, no duplicates, none that was told */
	bool filled;  /* every call gave some while any were left */
	size_t asked; /* without the baseline */
};

/* Batches of `batch`, told in random order; as many as a batch are told one batch too late, and one in ten never. */
static struct conduct conduct_of(const struct strategy *strategy, const struct land *land, size_t batch,
                                 uint64_t most) {
	struct conduct conduct = {true, true, 0};
	struct search *search = begin(strategy, land, 3);
	bool *seen = mem_alloc(land->valid, sizeof *seen);
	uint64_t asked[BATCH_MAX], *late = mem_alloc(land->valid + BATCH_MAX, sizeof *late);
	size_t late_count = 0;
	struct rng rng;
	rng_seed(&rng, batch);
	seen[land->start] = true;
	while (conduct.honest && conduct.asked < most) {
		size_t count = search_ask(search, asked, batch);
		conduct.filled &= count > 0 || conduct.asked + 1 == land->valid;
		conduct.honest &= count <= batch;
		if (count == 0)
			break;
		for (size_t i = 0; i < count && conduct.honest; i++) {
			conduct.honest = asked[i] < land->valid && !seen[asked[i]];
			if (conduct.honest)
				seen[asked[i]] = true;
			late[late_count++] = asked[i];
		}
		conduct.asked += count;
		rng_shuffle(&rng, late, late_count, sizeof *late);
		for (size_t keep = rng_below(&rng, batch + 1); conduct.honest && late_count > keep;)
			if (rng_below(&rng, 10) > 0 || batch == 1)
				answer(search, land, late[--late_count]);
			else
				late_count--;
	}
	search_free(search);
	free(seen);
	free(late);
	return conduct;
}

static void conducts(const struct land *land, const char *name, uint64_t most) {
	static const size_t batches[] = {1, 4, 16, 64};
	uint64_t want = most < land->valid - 1 ? most : land->valid - 1;
	for (const struct strategy *const *s = strategy_registry; *s; s++)
		for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
			struct conduct conduct = conduct_of(*s, land, batches[b], most);
			ok(conduct.honest && conduct.filled && conduct.asked >= want,
			   "%s on %s, batches of %zu: %zu without duplicates", (*s)->name, name, batches[b], conduct.asked);
		}
}

/* The number of evaluations until one is within NEAR of the best; BOUND: it took more. Either whole batches at a time,
 * or a new request after each result, with `batch` outstanding. */
static double evaluations(const struct strategy *strategy, const struct land *land, size_t batch, bool whole,
                          uint64_t seed) {
	struct search *search = begin(strategy, land, seed);
	uint64_t asked[BATCH_MAX];
	size_t told = 0, flying = 0;
	bool found = land->time[land->start] <= NEAR * land->time[land->best];
	while (!found && told < BOUND) {
		if (flying == 0 || !whole)
			flying += search_ask(search, asked + flying, batch - flying);
		if (flying == 0)
			break;
		found = land->time[asked[0]] <= NEAR * land->time[land->best];
		answer(search, land, asked[0]);
		memmove(asked, asked + 1, --flying * sizeof *asked);
		told++;
	}
	search_free(search);
	return found ? fmax(1, (double)told) : BOUND;
}

static double median(const struct strategy *strategy, const struct land *land, size_t batch, bool whole) {
	double counts[SEEDS];
	for (uint64_t seed = 0; seed < SEEDS; seed++)
		counts[seed] = evaluations(strategy, land, batch, whole, seed);
	return stats_median(counts, SEEDS);
}

static struct land *fw(void) {
	return land_fw(3);
}

static struct land *gol(void) {
	return land_gol(4);
}

static struct land *mixed(void) {
	return land_mixed(5);
}

static struct land *mixed_too(void) {
	return land_mixed(8);
}

static const struct {
	const char *name;
	struct land *(*make)(void);
} lands[] = {{"separable", land_separable},
             {"bowl", land_bowl},
             {"interacting", land_interacting},
             {"conditional", land_conditional},
             {"failing", land_failing},
             {"fw", fw},
             {"gol", gol},
             {"mixed", mixed},
             {"mixed too", mixed_too}};
enum { LANDS = sizeof lands / sizeof *lands };

/* The geometric mean over the landscapes of evaluations with eight at a time over those one by one. */
static double price(const struct strategy *strategy, struct land *const *land, bool table) {
	double sum = 0, sum_of_window = 0;
	for (size_t i = 0; i < LANDS; i++) {
		double one = median(strategy, land[i], 1, true), whole = median(strategy, land[i], BATCH, true);
		sum += log(whole / one);
		if (!table)
			continue;
		double window = median(strategy, land[i], BATCH, false);
		sum_of_window += log(window / one);
		printf("# %-10s %-12s %5.0f one by one %5.0f in batches of %d %5.0f with %d on their way\n", strategy->name,
		       lands[i].name, one, whole, BATCH, window, BATCH);
	}
	if (table)
		printf("# %-10s %.2f in batches, %.2f on their way\n", strategy->name, exp(sum / LANDS),
		       exp(sum_of_window / LANDS));
	return exp(sum / LANDS);
}

static void prices(struct land *const *land) {
	static const char *const shown[] = {"auto", "bayes", "ils", "genetic", "random"};
	bool table = getenv("SWEETSPOT_BATCH_TABLE") != NULL;
	for (const struct strategy *const *s = strategy_registry; *s; s++) {
		bool wanted = table;
		for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
			wanted = wanted || strcmp((*s)->name, shown[i]) == 0;
		if (!wanted)
			continue;
		double eight = price(*s, land, table);
		ok(eight < 1.6, "%s: batches of 8 take %.2f times the evaluations to 5 %% off the best", (*s)->name, eight);
	}
}

int main(void) {
	struct land *land[LANDS];
	for (size_t i = 0; i < LANDS; i++)
		land[i] = lands[i].make();
	conducts(land[3], "conditional", UINT64_MAX);
	conducts(land[4], "failing", UINT64_MAX);
	conducts(land[7], "mixed", 300);
	prices(land);
	for (size_t i = 0; i < LANDS; i++)
		land_free(land[i]);
	return tap_done();
}
