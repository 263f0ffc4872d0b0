/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits scaling laws to times that do not follow one, or that a point or two spoil. */
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "tests/tuner/model/scaling_made.h"
#include "tests/tap.h"

enum { DRAWS = 100, SHUFFLES = 200 };

static const double to_8[16] = {1, 2, 3, 4, 5, 6, 7, 8}, to_64[16] = {1, 2, 4, 8, 16, 32, 64};
static const char *refusal;

static int shuffled_good(const double *threads, double sigma, double kappa) {
	struct rng rng;
	int good = 0;
	rng_seed(&rng, 5);
	for (int draw = 0; draw < SHUFFLES; draw++) {
		struct made made = {.seconds_1 = 3, .sigma = sigma, .kappa = kappa};
		struct scaling scaling;
		double seconds[16];
		made_times(&made, threads, &rng, 0.05, draw % 2);
		for (size_t i = 0; i < made.count; i++)
			seconds[i] = made.points[i].seconds;
		rng_shuffle(&rng, seconds, made.count, sizeof *seconds);
		for (size_t i = 0; i < made.count; i++)
			made.points[i].seconds = seconds[i];
		good += scaling_fit(made.points, made.count, &scaling, &refusal) == 0;
	}
	return good;
}

static void shuffled(void) {
	static const double laws[][2] = {{0, 0}, {0.05, 0}, {0.2, 0}, {0.02, 0.02}, {0.3, 0.1}};
	for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
		int a = shuffled_good(to_8, laws[i][0], laws[i][1]), b = shuffled_good(to_64, laws[i][0], laws[i][1]);
		ok(a <= SHUFFLES / 20 && b <= SHUFFLES / 20,
		   "shuffled times have no law (sigma %g, kappa %g: good %d and %d of %d)", laws[i][0], laws[i][1], a, b,
		   SHUFFLES);
	}
}

/* One point is a multiple of its true value. */
static void wild(double factor) {
	struct rng rng;
	int held = 0, marked = 0, good = 0;
	rng_seed(&rng, 8);
	for (int draw = 0; draw < DRAWS; draw++) {
		struct made made = {.seconds_1 = 3, .sigma = 0.05};
		struct scaling scaling;
		made_times(&made, to_8, &rng, 0.03, false);
		size_t point = rng_below(&rng, made.count);
		made.points[point].seconds *= factor;
		good += scaling_fit(made.points, made.count, &scaling, &refusal) == 0;
		const double *ci = scaling.fit[SCALING_AMDAHL].sigma_ci;
		held += ci[0] <= made.sigma && made.sigma <= ci[1];
		marked += scaling.outlier[point] && scaling.outliers == 1;
	}
	ok(held >= 90 && marked >= 90 && good >= 90,
	   "a point %g times off among 8 is left out (%d of %d; sigma held in %d, good %d)", factor, marked, DRAWS, held,
	   good);
}

static bool interval_sane(double value, const double ci[2], double from) {
	return ci[0] >= from && ci[0] <= value * (1 + 1e-6) && ci[1] >= value * (1 - 1e-6);
}

static bool sane(const struct scaling *scaling) {
	bool sane = true;
	for (int law = 0; law < SCALING_LAWS; law++) {
		const struct scaling_fit *fit = &scaling->fit[law];
		if (!(fit->seconds_1 > 0)) /* not fitted */
			continue;
		sane &= interval_sane(fit->seconds_1, fit->seconds_1_ci, 0) && interval_sane(fit->sigma, fit->sigma_ci, 0);
		sane &= interval_sane(fit->kappa, fit->kappa_ci, 0) && fit->sigma_ci[1] <= 1 && fit->residual_deviation >= 0;
		sane &= interval_sane(fit->best_threads, fit->best_threads_ci, 1) && fit->good == !fit->doubt;
	}
	for (double n = 1; n < 1e6 && scaling->points; n *= 3) {
		double seconds[2], speedup[2];
		sane &= interval_sane(scaling_seconds(scaling, n, seconds), seconds, 0);
		sane &= interval_sane(scaling_speedup(scaling, n, speedup), speedup, 0);
		sane &= scaling_seconds(scaling, n, NULL) > 0 && scaling_speedup(scaling, n, NULL) <= n * (1 + 1e-9);
	}
	return sane;
}

static void superlinear(void) {
	struct made made = {.count = 8};
	struct scaling scaling;
	struct rng rng;
	rng_seed(&rng, 2);
	for (size_t i = 0; i < made.count; i++)
		made.points[i] = (struct scaling_point){to_8[i], 3 * pow(to_8[i], -1.4) * exp(0.01 * rng_normal(&rng)), 0};
	int failed = scaling_fit(made.points, made.count, &scaling, &refusal);
	ok(scaling.superlinear && scaling.fit[scaling.law].sigma == 0 && scaling.fit[scaling.law].kappa == 0 &&
	       sane(&scaling),
	   "faster than in proportion to the threads: sigma and kappa are 0, and it is marked");
	ok(failed == !scaling.fit[scaling.law].good * -1 && scaling.residual[0] > 0.1 && scaling.residual[7] < -0.1,
	   "residuals show it (%.2f, %.2f)", scaling.residual[0], scaling.residual[7]);
}

/* Points that do not determine a law, or are out of range. */
static void refused(void) {
	static const struct {
		struct scaling_point points[4];
		size_t count;
		const char *what, *word;
	} cases[] = {
		{{{1, 1, 0}}, 0, "no point", "3 different"},
		{{{1, 1, 0}, {2, 1, 0}}, 2, "two points", "3 different"},
		{{{1, 1, 0}, {2, 1, 0}, {2, 0.9, 0}, {1, 1, 0}}, 4, "two numbers of threads", "3 different"},
		{{{4, 1, 0}, {4, 1, 0}, {4, 0.9, 0}}, 3, "one number of threads", "3 different"},
		{{{0, 1, 0}, {2, 1, 0}, {3, 1, 0}}, 3, "no thread", "not 1 or more"},
		{{{-1, 1, 0}, {2, 1, 0}, {3, 1, 0}}, 3, "negative threads", "not 1 or more"},
		{{{NAN, 1, 0}, {2, 1, 0}, {3, 1, 0}}, 3, "threads that are no number", "not 1 or more"},
		{{{1, 0, 0}, {2, 1, 0}, {3, 1, 0}}, 3, "no time", "time"},
		{{{1, NAN, 0}, {2, 1, 0}, {3, 1, 0}}, 3, "a time that is no number", "time"},
		{{{1, INFINITY, 0}, {2, 1, 0}, {3, 1, 0}}, 3, "an endless time", "time"},
		{{{1, 1, -1}, {2, 1, 0}, {3, 1, 0}}, 3, "a negative deviation", "deviation"},
		{{{1, 1, NAN}, {2, 1, 0}, {3, 1, 0}}, 3, "a deviation that is no number", "deviation"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct scaling scaling;
		int failed = scaling_fit(cases[i].points, cases[i].count, &scaling, &refusal);
		ok(failed == -1 && refusal && strstr(refusal, cases[i].word) && scaling.points == 0, "%s: %s", cases[i].what,
		   refusal);
	}
}

static void few(void) {
	const struct scaling_point three[] = {{1, 1, 0}, {2, 0.55, 0}, {4, 0.32, 0}};
	struct scaling scaling;
	int failed = scaling_fit(three, 3, &scaling, &refusal);
	ok(!failed && scaling.law == SCALING_AMDAHL && !scaling.fit[SCALING_USL].good && sane(&scaling) &&
	       strstr(scaling.fit[SCALING_USL].doubt, "4 different"),
	   "three numbers of threads only determine Amdahl's law");
	const struct scaling_point worse[] = {{1, 1, 0}, {2, 0.6, 0}, {4, 0.55, 0}, {8, 0.8, 0}, {16, 1.42, 0}};
	failed = scaling_fit(worse, 5, &scaling, &refusal);
	const struct scaling_fit *fit = &scaling.fit[scaling.law];
	ok(!failed && scaling.law == SCALING_USL && fit->best_threads > 2 && fit->best_threads < 8 && sane(&scaling),
	   "five are enough to see that more threads are worse (best: %.1f)", fit->best_threads);
}

/* The law itself must give its parameters and its other form. */
static void exact(void) {
	struct made made = {.seconds_1 = 0.02, .sigma = 0.04, .kappa = 0.003};
	struct scaling scaling;
	struct rng rng;
	rng_seed(&rng, 1);
	made_times(&made, to_64, &rng, 0, false);
	int failed = scaling_fit(made.points, made.count, &scaling, &refusal);
	const struct scaling_fit *fit = &scaling.fit[SCALING_USL];
	ok(!failed && scaling.law == SCALING_USL && fabs(fit->sigma - 0.04) < 1e-5 && fabs(fit->kappa - 0.003) < 1e-6 &&
	       fabs(fit->seconds_1 / 0.02 - 1) < 1e-5 && fabs(fit->best_threads / made_best(&made) - 1) < 1e-4,
	   "the law itself comes back without noise (%g, %g)", fit->sigma, fit->kappa);
	ok(fabs(scaling_speedup(&scaling, 10, NULL) - 10 / (1 + 0.04 * 9 + 0.003 * 90)) < 1e-3,
	   "the speedup of the law comes back");
	ok(fabs(scaling_seconds(&scaling, 10, NULL) / made_seconds(&made, 10) - 1) < 1e-4,
	   "the time of the law comes back");
	ok(fabs(scaling_speedup(&scaling, 1, NULL) - 1) < 1e-9, "one thread has a speedup of 1");
}

/* Any positive times must not crash, give finite results, and give them again. */
static void anything(void) {
	struct rng rng;
	bool all_sane = true, same = true;
	rng_seed(&rng, 11);
	for (int draw = 0; draw < 150; draw++) {
		static struct scaling scaling, again;
		struct scaling_point points[40];
		size_t count = 3 + rng_below(&rng, draw % 10 ? 12 : 37);
		double wide = rng_below(&rng, 3) ? 1 : 20;
		for (size_t i = 0; i < count; i++)
			points[i] = (struct scaling_point){(double)(1 + rng_below(&rng, draw % 3 ? 8 : 1000)),
			                                   exp(wide * rng_normal(&rng)), rng_below(&rng, 2) ? 0 : rng_unit(&rng)};
		int failed = scaling_fit(points, count, &scaling, &refusal);
		all_sane &= sane(&scaling) && !failed == !refusal;
		scaling_fit(points, count, &again, &refusal);
		same &= memcmp(&scaling, &again, sizeof scaling) == 0;
	}
	ok(all_sane, "whatever the times are: intervals around their values, within bounds");
	ok(same, "the same points, the same law");
}

int main(void) {
	shuffled();
	wild(3);
	wild(0.4);
	superlinear();
	refused();
	few();
	exact();
	anything();
	return tap_done();
}
