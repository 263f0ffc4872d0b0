/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/model/effects/effects.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tests/tap.h"

enum { PARAMS_MAX = 64, LEVELS_MAX = 10, ROWS_MAX = 2000, SEEDS = 100 };

/* True log effects, and the measurements of a search. */
struct play {
	size_t rows, params, levels[PARAMS_MAX];
	double truth[PARAMS_MAX][LEVELS_MAX];
	int *level;
	double *cost;
	struct effect effects[PARAMS_MAX];
	struct rng rng;
};

/* Every other parameter matters. */
static void play_begin(struct play *play, uint64_t seed, size_t rows, size_t params, size_t levels) {
	*play = (struct play){.rows = rows, .params = params};
	rng_seed(&play->rng, seed);
	play->level = mem_alloc(rows * params, sizeof *play->level);
	play->cost = mem_alloc(rows, sizeof *play->cost);
	for (size_t p = 0; p < params; p++) {
		play->levels[p] = levels;
		for (size_t l = 0; l < levels; l++)
			play->truth[p][l] = p % 2 ? 0 : 0.3 * rng_normal(&play->rng);
	}
	/* The first values are more frequent, as in a search. */
	for (size_t i = 0; i < rows * params; i++)
		play->level[i] = (int)(rng_below(&play->rng, 1 + rng_below(&play->rng, levels)));
}

static void play_measure(struct play *play, double noise, double outliers) {
	for (size_t row = 0; row < play->rows; row++) {
		double y = -5 + noise * rng_normal(&play->rng);
		for (size_t p = 0; p < play->params; p++) {
			int level = play->level[row * play->params + p];
			y += level == EFFECTS_ABSENT ? 0 : play->truth[p][level];
		}
		play->cost[row] = exp(y) * (rng_unit(&play->rng) < outliers ? 5 : 1);
	}
}

static int play_fit(struct play *play) {
	const struct effects_table data = {
		.rows = play->rows, .params = play->params, .levels = play->levels, .level = play->level, .cost = play->cost};
	return effects_fit(&data, play->effects);
}

static void play_end(struct play *play) {
	free(play->level);
	free(play->cost);
}

/* The true ratio over the values that were measured more than once. */
static double true_ratio(const struct play *play, size_t param) {
	double low = INFINITY, high = -INFINITY;
	size_t times[LEVELS_MAX] = {0};
	for (size_t row = 0; row < play->rows; row++) {
		int level = play->level[row * play->params + param];
		if (++times[level] < 2)
			continue;
		low = fmin(low, play->truth[param][level]);
		high = fmax(high, play->truth[param][level]);
	}
	return exp(high - low);
}

static bool holds(const struct effect *effect, double ratio) {
	return effect->known && effect->ci[0] <= ratio && ratio <= effect->ci[1];
}

static bool is_sane(const struct effect *effect) {
	return effect->known && effect->ratio >= 1 && effect->ci[0] >= 1 && effect->ci[0] <= effect->ratio * (1 + 1e-12) &&
	       effect->ratio <= effect->ci[1] * (1 + 1e-12) && effect->best != effect->worst && effect->best >= 0 &&
	       effect->worst >= 0 && effect->seen >= 2;
}

struct setting {
	const char *what;
	size_t rows, levels;
	double noise, outliers;
};

/* The intervals are 95 %; over these seeds chance may take a few more. */
static void test_truth(const struct setting *setting) {
	int held = 0, none_held = 0, sane = 0, total = 0;
	double bias = 0, none = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct play play;
		play_begin(&play, seed, setting->rows, 4, setting->levels);
		play_measure(&play, setting->noise, setting->outliers);
		if (play_fit(&play) == 0) {
			for (size_t p = 0; p < play.params; p++, total++) {
				double ratio = true_ratio(&play, p);
				sane += is_sane(&play.effects[p]);
				*(p % 2 ? &none_held : &held) += holds(&play.effects[p], ratio);
				*(p % 2 ? &none : &bias) += log(play.effects[p].ratio / ratio) / (2 * SEEDS);
			}
		}
		play_end(&play);
	}
	ok(total == 4 * SEEDS && sane == total, "%s: all effects are known and sane (%d of %d)", setting->what, sane,
	   total);
	ok(held >= 2 * SEEDS * 0.92, "%s: the interval contains the truth (%d of %d)", setting->what, held, 2 * SEEDS);
	ok(none_held >= 2 * SEEDS * 0.92, "%s: and 1 where there is no effect (%d)", setting->what, none_held);
	ok(fabs(bias) < 0.05 && exp(none) < 1.06, "%s: estimates are near (%.3f, none %.3f)", setting->what, bias,
	   exp(none));
}

/* Both ends must be named. */
static void test_ends(void) {
	struct play play;
	play_begin(&play, 7, 80, 2, 3);
	const double effects[] = {0.5, 0, 0.9};
	memcpy(play.truth[0], effects, sizeof effects);
	play_measure(&play, 0.02, 0);
	ok(play_fit(&play) == 0 && play.effects[0].best == 1 && play.effects[0].worst == 2 && play.effects[0].seen == 3,
	   "best and worst are those of the truth");
	ok(fabs(log(play.effects[0].ratio) - 0.9) < 0.05, "the ratio is of these two");
	double before = play.effects[0].ratio;
	for (size_t row = 0; row < play.rows; row++)
		play.cost[row] *= 1e6;
	ok(play_fit(&play) == 0 && fabs(play.effects[0].ratio - before) < 1e-6, "the unit of cost does not matter");
	play_end(&play);
}

static void test_outlier_alone(void) {
	int wrong = 0, ended = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct play play;
		play_begin(&play, seed, 60, 4, 5);
		for (size_t row = 0; row < play.rows; row++) /* one value is measured once, while the machine is disturbed */
			play.level[row * 4] = row == 17 ? 4 : play.level[row * 4] % 4;
		play_measure(&play, 0.03, 0);
		play.cost[17] *= 50;
		wrong += play_fit(&play) != 0 || play.effects[0].worst == 4 || play.effects[0].best == 4;
		ended += play.effects[0].seen == 5;
		play_end(&play);
	}
	ok(wrong == 0, "one disturbed row does not make a worst value");
	ok(ended == SEEDS, "the value counts as seen all the same");
}

static void test_once_each(void) {
	struct play play;
	play_begin(&play, 3, 8, 1, 8);
	for (size_t row = 0; row < 8; row++)
		play.level[row] = (int)row;
	play_measure(&play, 0.02, 0);
	ok(play_fit(&play) == -1 && !play.effects[0].known && play.effects[0].seen == 8,
	   "values that were measured once each, and nothing else: nothing is known");
	play_end(&play);
}

static void test_collinear(void) {
	int found = 0, others = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct play play;
		play_begin(&play, seed, seed % 2 ? 80 : 16, 4, 3);
		for (size_t row = 0; row < play.rows; row++)
			play.level[row * 4 + 2] = (play.level[row * 4] + 1) % 3;
		play_measure(&play, 0.02, 0);
		play_fit(&play);
		found += !play.effects[0].known && !play.effects[2].known;
		others += play.effects[1].known && play.effects[3].known;
		play_end(&play);
	}
	ok(found == SEEDS, "two parameters that always changed together cannot be told apart (%d)", found);
	ok(others >= SEEDS * 0.95, "the others can (%d)", others);
}

static void test_nested_and_constant(void) {
	struct play play;
	play_begin(&play, 5, 200, 4, 6);
	for (size_t row = 0; row < play.rows; row++) {
		play.level[row * 4 + 2] = play.level[row * 4] >= 3; /* never changes unless the first parameter does */
		play.level[row * 4 + 3] = 2;
	}
	play_measure(&play, 0.02, 0);
	ok(play_fit(&play) == 0 && !play.effects[2].known, "a parameter that never changed alone is unknown");
	ok(!play.effects[3].known && play.effects[3].seen == 1 && isnan(play.effects[3].ratio),
	   "a parameter that never changed at all is unknown");
	for (size_t row = 0; row < play.rows; row++)
		play.level[row * 4 + 2] = 4;
	play_measure(&play, 0.02, 0);
	ok(play_fit(&play) == 0 && holds(&play.effects[0], true_ratio(&play, 0)), "a constant takes nothing from another");
	play_end(&play);
}

/* A chunk that exists for one schedule only has its own effect; the schedule's effect includes its mean. */
static void test_absent(void) {
	int held = 0, parents = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct play play;
		play_begin(&play, seed, 120, 3, 4);
		play.levels[0] = 2;
		const double schedule[] = {0, 0.4}, chunk[] = {0.3, -0.3, 0.1, -0.1};
		memcpy(play.truth[0], schedule, sizeof schedule);
		memcpy(play.truth[1], chunk, sizeof chunk);
		for (size_t row = 0; row < play.rows; row++) {
			play.level[row * 3] = row % 2;
			play.level[row * 3 + 1] = row % 2 ? (int)(row / 2 % 4) : EFFECTS_ABSENT;
		}
		play_measure(&play, 0.03, 0);
		bool fitted = play_fit(&play) == 0;
		held += fitted && holds(&play.effects[1], exp(0.6)) && play.effects[1].best == 1 && play.effects[1].worst == 0;
		parents += fitted && holds(&play.effects[0], exp(0.4)) && play.effects[0].worst == 1;
		play_end(&play);
	}
	ok(held >= SEEDS * 0.92, "a conditional parameter has its effect (%d)", held);
	ok(parents >= SEEDS * 0.92, "the parameter that brings a conditional one has its effect (%d)", parents);
}

static void test_little(void) {
	struct play play;
	play_begin(&play, 5, 5, 2, 2);
	play_measure(&play, 0.02, 0);
	ok(play_fit(&play) == -1 && !play.effects[0].known, "five rows are too few");
	play.rows = 0;
	ok(play_fit(&play) == -1 && !play.effects[1].known, "no rows are");
	play.params = 0;
	ok(play_fit(&play) == -1, "no parameters");
	play_end(&play);
	play_begin(&play, 5, 50, 2, 1);
	play_measure(&play, 0.02, 0);
	ok(play_fit(&play) == -1 && play.effects[0].seen == 1, "one value each");
	play_end(&play);
	play_begin(&play, 5, 50, 2, 2);
	play_measure(&play, 0, 0);
	for (size_t row = 0; row < 50; row++)
		play.cost[row] = 1;
	ok(play_fit(&play) == 0 && play.effects[0].ratio < 1.001 && play.effects[0].ci[0] == 1,
	   "equal costs have no effect");
	play_end(&play);
}

static void test_hostile(void) {
	static const double bad[] = {0, -1, INFINITY, NAN};
	int refused = 0;
	struct play play;
	play_begin(&play, 5, 50, 2, 3);
	play_measure(&play, 0.02, 0);
	for (size_t i = 0; i < 4; i++) {
		double good = play.cost[20];
		play.cost[20] = bad[i];
		refused += play_fit(&play) == -1 && !play.effects[0].known;
		play.cost[20] = good;
	}
	ok(refused == 4, "invalid costs are refused (%d of 4)", refused);
	play.level[9] = 3;
	refused = play_fit(&play) == -1;
	play.level[9] = -2;
	ok(refused && play_fit(&play) == -1, "levels outside the values are refused");
	play.level[9] = 0;
	for (size_t row = 0; row < 50; row++)
		play.cost[row] = row % 2 ? 1e300 : 1e-300;
	ok(play_fit(&play) == 0 && is_sane(&play.effects[0]), "extreme costs are fitted");
	play_end(&play);
}

/* Cuts trials short at 1.25 times the best so far, as a search does. */
static size_t cut_short(const struct play *play, double *cost, bool *over) {
	double best = INFINITY;
	size_t count = 0;
	for (size_t row = 0; row < play->rows; row++) {
		over[row] = play->cost[row] > 1.25 * best;
		cost[row] = over[row] ? 1.25 * best : play->cost[row];
		best = fmin(best, play->cost[row]);
		count += over[row];
	}
	return count;
}

static void test_over(void) {
	int better = 0, none_held = 0, total = 0, many = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct play play;
		double cost[100], exact;
		bool over[100];
		play_begin(&play, seed, 100, 4, 3);
		play_measure(&play, 0.05, 0);
		many += cut_short(&play, cost, over) > 50;
		struct effects_table data = {
			.rows = 100, .params = 4, .levels = play.levels, .level = play.level, .cost = cost};
		exact = effects_fit(&data, play.effects) == 0 && play.effects[0].known ? play.effects[0].ratio : 1;
		data.over = over;
		if (effects_fit(&data, play.effects) == 0 && play.effects[0].known && true_ratio(&play, 0) > 1.5) {
			double truth = true_ratio(&play, 0);
			total++;
			better += fabs(log(play.effects[0].ratio / truth)) < fabs(log(exact / truth));
			none_held += holds(&play.effects[1], 1);
		}
		play_end(&play);
	}
	ok(total >= SEEDS / 4 && many >= SEEDS / 2, "most slow trials were cut short (%d of %d)", many, SEEDS);
	ok(better >= total * 0.9,
	   "knowing that a cost is above the limit is better than taking the limit for it (%d of %d)", better, total);
	ok(none_held >= total * 0.9, "limits make no effect where there is none (%d of %d)", none_held, total);
}

static void test_over_once(void) {
	struct play play;
	bool over[60] = {false};
	play_begin(&play, 4, 60, 2, 3);
	for (size_t row = 0; row < 60; row++)
		play.level[row * 2] = row == 0 ? 2 : row % 10 == 9 ? 2 : (int)(row % 2);
	const double effects[] = {0, 0.3, 4};
	memcpy(play.truth[0], effects, sizeof effects);
	play_measure(&play, 0.03, 0);
	for (size_t row = 1; row < 60; row++) {
		over[row] = play.level[row * 2] == 2;
		play.cost[row] = over[row] ? 1.25 * exp(-5) : play.cost[row];
	}
	const struct effects_table data = {
		.rows = 60, .params = 2, .levels = play.levels, .level = play.level, .cost = play.cost, .over = over};
	ok(effects_fit(&data, play.effects) == 0 && play.effects[0].worst == 2 && play.effects[0].best == 0 &&
	       holds(&play.effects[0], exp(4)),
	   "a value that was measured once and then always cut short is slow");
	memset(over, true, sizeof over);
	ok(effects_fit(&data, play.effects) == -1, "nothing but limits tells nothing");
	play_end(&play);
}

static void test_weights(void) {
	struct play play;
	double weight[60];
	play_begin(&play, 8, 60, 2, 3);
	play_measure(&play, 0.02, 0);
	const struct effects_table data = {
		.rows = 60, .params = 2, .levels = play.levels, .level = play.level, .cost = play.cost, .weight = weight};
	for (size_t row = 0; row < 60; row++) {
		weight[row] = row < 30;
		play.cost[row] *= row < 30 || play.level[row * 2] ? 1 : 9;
	}
	ok(effects_fit(&data, play.effects) == 0 && holds(&play.effects[0], true_ratio(&play, 0)),
	   "rows of weight 0 do not count");
	weight[3] = NAN;
	ok(effects_fit(&data, play.effects) == -1, "a weight must be a number");
	play_end(&play);
}

static void test_large(void) {
	struct play play;
	int held = 0;
	play_begin(&play, 2, ROWS_MAX, PARAMS_MAX, LEVELS_MAX);
	play_measure(&play, 0.05, 0.02);
	bool fitted = play_fit(&play) == 0;
	for (size_t p = 0; p < PARAMS_MAX && fitted; p++)
		held += p % 2 ? play.effects[p].ci[0] < 1.001 : play.effects[p].known;
	ok(held >= PARAMS_MAX * 0.95, "64 parameters of 10 values, 2000 rows (%d)", held);
	play_end(&play);
}

int main(void) {
	static const struct setting settings[] = {
		{"two values", 100, 2, 0.05, 0},  {"four values", 60, 4, 0.05, 0},
		{"ten values", 200, 10, 0.05, 0}, {"few rows", 16, 3, 0.05, 0},
		{"noise", 200, 4, 0.3, 0},        {"a tenth of the rows five times as slow", 120, 4, 0.05, 0.1},
	};
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		test_truth(&settings[i]);
	test_ends();
	test_outlier_alone();
	test_once_each();
	test_collinear();
	test_nested_and_constant();
	test_absent();
	test_little();
	test_hostile();
	test_over();
	test_over_once();
	test_weights();
	test_large();
	return tap_done();
}
