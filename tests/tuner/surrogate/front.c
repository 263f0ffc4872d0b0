/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests searches for the Pareto front of two objectives. */
#include "tuner/search/search.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/tap.h"
#include "tests/tuner/space/help.h"
#include "tuner/model/pareto.h"

enum { SEEDS = 9, BUDGET = 50, MOST = 1 << 17 };
static const double BEHIND = 4; /* the reference of volumes, in both objectives */

/* Few threads take less energy, many are faster; blocks and a variant must fit both. Every seventh block fails. */
static bool values_of(const struct space *space, uint64_t index, double value[2]) {
	int c[SPACE_PARAMS_MAX];
	space_config(space, index, c);
	double x = c[0] / 31.0, y = c[1] / 23.0, off = fabs(y - .3 - .4 * x) + .2 * (c[2] != 1);
	value[0] = exp(1.2 * (1 - x) + off);
	value[1] = exp(1.2 * x * x + off);
	return c[1] % 7 != 5;
}

static struct space *space_of(const char *more) {
	struct space *space = space_new();
	add_param(space, "threads", "1..32", NULL);
	add_param(space, "block", "1..24", NULL);
	add_param(space, "how", "plain,tiled,mixed", NULL);
	if (more)
		add_param(space, "pad", more, NULL);
	return built(space);
}

/* The area below the reference that the points dominate, as logarithms. */
static double volume(const double (*points)[2], size_t count) {
	mem_auto size_t *front = mem_alloc(count + 1, sizeof *front);
	size_t kept = (size_t)pareto_front(points, count, front);
	double sum = 0, top = log(BEHIND);
	for (size_t i = 0; i < kept; i++) {
		double x = log(points[front[i]][0]), y = log(points[front[i]][1]);
		if (x < log(BEHIND) && y < top) {
			sum += (log(BEHIND) - x) * (top - y);
			top = y;
		}
	}
	return sum;
}

static double most_of(const struct space *space) {
	double(*points)[2] = mem_alloc(MOST, sizeof *points);
	size_t count = 0;
	for (uint64_t i = 0; i < space_valid(space); i++)
		count += values_of(space, i, points[count]);
	double all = volume((const double(*)[2])points, count);
	free(points);
	return all;
}

/* `late`: results of four at a time, the last one first. */
static double reached(const struct space *space, const char *strategy, bool two, bool late, uint64_t seed) {
	const struct strategy_task task = {.space = space, .seed = seed, .start = UINT64_MAX, .budget = BUDGET, .two = two};
	struct search *search = search_new(strategy_find(strategy), &task, NULL);
	double points[BUDGET][2];
	size_t count = 0;
	for (size_t done = 0; done < BUDGET;) {
		uint64_t asked[4];
		size_t got = search_ask(search, asked, late ? 4 : 1);
		for (size_t i = got; i-- > 0 && done < BUDGET; done++) {
			bool works = values_of(space, asked[i], points[count]);
			const struct strategy_outcome outcome = {.result = works ? STRATEGY_VALUE : STRATEGY_FAILURE,
			                                         .value = points[count][0],
			                                         .second = points[count][1]};
			search_tell(search, asked[i], &outcome);
			count += works;
		}
		if (!got)
			break;
	}
	search_free(search);
	return volume((const double(*)[2])points, count);
}

static int by_size(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(const struct space *space, const char *strategy, bool two, bool late) {
	double found[SEEDS], all = most_of(space);
	for (int i = 0; i < SEEDS; i++)
		found[i] = reached(space, strategy, two, late, (uint64_t)i + 1) / all;
	qsort(found, SEEDS, sizeof *found, by_size);
	return found[SEEDS / 2];
}

int main(void) {
	struct space *small = space_of(NULL), *large = space_of("1..30");
	double random = median(small, "random", true, false), one = median(small, "auto", false, false);
	double two = median(small, "auto", true, false), late = median(small, "auto", true, true);
	ok(two > .93 && late > .88, "a search for the front dominates %.3f of what can be, in batches %.3f", two, late);
	ok(1 - two < .5 * (1 - one) && 1 - two < .5 * (1 - random),
	   "a search for the front misses less than half of what others miss, of one objective %.3f and at random %.3f",
	   one, random);
	double bayes = median(small, "bayes", true, false);
	ok(bayes > .9, "`bayes` searches for the front as well (%.3f)", bayes);
	two = median(large, "auto", true, false), random = median(large, "random", true, false);
	ok(1 - two < .5 * (1 - random),
	   "a search for the front works where candidates are drawn (%.3f, random search %.3f)", two, random);
	ok(reached(small, "auto", true, false, 5) == reached(small, "auto", true, false, 5),
	   "the same seed gives the same front");
	space_free(small);
	space_free(large);
	return tap_done();
}
