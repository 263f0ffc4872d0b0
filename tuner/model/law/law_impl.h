/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files growth*.c only. */
#ifndef TUNER_MODEL_LAW_LAW_IMPL_H
#define TUNER_MODEL_LAW_LAW_IMPL_H

#include "tuner/model/law/growth.h"
#include "tuner/model/law/scaling.h"

struct growth_points {
	size_t count;
	double x[GROWTH_SIZES_MAX], y[GROWTH_SIZES_MAX]; /* log n minus its middle, ascending; log t */
};

/* The terms of a broken line are 1, x, max(0, x - at[0]), max(0, x - at[1]); those of an overhead are the derivatives
 * of t = a + b exp(p x) by log a, log b and p. */
double growth_law_at(const struct growth_law *law, double x, double terms[GROWTH_TERMS_MAX]);

/* Fits a law of this kind, number of breaks (at some of the candidates, which ascend) and of sizes near by. False: the
 * points do not determine it. */
bool growth_law_fit(const struct growth_points *points, const double *candidates, size_t count, struct growth_law *law);

/* Shared by the files scaling*.c only.
 *
 * log seconds(N) = eta - log N + log growth(N), growth = 1 + sigma (N - 1) + kappa N (N - 1). For given sigma and kappa
 * the best eta is a weighted mean. What remains is a sum of squares over the plane of sigma and kappa; beside its
 * minimum, all that intervals need is its smallest value along straight lines. */

/* No law holds more precisely than this, in log seconds: neither does a point with a tiny deviation outweigh all
 * others, nor do points that lie on a law by chance give it an interval without a width. */
#define SCALING_DEVIATION_LEAST 0.01

struct rates {
	double sigma, kappa;
};

struct scaling_data {
	size_t count, distinct;
	double threads[SCALING_POINTS_MAX], base[SCALING_POINTS_MAX]; /* base: log(seconds N) */
	double weight[SCALING_POINTS_MAX], total;                     /* with mean 1; their sum */
	double scale;                                                 /* factor that was divided by to get that mean */
	double kappa_top; /* larger values cannot be distinguished from this one */
};

static inline double scaling_growth(struct rates at, double threads) {
	return 1 + (at.sigma + at.kappa * threads) * (threads - 1);
}
/* The weighted sum of squares at the best eta, which goes to *eta unless that is NULL. */
double scaling_squares(const struct scaling_data *data, struct rates at, double *eta);

/* The minimum within the bounds of the law. */
double scaling_minimum(const struct scaling_data *data, enum scaling_law law, struct rates *best);
static inline size_t scaling_params(enum scaling_law law) {
	return law == SCALING_AMDAHL ? 2 : 3;
}

/* The region that contains 95 % of the likelihood. */
struct scaling_region {
	const struct scaling_data *data;
	enum scaling_law law;
	struct rates best;
	double squares, limit; /* limit: of the sum of squares */
};
struct scaling_region scaling_region(const struct scaling_data *data, enum scaling_law law);
/* The time is smallest at sqrt((1 - sigma) / kappa) threads (Gunther 2007, section 4.4.1), so that kappa = (1 - sigma)
 * / threads^2. This is 1 / threads^2, which is between 0 and 1. */
static inline double scaling_inverse(struct rates at) {
	if (!(at.kappa > 0))
		return 0;
	return at.kappa < 1 - at.sigma ? at.kappa / (1 - at.sigma) : 1;
}
/* The interval of a quantity; threads: of a growth. */
enum scaling_quantity { SCALING_SIGMA, SCALING_KAPPA, SCALING_INVERSE, SCALING_GROWTH };
void scaling_ci(const struct scaling_region *region, enum scaling_quantity of, double threads, double ci[2]);
#endif
