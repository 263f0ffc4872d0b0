/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/model/paired.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "tests/tap.h"

enum { BRUTE_MAX = 10, WALSH_MAX = BRUTE_MAX * (BRUTE_MAX + 1) / 2, PAIRS_MAX = 150 };

static int ascending(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool near(double x, double y) {
	return fabs(x - y) <= 1e-9 * fmax(1, fabs(y));
}

/* The midrank of |x[i]| among the others, doubled. */
static int rank_of(const double *x, int n, int i) {
	int below = 0, equal = 0;

	for (int k = 0; k < n; k++) {
		below += fabs(x[k]) < fabs(x[i]);
		equal += fabs(x[k]) == fabs(x[i]);
	}
	return 2 * below + equal + 1;
}

/* The number of the 2^n sign patterns of the doubled ranks that sum to at most `sum`. */
static int brute_at_most(const int *rank, int n, int sum) {
	int found = 0;

	for (int signs = 0; signs < 1 << n; signs++) {
		int total = 0;

		for (int i = 0; i < n; i++)
			total += signs >> i & 1 ? rank[i] : 0;
		found += total <= sum;
	}
	return found;
}

static double brute_p(const double *all, int count) {
	double x[BRUTE_MAX];
	int rank[BRUTE_MAX], n = 0, plus = 0, minus = 0;

	for (int i = 0; i < count; i++)
		if (all[i] != 0)
			x[n++] = all[i];
	for (int i = 0; i < n; i++) {
		rank[i] = rank_of(x, n, i);
		*(x[i] > 0 ? &plus : &minus) += rank[i];
	}
	return fmin(1, 2.0 * brute_at_most(rank, n, plus < minus ? plus : minus) / (1 << n));
}

static int brute_walsh(const double *x, int n, double *walsh) {
	int count = 0;

	for (int i = 0; i < n; i++)
		for (int k = i; k < n; k++)
			walsh[count++] = (x[i] + x[k]) / 2;
	qsort(walsh, (size_t)count, sizeof *walsh, ascending);
	return count;
}

/* The largest rank whose tail is within (1 - level) / 2, at least 1. */
static int brute_place(int n, double level) {
	int rank[BRUTE_MAX], place = 0;

	for (int i = 0; i < n; i++)
		rank[i] = i + 1;
	while (brute_at_most(rank, n, place) <= (1 - level) / 2 * (1 << n))
		place++;
	return n < 6 || place < 1 ? 1 : place;
}

static bool brute_agrees(const double *a, const double *b, int n, double level) {
	struct paired paired = paired_analyse(a, b, (size_t)n, level);
	double x[BRUTE_MAX], walsh[WALSH_MAX];
	int count, place = brute_place(n, level);

	for (int i = 0; i < n; i++)
		x[i] = log(a[i]) - log(b[i]);
	count = brute_walsh(x, n, walsh);
	return near(paired.p, brute_p(x, n)) && near(log(paired.ratio), (walsh[(count - 1) / 2] + walsh[count / 2]) / 2) &&
	       near(log(paired.ci[0]), walsh[place - 1]) && near(log(paired.ci[1]), walsh[count - place]) &&
	       paired.count == (size_t)n;
}

/* step 0: continuous; otherwise times are multiples of it, which makes zeros and ties. */
static void draw(struct rng *rng, double *a, double *b, int n, double step) {
	for (int i = 0; i < n; i++) {
		a[i] = step > 0 ? step * (double)(1 + rng_below(rng, 4)) : exp(rng_normal(rng));
		b[i] = step > 0 ? step * (double)(1 + rng_below(rng, 4)) : exp(rng_normal(rng));
	}
}

static void test_brute(struct rng *rng) {
	static const double levels[] = {0.5, 0.9, 0.95, 0.99};
	double a[BRUTE_MAX], b[BRUTE_MAX];

	for (int n = 1; n <= BRUTE_MAX; n++) {
		int agree = 0, tied = 0;

		for (int i = 0; i < 20; i++) {
			draw(rng, a, b, n, 0);
			agree += brute_agrees(a, b, n, levels[i % 4]);
			draw(rng, a, b, n, 0.5);
			tied += brute_agrees(a, b, n, levels[i % 4]);
		}
		ok(agree == 20, "%d pairs: estimate, interval and p as by enumeration (%d of 20)", n, agree);
		ok(tied == 20, "%d pairs with zeros and ties: the same (%d of 20)", n, tied);
	}
}

static void test_symmetry(struct rng *rng) {
	double a[PAIRS_MAX], b[PAIRS_MAX];
	int same = 0, brackets = 0;

	for (int n = 1; n <= PAIRS_MAX; n++) {
		struct paired ab, ba;

		draw(rng, a, b, n, n % 2 ? 0.25 : 0);
		ab = paired_analyse(a, b, (size_t)n, 0.95);
		ba = paired_analyse(b, a, (size_t)n, 0.95);
		same += near(ab.ratio, 1 / ba.ratio) && near(ab.ci[0], 1 / ba.ci[1]) && near(ab.ci[1], 1 / ba.ci[0]) &&
		        near(ab.p, ba.p);
		brackets += ab.ci[0] <= ab.ratio && ab.ratio <= ab.ci[1] && ab.p > 0 && ab.p <= 1;
	}
	ok(same == PAIRS_MAX, "swapping the sides inverts ratio and interval (%d of %d)", same, PAIRS_MAX);
	ok(brackets == PAIRS_MAX, "the interval brackets the ratio (%d of %d)", brackets, PAIRS_MAX);
}

static double noise_normal(struct rng *rng) {
	return 0.02 * rng_normal(rng);
}

static double noise_uniform(struct rng *rng) {
	return 0.1 * (rng_unit(rng) - 0.5);
}

static double noise_tailed(struct rng *rng) { /* Student's t with one degree of freedom */
	return 0.01 * rng_normal(rng) / fabs(rng_normal(rng));
}

/* With 2000 intervals the deviation of a coverage of 0.95 is 0.005. */
static void test_coverage(struct rng *rng) {
	static double (*const noises[])(struct rng *) = {noise_normal, noise_uniform, noise_tailed};
	static const char *const names[] = {"normal", "uniform", "heavy-tailed"};
	static const int sizes[] = {8, 21, 50, 51, 101};
	double a[PAIRS_MAX], b[PAIRS_MAX];

	for (size_t k = 0; k < 3; k++)
		for (size_t s = 0; s < 5; s++) {
			int covered = 0, rejected = 0;

			for (int repeat = 0; repeat < 2000; repeat++) {
				struct paired paired;

				for (int i = 0; i < sizes[s]; i++) {
					b[i] = exp(3 * rng_normal(rng));
					a[i] = 1.25 * b[i] * exp(noises[k](rng));
				}
				paired = paired_analyse(a, b, (size_t)sizes[s], 0.95);
				covered += paired.ci[0] <= 1.25 && 1.25 <= paired.ci[1];
				for (int i = 0; i < sizes[s]; i++)
					a[i] /= 1.25;
				rejected += paired_analyse(a, b, (size_t)sizes[s], 0.95).p < 0.05;
			}
			ok(covered >= 1880 && covered <= 1960, "%d %s pairs: interval covers in %.1f %%", sizes[s], names[k],
			   covered / 20.0);
			ok(rejected >= 40 && rejected <= 120, "%d %s pairs: the test rejects a true 1 in %.1f %%", sizes[s],
			   names[k], rejected / 20.0);
		}
}

static void test_holm(struct rng *rng) {
	static const double p[] = {0.01, 0.04, 0.03, 0.005}, want[] = {0.03, 0.06, 0.06, 0.02};
	double adjusted[4], drawn[8], many[8];
	int monotone = 0;

	paired_holm(p, 4, adjusted);
	ok(near(adjusted[0], want[0]) && near(adjusted[1], want[1]) && near(adjusted[2], want[2]) &&
	       near(adjusted[3], want[3]),
	   "Holm: 0.01 0.04 0.03 0.005 become 0.03 0.06 0.06 0.02");
	for (int repeat = 0; repeat < 100; repeat++) {
		bool fine = true;

		for (int i = 0; i < 8; i++)
			drawn[i] = rng_unit(rng);
		paired_holm(drawn, 8, many);
		for (int i = 0; i < 8; i++)
			for (int k = 0; k < 8; k++)
				fine = fine && many[i] >= drawn[i] && many[i] <= fmin(1, 8 * drawn[i]) &&
				       (drawn[i] > drawn[k] || many[i] <= many[k]);
		monotone += fine;
	}
	ok(monotone == 100, "Holm: keeps the order, between p and Bonferroni, at most 1");
}

static void test_judge(void) {
	struct paired paired = {.count = 21};
	static const struct {
		double low, high;
		const char *verdict;
	} cases[] = {{0.90, 0.98, "faster"}, {0.90, 0.995, "tie"},  {0.98, 1.02, "tie"}, {1.005, 1.2, "tie"},
	             {1.02, 1.20, "slower"}, {0.995, 1.005, "tie"}, {0.5, 2, "tie"}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		paired.ci[0] = cases[i].low;
		paired.ci[1] = cases[i].high;
		ok(strcmp(paired_verdict_word(paired_judge(&paired, 0.01)), cases[i].verdict) == 0, "%g to %g is %s",
		   cases[i].low, cases[i].high, cases[i].verdict);
	}
	paired = (struct paired){0};
	ok(paired_judge(&paired, 0.01) == PAIRED_TIE, "no pairs are a tie");
}

int main(void) {
	struct rng rng;

	rng_seed(&rng, 2);
	test_brute(&rng);
	test_symmetry(&rng);
	test_coverage(&rng);
	test_holm(&rng);
	test_judge();
	return tap_done();
}
