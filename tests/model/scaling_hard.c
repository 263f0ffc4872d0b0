/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scaling laws on times that follow none, or that a point or two spoil. */
#include <config.h>

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>

#include "src/base/rng.h"
#include "tests/model/scaling_made.h"
#include "tests/tap.h"

enum { DRAWS = 100 };

static const double to_8[16] = {1, 2, 3, 4, 5, 6, 7, 8}, to_64[16] = {1, 2, 4, 8, 16, 32, 64};
static const char *refusal;

static int shuffled_good(const double *threads, double sigma, double kappa) {
	struct rng rng;
	int good = 0;
	rng_seed(&rng, 5);
	for (int draw = 0; draw < DRAWS; draw++) {
		struct made made = {.seconds_1 = 3, .sigma = sigma, .kappa = kappa};
		struct scaling scaling;
		double seconds[16];
		made_times(&made, threads, &rng, 0.05, false);
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
		ok(a <= DRAWS / 20 && b <= DRAWS / 20, "shuffled times have no law (sigma %g, kappa %g: good %d and %d of %d)",
		   laws[i][0], laws[i][1], a, b, DRAWS);
	}
}

int main(void) {
	shuffled();
	return tap_done();
}
