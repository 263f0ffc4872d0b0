/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The model of searches inside one process: a fit of 500 observations, and a proposal after each of some 80 more in a
 * space of 10^4 configurations of 8 parameters. Name, value, unit and limit of each figure, a line each. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "tests/tuner/space/help.h"
#include "tuner/model/gp/gp.h"
#include "tuner/search/search.h"

enum { DIMS = 8, OBSERVED = 500, PROPOSALS = 81, ROUNDS = 5, STEPS = 14 };
static const int VALUES[DIMS] = {4, 4, 4, 4, 2, 2, 2, 5};

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void say(const char *name, const char *what, double seconds, double limit_ms) {
	printf("%s: %s\t%.6g\tms\t%g\n", name, what, 1e3 * seconds, limit_ms);
	fflush(stdout);
}

static struct space *ten_thousand(void) {
	struct space *space = space_new();
	char name[] = "a", values[] = "1..4";
	for (int p = 0; p < DIMS; p++, name[0]++) {
		values[3] = (char)('0' + VALUES[p]);
		add_param(space, name, values, NULL);
	}
	return built(space);
}

static double time_of(const int *config, struct rng *rng) {
	double sum = 0.02 * rng_normal(rng);
	for (int p = 0; p < DIMS; p++)
		sum += 0.2 * fabs(config[p] - 0.3 * p) + 0.15 * abs(config[p] - config[(p + 1) % DIMS]);
	return exp(sum);
}

/* All that a fit needs, from scratch. */
static double fit_once(const struct space *space, uint64_t seed) {
	double at[5][8], target[OBSERVED];
	struct gp_dim dims[DIMS];
	struct rng rng;
	rng_seed(&rng, seed);
	for (size_t d = 0; d < DIMS; d++) {
		for (int v = 0; v < VALUES[d]; v++)
			at[VALUES[d] - 1][v] = (double)v / (VALUES[d] - 1);
		dims[d] = (struct gp_dim){.values = (size_t)VALUES[d], .at = at[VALUES[d] - 1], .length = 1};
	}
	struct gp *gp = gp_new(dims, DIMS);
	for (size_t i = 0; i < OBSERVED; i++) {
		int config[SPACE_PARAMS_MAX];
		uint16_t codes[DIMS];
		space_config(space, space_sample(space, &rng), config);
		for (size_t d = 0; d < DIMS; d++)
			codes[d] = (uint16_t)config[d];
		gp_add(gp, codes, 0);
		target[i] = log(time_of(config, &rng));
	}
	gp_target(gp, target);
	double begun = now();
	gp_fit(gp, STEPS);
	gp_condition(gp);
	double spent = now() - begun;
	gp_free(gp);
	return spent;
}

static void say_fit(const struct space *space) {
	double least = INFINITY;
	for (uint64_t round = 0; round < ROUNDS; round++)
		least = fmin(least, fit_once(space, 1 + round));
	say("model", "fit of 500 observations", least, 1000);
}

static void answer(struct search *search, const struct space *space, uint64_t index, bool fails, struct rng *rng) {
	int config[SPACE_PARAMS_MAX];
	space_config(space, index, config);
	if (fails && config[0] + config[5] == 4)
		search_tell_value(search, index, STRATEGY_FAILURE, 0);
	else
		search_tell_value(search, index, STRATEGY_VALUE, time_of(config, rng));
}

/* `ahead` proposals are on their way all the time. */
static void say_proposals(const struct space *space, const char *name, size_t ahead, bool fails, double limit_ms) {
	double spent[PROPOSALS];
	uint64_t flying[16] = {0};
	char what[96];
	struct rng rng;
	struct err err = {0};
	rng_seed(&rng, 7);
	struct search *search =
		search_new(strategy_find(name),
	               &(struct strategy_task){.space = space, .seed = 1, .start = UINT64_MAX, .budget = 1000}, &err);
	if (!search)
		exit(1);
	for (int i = 0; i < OBSERVED; i++)
		answer(search, space, history_unseen(search_history(search), space, &rng), fails, &rng);
	for (size_t i = 0; i < PROPOSALS + 4 + ahead; i++) {
		double begun = now();
		if (search_ask(search, &flying[i % (ahead + 1)], 1) == 0)
			exit(1);
		if (i >= 4 + ahead) /* models are made at the first, and begin with what was drawn before */
			spent[i - 4 - ahead] = now() - begun;
		if (i >= ahead)
			answer(search, space, flying[(i + 1) % (ahead + 1)], fails, &rng);
	}
	qsort(spent, PROPOSALS, sizeof *spent, by_value);
	int used = snprintf(what, sizeof what, "a proposal%s", fails ? ", where some fail" : "");
	if (ahead)
		snprintf(what + used, sizeof what - (size_t)used, ", %zu on their way", ahead);
	say(name, what, spent[PROPOSALS / 2], limit_ms);
	search_free(search);
}

int main(void) {
	struct space *space = ten_thousand();
	say_fit(space);
	say_proposals(space, "bayes", 0, false, 50);
	say_proposals(space, "bayes", 8, false, 50);
	say_proposals(space, "bayes", 0, true, 50);
	say_proposals(space, "auto", 0, false, 10);
	say_proposals(space, "auto", 0, true, 10);
	space_free(space);
	return 0;
}
