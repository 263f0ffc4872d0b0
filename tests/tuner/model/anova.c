/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests shares of functions with known variance, and that random data have none. */
#include "tests/tuner/model/response_help.h"
#include "tests/tap.h"
#include "tuner/model/effects/anova.h"

enum { SAMPLES = 1500, DRAWS = 20, SHUFFLES = 100 };
static const double WORDS[LEVELS] = {0.3, -0.4, 0.1, 0.5, -0.2, 0};

static double at(int level) {
	return (double)level / (LEVELS - 1);
}
static double bowl(int level) {
	return 3 * (at(level) - 0.6) * (at(level) - 0.6);
}
static double slope(int level) {
	return 0.6 * at(level);
}
static double word(int level) {
	return WORDS[level];
}
static double half(int level) {
	return at(level) - 0.5;
}
/* The last two parameters only act together. */
static double known(const int *x) {
	return bowl(x[0]) + slope(x[1]) + word(x[2]) + 1.5 * half(x[3]) * half(x[4]);
}

static double variance(double (*f)(int)) {
	double sum = 0, squares = 0;
	for (int v = 0; v < LEVELS; v++) {
		sum += f(v) / LEVELS;
		squares += f(v) * f(v) / LEVELS;
	}
	return squares - sum * sum;
}

/* The true shares of the first three main effects and of the pair of the last two. */
static void truth(double share[4]) {
	double all = 0, v = variance(half);
	share[0] = variance(bowl);
	share[1] = variance(slope);
	share[2] = variance(word);
	share[3] = 2.25 * v * v;
	for (int i = 0; i < 4; i++)
		all += share[i];
	for (int i = 0; i < 4; i++)
		share[i] /= all;
}

static struct anova_data asked(const struct made *made, const int *sample) {
	return (struct anova_data){.measured = made->data, .samples = SAMPLES, .sample = sample};
}

static const struct anova_share *term(const struct anova *anova, size_t a, size_t b) {
	return a == b ? &anova->main[a] : anova_pair(anova, a, b);
}

static bool is_true_term(size_t a, size_t b) {
	return a == b ? a < 3 : a == 4 && b == 3;
}

static void shares_are_found(struct rng *rng, size_t rows) {
	double share[4], worst = 0;
	int inside = 0, wrong = 0, refused = 0;
	truth(share);
	for (int draw = 0; draw < DRAWS; draw++) {
		struct made made;
		struct anova anova;
		made_measure(&made, rng, rows, 0.03, known);
		int *sample = drawn_levels(rng, SAMPLES);
		struct anova_data data = asked(&made, sample);
		bool failed = anova_make(&anova, &data);
		refused += failed;
		for (size_t i = 0; i < 4 && !failed; i++) {
			const struct anova_share *one = i < 3 ? &anova.main[i] : anova_pair(&anova, 3, 4);
			inside += one->ci[0] <= share[i] && share[i] <= one->ci[1];
			worst = fmax(worst, fabs(one->share - share[i]));
		}
		for (size_t a = 0; a < PARAMS && !failed; a++)
			for (size_t b = 0; b <= a; b++)
				wrong += !is_true_term(a, b) && term(&anova, a, b)->ci[0] > 0;
		free(sample);
		anova_clear(&anova);
		made_end(&made);
	}
	printf("# %zu rows: %d of %d intervals hold the truth, %d of %d empty terms found, off by %.3f at most\n", rows,
	       inside, 4 * DRAWS, wrong, 11 * DRAWS, worst);
	ok(refused == 0, "%zu rows of a clear function are accepted", rows);
	ok(inside >= 4 * DRAWS * 85 / 100, "95 %% intervals contain the true share in at least 85 %%");
	ok(wrong <= 11 * DRAWS / 20, "at most 5 %% of the absent terms are found");
	ok(worst < 0.12, "no share is far off");
}

static void shuffled_tells_nothing(struct rng *rng, size_t rows) {
	int refused = 0, silent = 0;
	for (int draw = 0; draw < SHUFFLES; draw++) {
		struct made made;
		struct anova anova;
		bool found = false;
		made_measure(&made, rng, rows, 0.03, known);
		rng_shuffle(rng, made.cost, rows, sizeof *made.cost);
		int *sample = drawn_levels(rng, SAMPLES);
		struct anova_data data = asked(&made, sample);
		bool failed = anova_make(&anova, &data);
		for (size_t a = 0; a < PARAMS && !failed; a++)
			for (size_t b = 0; b <= a; b++)
				found |= term(&anova, a, b)->ci[0] > 0;
		refused += failed && anova.reason[0];
		silent += failed || !found;
		free(sample);
		anova_clear(&anova);
		made_end(&made);
	}
	printf("# %zu shuffled rows: %d of %d refused, %d without a share over 0\n", rows, refused, SHUFFLES, silent);
	ok(silent >= SHUFFLES * 95 / 100, "%zu shuffled rows are refused or do not show a share in at least 95 of 100",
	   rows);
}

static void outliers_do_nothing(struct rng *rng) {
	struct made made;
	struct anova clean, wild;
	double most = 0;
	made_measure(&made, rng, 100, 0.03, known);
	int *sample = drawn_levels(rng, SAMPLES);
	struct anova_data data = asked(&made, sample);
	int failed = anova_make(&clean, &data);
	for (size_t i = 7; i < 100; i += 25)
		made.cost[i] *= 15;
	failed |= anova_make(&wild, &data);
	for (size_t a = 0; a < PARAMS && !failed; a++)
		for (size_t b = 0; b <= a; b++)
			most = fmax(most, fabs(term(&clean, a, b)->share - term(&wild, a, b)->share));
	ok(!failed && clean.outliers == 0 && wild.outliers == 4, "4 rows that took 15 times as long are set aside");
	ok(!failed && most < 0.05, "rows that are set aside do not move any share by more than 0.05 (%.3f)", most);
	free(sample);
	anova_clear(&clean);
	anova_clear(&wild);
	made_end(&made);
}

/* Two crossed categories with each cell once: the answer is the classical sums of squares. */
static double crossed(const int *x) {
	return WORDS[x[0]] + 0.7 * at(x[1]) + 0.4 * (x[0] == 1 && x[1] > 2);
}

static void grid_is_exact(struct rng *rng) {
	enum { CELLS = LEVELS * LEVELS };
	struct made made;
	struct anova anova;
	double f[LEVELS][LEVELS], row[LEVELS] = {0}, column[LEVELS] = {0}, mean = 0, all = 0, first = 0, second = 0;
	made_begin(&made, CELLS);
	for (int i = 0; i < CELLS; i++) {
		int *x = made.level + i * PARAMS, a = i / LEVELS, b = i % LEVELS;
		x[0] = a;
		x[1] = b;
		f[a][b] = crossed(x) + 1e-4 * rng_normal(rng);
		made.cost[i] = exp(f[a][b]);
		made.deviation[i] = 1e-4;
		row[a] += f[a][b] / LEVELS;
		column[b] += f[a][b] / LEVELS;
		mean += f[a][b] / CELLS;
	}
	for (int i = 0; i < CELLS; i++)
		all += pow(f[i / LEVELS][i % LEVELS] - mean, 2) / CELLS;
	for (int v = 0; v < LEVELS; v++) {
		first += pow(row[v] - mean, 2) / LEVELS;
		second += pow(column[v] - mean, 2) / LEVELS;
	}
	struct anova_data data = {.measured = made.data, .samples = CELLS, .sample = made.level, .whole = true};
	bool failed = anova_make(&anova, &data);
	ok(!failed && anova.measured, "a full grid speaks for itself");
	ok(!failed && fabs(anova.total / all - 1) < 1e-6, "the total is the variance of what was measured");
	ok(!failed && fabs(anova.main[0].share - first / all) < 0.05 && fabs(anova.main[1].share - second / all) < 0.05,
	   "shares are those of the sums of squares minus chance");
	ok(!failed && !anova.main[3].known && anova.main[3].share == 0, "a parameter that never changes is unknown");
	anova_clear(&anova);
	made_end(&made);
}

static double first_alone(const int *x) {
	return 2 * at(x[0]);
}

/* The second parameter is at most the first: dependent, and without an effect of its own. */
static void constraints_hold(struct rng *rng) {
	struct made made;
	struct anova anova;
	made_measure(&made, rng, 80, 0.02, first_alone);
	int *sample = drawn_levels(rng, SAMPLES);
	for (size_t i = 0; i < SAMPLES; i++)
		sample[i * PARAMS + 1] = (int)rng_below(rng, (uint64_t)sample[i * PARAMS] + 1);
	for (size_t i = 0; i < 80; i++)
		made.level[i * PARAMS + 1] = (int)rng_below(rng, (uint64_t)made.level[i * PARAMS] + 1);
	struct anova_data data = asked(&made, sample);
	bool failed = anova_make(&anova, &data);
	ok(!failed && anova.main[0].share > 0.95 && anova.main[1].share < 0.02,
	   "a parameter that depends on one that matters does not matter itself");
	free(sample);
	anova_clear(&anova);
	made_end(&made);
}

static double present(const int *x) {
	return x[0] < 3 ? 0 : 1 + (x[1] == EFFECTS_ABSENT ? 0 : 0.1 * at(x[1]));
}

static void absent_belongs_to_bringer(struct rng *rng) {
	struct made made;
	struct anova anova;
	made_measure(&made, rng, 80, 0.01, present);
	int *sample = drawn_levels(rng, SAMPLES);
	for (size_t i = 0; i < SAMPLES; i++)
		sample[i * PARAMS + 1] = sample[i * PARAMS] < 3 ? EFFECTS_ABSENT : sample[i * PARAMS + 1];
	for (size_t i = 0; i < 80; i++)
		made.level[i * PARAMS + 1] = made.level[i * PARAMS] < 3 ? EFFECTS_ABSENT : made.level[i * PARAMS + 1];
	struct anova_data data = asked(&made, sample);
	bool failed = anova_make(&anova, &data);
	ok(!failed && anova.main[0].share > 0.95 && anova.main[1].share < 0.03,
	   "the cost of its presence belongs to the parameter that brings it");
	free(sample);
	anova_clear(&anova);
	made_end(&made);
}

static bool is_refused(const struct anova_data *data) {
	struct anova anova;
	bool refused = anova_make(&anova, data) == -1 && anova.reason[0];
	anova_clear(&anova);
	return refused;
}

static void nonsense_is_refused(struct rng *rng) {
	static const double bad[] = {0, -1, NAN, INFINITY};
	struct made made;
	made_measure(&made, rng, 30, 0.03, known);
	int *sample = drawn_levels(rng, SAMPLES);
	struct anova_data data = asked(&made, sample);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		double was = made.cost[3];
		made.cost[3] = bad[i];
		ok(is_refused(&data), "a cost of %g is refused", bad[i]);
		made.cost[3] = was;
	}
	made.level[8] = LEVELS;
	ok(is_refused(&data), "a level out of range is refused");
	made.level[8] = 0;
	sample[8] = -2;
	ok(is_refused(&data), "a level out of range is refused in the sample as well");
	sample[8] = 0;
	data.measured.rows = 7;
	ok(is_refused(&data), "7 rows are too few");
	data.measured.rows = 30;
	for (size_t i = 0; i < 30; i++)
		made.cost[i] = 2;
	ok(is_refused(&data), "equal costs are refused");
	free(sample);
	made_end(&made);
}

static void same_answer(struct rng *rng) {
	struct made made;
	struct anova a, b;
	bool over[40] = {[3] = true, [17] = true};
	made_measure(&made, rng, 40, 0.03, known);
	made.data.over = over;
	int *sample = drawn_levels(rng, SAMPLES);
	struct anova_data data = asked(&made, sample);
	bool same = !anova_make(&a, &data) && !anova_make(&b, &data);
	for (size_t p = 0; p < PARAMS && same; p++)
		same &= memcmp(a.main[p].ci, b.main[p].ci, sizeof a.main[p].ci) == 0 && a.main[p].share == b.main[p].share;
	ok(same, "the same data give the same answer, rows cut short among them");
	free(sample);
	anova_clear(&a);
	anova_clear(&b);
	made_end(&made);
}

int main(void) {
	struct rng rng;
	rng_seed(&rng, 20);
	shares_are_found(&rng, 60);
	shares_are_found(&rng, 150);
	shuffled_tells_nothing(&rng, 25);
	shuffled_tells_nothing(&rng, 80);
	outliers_do_nothing(&rng);
	grid_is_exact(&rng);
	constraints_hold(&rng);
	absent_belongs_to_bringer(&rng);
	nonsense_is_refused(&rng);
	same_answer(&rng);
	return tap_done();
}
