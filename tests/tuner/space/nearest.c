/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests that any wish leads to configurations that are valid and near. */
#include <math.h>

#include "tests/tap.h"
#include "tests/tuner/space/help.h"
#include "tuner/space/space.h"

enum { SAMPLES = 2000 };

static void wish_of(const struct space *space, uint64_t index, double *wish) {
	int config[SPACE_PARAMS_MAX];
	space_config(space, index, config);
	for (size_t p = 0; p < space_params(space); p++)
		wish[p] = config[p] == SPACE_ABSENT ? NAN : config[p];
}

/* A valid configuration is the nearest to itself. */
static void itself(const struct space *space, const char *name, struct rng *rng) {
	double wish[SPACE_PARAMS_MAX];
	size_t wrong = 0;
	for (int i = 0; i < SAMPLES; i++) {
		uint64_t index = space_sample(space, rng), found = UINT64_MAX;
		wish_of(space, index, wish);
		size_t count = space_nearest(space, wish, &found, 1);
		wrong += count != 1 || found != index;
	}
	ok(wrong == 0, "%s: the nearest to a valid configuration is that one (%zu)", name, wrong);
}

static double strange(struct rng *rng, size_t values) {
	switch (rng_below(rng, 8)) {
	case 0:
		return NAN;
	case 1:
		return -INFINITY;
	case 2:
		return INFINITY;
	case 3:
		return 1e300;
	default:
		return (rng_unit(rng) * 2 - 0.5) * (double)values;
	}
}

static void anything(const struct space *space, const char *name, struct rng *rng) {
	double wish[SPACE_PARAMS_MAX];
	size_t bad = 0, twins = 0;
	for (int i = 0; i < SAMPLES; i++) {
		uint64_t near[SPACE_NEAREST_MAX];
		size_t max = 1 + rng_below(rng, SPACE_NEAREST_MAX);
		for (size_t p = 0; p < space_params(space); p++)
			wish[p] = strange(rng, space_param_values(space, p));
		size_t count = space_nearest(space, wish, near, max);
		bad += count == 0 || count > max;
		for (size_t a = 0; a < count; a++) {
			bad += near[a] >= space_valid(space);
			for (size_t b = 0; b < a; b++)
				twins += near[a] == near[b];
		}
	}
	ok(bad == 0 && twins == 0, "%s: any wish leads to valid configurations without duplicates (%zu, %zu)", name, bad,
	   twins);
}

static size_t changes(const struct space *space, uint64_t index, const double *wish) {
	int config[SPACE_PARAMS_MAX];
	size_t count = 0;
	space_config(space, index, config);
	for (size_t p = 0; p < space_params(space); p++)
		count += config[p] != SPACE_ABSENT && !isnan(wish[p]) && config[p] != (int)wish[p];
	return count;
}

static size_t fewest_changes(const struct space *space, const double *wish) {
	size_t fewest = SIZE_MAX;
	for (uint64_t i = 0; i < space_valid(space); i++) {
		size_t own = changes(space, i, wish);
		fewest = own < fewest ? own : fewest;
	}
	return fewest;
}

/* Wishes as crossover makes them: each level from one of two parents. A beam may miss the nearest configuration, but
 * rarely. */
static void crossed(const struct space *space, const char *name, struct rng *rng) {
	enum { PAIRS = 200 };
	double mother[SPACE_PARAMS_MAX], father[SPACE_PARAMS_MAX];
	size_t more = 0;
	for (int i = 0; i < PAIRS; i++) {
		uint64_t found;
		wish_of(space, space_sample(space, rng), mother);
		wish_of(space, space_sample(space, rng), father);
		for (size_t p = 0; p < space_params(space); p++)
			if (rng_below(rng, 2))
				mother[p] = father[p];
		space_nearest(space, mother, &found, 1);
		more += changes(space, found, mother) > fewest_changes(space, mother);
	}
	ok(more <= PAIRS / 20, "%s: a child of two is repaired with the fewest changes (more in %zu of %d)", name, more,
	   PAIRS);
}

static void check(struct space *space, const char *name, bool small) {
	struct rng rng;
	rng_seed(&rng, 1);
	itself(space, name, &rng);
	anything(space, name, &rng);
	if (small)
		crossed(space, name, &rng);
	space_free(space);
}

static struct space *single_space(void) {
	struct space *space = space_new();
	add_param(space, "a", "1", NULL);
	return space;
}

static struct space *vast_space(void) {
	struct space *space = space_new();
	static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		add_param(space, names[i], "1..100", NULL);
	add_constraint(space, "a * b % 7 != 3");
	add_constraint(space, "c + d > e");
	return space;
}

int main(void) {
	check(built(single_space()), "one configuration", true);
	check(built(openmp_space()), "OpenMP", true);
	check(built(convolution_space()), "convolution", true);
	check(built(hotspot_space()), "hotspot", false);
	check(built(vast_space()), "10^12", false);
	return tap_done();
}
