/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests laws of growth: the true law is recovered, predicts sizes that were not measured, and its intervals hold; data
 * without a law are refused, or show it by their own error. */
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "tests/tap.h"
#include "tuner/model/law/growth.h"

enum { DRAWS = 100 };

static double cubic(double n) {
	return 2e-9 * n * n * n;
}
static double linear(double n) {
	return 3e-7 * n;
}
/* Linear within the cache, three times as steep beyond 1000. */
static double broken(double n) {
	return n < 1000 ? 1e-6 * n : 1e-3 * pow(n / 1000, 2.5);
}
static double overhead(double n) {
	return 5e-4 + 1e-9 * n * n;
}

static const struct made {
	const char *name;
	double (*cost)(double n);
	enum growth_kind kind;
	double exponent; /* at the largest size */
} made[] = {{"cubic", cubic, GROWTH_POWER, 3},
            {"linear", linear, GROWTH_POWER, 1},
            {"with a break", broken, GROWTH_BROKEN, 2.5},
            {"with an overhead", overhead, GROWTH_OVERHEAD, 2}};

static size_t points(const struct made *one, double noise, size_t count, uint64_t seed, double *n, double *t) {
	struct rng rng;
	rng_seed(&rng, seed);
	for (size_t i = 0; i < count; i++) {
		n[i] = 64 * pow(256, (double)i / (double)(count - 1));
		t[i] = one->cost(n[i]) * exp(noise * rng_normal(&rng));
	}
	return count;
}

/* Without noise the law itself must be found, also between the measured sizes. */
static void test_exact(const struct made *one) {
	double n[12], t[12], worst = 0, ci[2];
	struct growth growth;
	struct err err = {0};
	size_t count = points(one, 0, 12, 1, n, t);
	ok(growth_fit(n, t, count, (double[]){1000}, 1, &growth, &err) == 0, "%s: fitted%s", one->name, err.what);
	ok(growth.law.kind == one->kind, "%s: as a %s", one->name, growth_word(growth.law.kind));
	for (double at = 64; at <= 16384; at *= 1.07)
		worst = fmax(worst, fabs(growth_predict(&growth, at, ci) / one->cost(at) - 1));
	ok(worst < 0.01, "%s: off by at most %.2g", one->name, worst);
	double exponent = log(growth_predict(&growth, 16384, ci) / growth_predict(&growth, 16000, ci)) / log(1.024);
	ok(fabs(exponent - one->exponent) < 0.05, "%s: its exponent is %.3f", one->name, exponent);
	ok(growth.median_error < 0.01, "%s: and its own error is as small (%.2g)", one->name, growth.median_error);
}

/* A new measurement at a new size must be in the interval. */
static void test_coverage(const struct made *one, size_t count) {
	double n[16], t[16], ci[2];
	struct growth growth;
	struct rng rng;
	int inside = 0, all = 0;
	rng_seed(&rng, 99);
	for (uint64_t seed = 0; seed < DRAWS; seed++) {
		points(one, 0.05, count, seed, n, t);
		if (growth_fit(n, t, count, NULL, 0, &growth, NULL))
			continue;
		double at = 64 * pow(256, rng_unit(&rng)), value = one->cost(at) * exp(0.05 * rng_normal(&rng));
		growth_predict(&growth, at, ci);
		inside += value >= ci[0] && value <= ci[1];
		all++;
	}
	ok(all == DRAWS && inside >= 88, "%s, %zu sizes with 5 %% noise: %d of %d inside the 95 %% interval", one->name,
	   count, inside, all);
}

static void test_outlier(void) {
	double n[8], t[8], ci[2];
	struct growth growth;
	points(&made[0], 0.02, 8, 5, n, t);
	t[4] *= 3;
	growth_fit(n, t, 8, NULL, 0, &growth, NULL);
	double off = fabs(growth_predict(&growth, 700, ci) / cubic(700) - 1);
	ok(off < 0.15, "one disturbed size moves the law by %.3f", off);
	ok(growth.worst_error > 0.4, "the disturbed size is the one that is predicted worst");
}

static void test_shuffled(void) {
	double n[9], t[9];
	struct growth growth;
	struct rng rng;
	int honest = 0;
	rng_seed(&rng, 7);
	for (uint64_t seed = 0; seed < DRAWS; seed++) {
		points(&made[0], 0.05, 9, seed, n, t);
		rng_shuffle(&rng, t, 9, sizeof *t);
		honest += growth_fit(n, t, 9, NULL, 0, &growth, NULL) || growth.median_error > 0.5;
	}
	ok(honest >= 95, "shuffled sizes: %d of %d are refused or off by more than half", honest, DRAWS);
}

/* The order does not matter, and a repeated size counts once. */
static void test_order(void) {
	double n[8], t[8], back_n[9], back_t[9];
	struct growth a, b;
	points(&made[0], 0.05, 8, 3, n, t);
	for (size_t i = 0; i < 8; i++) {
		back_n[i] = n[7 - i];
		back_t[i] = t[7 - i];
	}
	back_n[8] = n[2];
	back_t[8] = t[2];
	growth_fit(n, t, 8, NULL, 0, &a, NULL);
	growth_fit(back_n, back_t, 9, NULL, 0, &b, NULL);
	ok(b.count == 8 && fabs(a.law.coef[1] - b.law.coef[1]) < 1e-9, "the law depends on neither order nor repetition");
}

static void test_refused(void) {
	double n[70], t[70];
	struct growth growth;
	struct err err = {0};
	for (size_t i = 0; i < 70; i++)
		n[i] = t[i] = (double)i + 1;
	ok(growth_fit(n, t, 2, NULL, 0, &growth, &err) && strstr(err.what, "2 sizes"), "two sizes: %s", err.what);
	ok(growth_fit(n, t, 0, NULL, 0, &growth, &err) != 0, "none: %s", err.what);
	ok(growth_fit(n + 30, t, 3, NULL, 0, &growth, &err) && strstr(err.what, "too close together"), "no spread: %s",
	   err.what);
	ok(growth_fit(n, t, 70, NULL, 0, &growth, &err) != 0, "too many: %s", err.what);
	t[3] = 0;
	ok(growth_fit(n, t, 8, NULL, 0, &growth, &err) != 0, "a cost of 0: %s", err.what);
	t[3] = NAN;
	ok(growth_fit(n, t, 8, NULL, 0, &growth, &err) != 0, "no number: %s", err.what);
}

static void test_three(void) {
	double n[3] = {100, 1000, 10000}, t[3] = {1, 10.5, 98}, ci[2];
	struct growth growth;
	ok(growth_fit(n, t, 3, NULL, 0, &growth, NULL) == 0, "three sizes carry a power law");
	double value = growth_predict(&growth, 3000, ci);
	ok(value > 25 && value < 36 && ci[0] < value && ci[1] > 1.5 * value,
	   "three sizes have a wide interval: [%.3g, %.3g]", ci[0], ci[1]);
}

/* Game of Life on 16 cores, two tunes: the best number of threads goes from 1 to 16, so that its time does not follow
 * one law. */
static void test_measured(void) {
	static const double n[] = {128, 176, 256, 352, 512, 704, 1024, 1408, 2048, 2816, 4096};
	static const double t[][11] = {
		{27.9, 28.7, 29.6, 32.1, 53.6, 94.4, 84.5, 91.8, 137, 286, 525},
		{18.2, 23.8, 37.7, 42.6, 61.7, 67.2, 89.1, 88.9, 141, 330, 453},
	};
	for (size_t i = 0; i < 2; i++) {
		struct growth growth;
		struct growth_piece pieces[GROWTH_PIECES_MAX];
		double ci[2], worst = 0;
		ok(growth_fit(n, t[i], 11, NULL, 0, &growth, NULL) == 0 && growth.law.kind == GROWTH_LOCAL,
		   "measured: from place to place");
		ok(growth.median_error < 0.15, "measured: off by %.3f", growth.median_error);
		size_t count = growth_pieces(&growth, pieces), inside = 0;
		for (size_t k = 0; k < count; k++) {
			double cost = pieces[k].overhead + pieces[k].factor * pow(pieces[k].from, pieces[k].exponent);
			worst = fmax(worst, fabs(cost / growth_predict(&growth, pieces[k].from, ci) - 1));
			inside += ci[0] < t[i][k] && t[i][k] < ci[1];
		}
		ok(count == 10 && pieces[0].from == 128 && pieces[9].to == 4096 && worst < 1e-9,
		   "measured: its pieces are the law");
		ok(inside >= 9, "measured: %zu of 10 in their interval", inside);
	}
}

int main(void) {
	test_measured();
	for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
		test_exact(&made[i]);
		test_coverage(&made[i], 8);
	}
	test_coverage(&made[0], 4);
	test_coverage(&made[0], 12);
	test_outlier();
	test_shuffled();
	test_order();
	test_refused();
	test_three();
	return tap_done();
}
