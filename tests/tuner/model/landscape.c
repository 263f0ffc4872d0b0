/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests peaks and plateaus of known shape. */
#include "tests/tuner/model/response_help.h"
#include "tests/tap.h"
#include "tuner/model/effects/landscape.h"

enum { GRID = LEVELS * LEVELS * LEVELS, DRAWS = 20 };

/* Sharp along the first parameter, flat along the second, and 30 % slower for any other word than 2 of the third. */
static double ridge(const int *x) {
	return 0.4 * abs(x[0] - 3) + 0.004 * x[1] + 0.26 * (x[UNORDERED] != 2);
}

static void at_winner(int *level) {
	static const int winner[PARAMS] = {3, 0, 2, 1, 1};
	memcpy(level, winner, sizeof winner);
}

/* A grid of all values of the first three parameters with constant others. Returns the winner's row. */
static size_t grid_make(struct made *made, struct rng *rng, double noise) {
	size_t winner = 0;
	made_begin(made, GRID);
	for (int i = 0; i < GRID; i++) {
		int *x = made->level + i * PARAMS;
		x[0] = i % LEVELS;
		x[1] = i / LEVELS % LEVELS;
		x[2] = i / LEVELS / LEVELS;
		x[3] = x[4] = 1;
		made->deviation[i] = noise;
		made->cost[i] = exp(ridge(x) + noise * rng_normal(rng));
		winner = x[0] == 3 && x[1] == 0 && x[2] == 2 ? (size_t)i : winner;
	}
	return winner;
}

static bool never(const int *level, void *ctx) {
	(void)level;
	(void)ctx;
	return false;
}

static void grid_is_told(struct rng *rng) {
	struct made made;
	struct landscape l;
	size_t winner = grid_make(&made, rng, 1e-4);
	struct landscape_data data = {.measured = made.data, .winner = winner, .valid = never};
	if (!ok(landscape_make(&l, &data) == 0, "a measured grid is looked at"))
		return;
	const struct landscape_param *p = l.param;
	ok(p[0].verdict == LANDSCAPE_SHARP && p[0].ordered && p[0].step[0].level == 2 && p[0].step[1].level == 4,
	   "a peak is sharp, its neighbours are one step down and up");
	ok(fabs(p[0].step[0].ratio / exp(0.4) - 1) < 0.01 && p[0].step[0].measured && p[0].step[0].rows == 1 &&
	       p[0].step[0].ci[0] <= exp(0.4) * 1.001 && p[0].step[0].ci[1] >= exp(0.4) * 0.999,
	   "the neighbours of a peak have the ratio that was measured");
	ok(p[0].near == 1 && p[0].wide == 1 && p[0].first == 3 && p[0].last == 3, "nothing beside it is as good");
	ok(p[1].verdict == LANDSCAPE_FLAT && p[1].step[0].level == -1 && p[1].near == LEVELS && p[1].first == 0 &&
	       p[1].last == LEVELS - 1,
	   "a plateau is flat to its end, and the winner may be at one");
	ok(p[2].verdict == LANDSCAPE_SHARP && !p[2].ordered && p[2].wide == 1 && p[2].measured == LEVELS - 1,
	   "a word is sharp if all others cost more");
	ok(p[3].verdict == LANDSCAPE_UNCLEAR && p[3].step[0].level == -1 && p[3].step[1].level == -1,
	   "nothing is known about a parameter that cannot change");
	ok(l.fragile && !l.plateau && l.sharp == 2 && l.flat == 1 && l.unclear == 2,
	   "sharp, flat and unclear parameters are counted");
	landscape_clear(&l);
	made_end(&made);
}

static void noise_is_unclear(struct rng *rng) {
	struct made made;
	struct landscape l;
	size_t winner = grid_make(&made, rng, 1e-4);
	for (size_t i = 0; i < GRID; i++)
		made.deviation[i] = 0.3;
	struct landscape_data data = {.measured = made.data, .winner = winner};
	bool done = landscape_make(&l, &data) == 0;
	ok(done && l.param[0].verdict == LANDSCAPE_UNCLEAR && l.param[1].verdict == LANDSCAPE_UNCLEAR,
	   "nothing is clear if measurements are off by 30 %%");
	landscape_clear(&l);
	made_end(&made);
}

static void cut_short_is_slower(struct rng *rng) {
	struct made made;
	struct landscape l;
	size_t winner = grid_make(&made, rng, 1e-4);
	bool over[GRID] = {false};
	for (size_t i = 0; i < GRID; i++)
		if (made.level[i * PARAMS] == 4) {
			over[i] = true;
			made.cost[i] = 1.2;
		}
	made.data.over = over;
	struct landscape_data data = {.measured = made.data, .winner = winner};
	bool done = landscape_make(&l, &data) == 0;
	ok(done && isinf(l.param[0].step[1].ci[1]) && l.param[0].step[1].ci[0] > 1.15,
	   "a trial that was cut short is slower than its limit");
	landscape_clear(&l);
	data.winner = winner + 1;
	ok(landscape_make(&l, &data) == -1 && l.reason[0], "a trial that was cut short cannot be the winner");
	landscape_clear(&l);
	made_end(&made);
}

/* A third of the grid is measured, and the rest must be predicted. */
static void missing_is_predicted(struct rng *rng) {
	int asked = 0, inside = 0, wrong = 0, right = 0;
	for (int draw = 0; draw < DRAWS; draw++) {
		struct made made;
		struct landscape l;
		int level[PARAMS];
		made_measure(&made, rng, 90, 0.01, ridge);
		at_winner(made.level);
		made.cost[0] = exp(ridge(made.level) + 0.01 * rng_normal(rng));
		struct landscape_data data = {.measured = made.data};
		if (landscape_make(&l, &data))
			continue;
		for (size_t p = 0; p < PARAMS; p++)
			for (int side = 0; side < 2; side++) {
				const struct landscape_step *step = &l.param[p].step[side];
				if (step->level < 0 || step->measured)
					continue;
				at_winner(level);
				level[p] = step->level;
				double ratio = exp(ridge(level) - ridge(made.level));
				inside += step->ci[0] <= ratio && ratio <= step->ci[1];
				asked++;
			}
		wrong += (l.param[0].verdict == LANDSCAPE_FLAT) + (l.param[1].verdict == LANDSCAPE_SHARP);
		right += (l.param[0].verdict == LANDSCAPE_SHARP) + (l.param[1].verdict == LANDSCAPE_FLAT);
		landscape_clear(&l);
		made_end(&made);
	}
	printf("# %d of %d predicted intervals hold the truth; of %d verdicts %d right, %d wrong\n", inside, asked,
	       2 * DRAWS, right, wrong);
	ok(asked > DRAWS, "neighbours that were not measured are predicted");
	ok(inside >= asked * 88 / 100, "intervals contain the true ratio in at least 88 %%");
	ok(wrong <= DRAWS / 10 && right >= DRAWS, "verdicts on predictions are right, or unclear");
}

static void little_is_enough(struct rng *rng) {
	struct made made;
	struct landscape l;
	made_measure(&made, rng, 3, 0.001, ridge);
	for (int i = 0; i < 3; i++) {
		at_winner(made.level + i * PARAMS);
		made.level[i * PARAMS] = 3 + (i == 1) - (i == 2);
		made.cost[i] = exp(ridge(made.level + i * PARAMS));
	}
	struct landscape_data data = {.measured = made.data};
	bool done = landscape_make(&l, &data) == 0;
	ok(done && l.param[0].verdict == LANDSCAPE_SHARP && l.reason[0] && isnan(l.predicted_r2),
	   "three rows show a peak, and there is a reason why nothing is predicted");
	ok(done && l.param[1].verdict == LANDSCAPE_UNCLEAR && l.param[1].measured + l.param[1].predicted == 0,
	   "three rows tell nothing else");
	landscape_clear(&l);
	made.level[PARAMS + 1] = EFFECTS_ABSENT;
	made.level[1] = EFFECTS_ABSENT;
	done = landscape_make(&l, &data) == 0;
	ok(done && l.param[1].verdict == LANDSCAPE_UNCLEAR && l.unclear == PARAMS - 2,
	   "a parameter that the winner lacks is not counted");
	landscape_clear(&l);
	data.winner = 3;
	ok(landscape_make(&l, &data) == -1 && l.reason[0], "a row out of range is refused");
	landscape_clear(&l);
	data.winner = 0;
	made.cost[1] = NAN;
	ok(landscape_make(&l, &data) == -1 && l.reason[0], "a cost that is not a number is refused");
	landscape_clear(&l);
	made_end(&made);
}

static void dimensions(void) {
	static const double powers[] = {1, 2, 4, 8, 16}, narrow[] = {-1, 0, 1};
	double at[6];
	struct gp_dim dim = gp_dim_of(powers, 5, at);
	ok(dim.values == 6 && fabs(at[2] - 0.5) < 1e-12 && at[0] == 0 && fabs(at[4] - 1) < 1e-12 && isnan(at[5]),
	   "a wide range is compared by ratios");
	dim = gp_dim_of(narrow, 3, at);
	ok(dim.at == at && fabs(at[1] - 0.5) < 1e-12 && isnan(at[3]), "any other range by differences");
	ok(gp_dim_of(NULL, 3, at).at == NULL, "words are unordered");
}

int main(void) {
	struct rng rng;
	rng_seed(&rng, 8);
	grid_is_told(&rng);
	noise_is_unclear(&rng);
	cut_short_is_slower(&rng);
	missing_is_predicted(&rng);
	little_is_enough(&rng);
	dimensions();
	is_text(landscape_verdict_word(LANDSCAPE_SHARP), "sharp", "verdicts are words");
	return tap_done();
}
