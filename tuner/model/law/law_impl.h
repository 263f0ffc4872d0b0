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

/* Fits the line with the breaks in law->at. False: the points do not determine it. */
bool growth_line_fit(const struct growth_points *points, struct growth_law *law);
/* Fits the line with law->breaks breaks at these candidates (ascending) that has the smallest robust spread. */
bool growth_breaks_fit(const struct growth_points *points, const double *candidates, size_t count,
                       struct growth_law *law);
bool growth_overhead_fit(const struct growth_points *points, struct growth_law *law);
/* Fits lines through law->near sizes each. */
double growth_local_at(const struct growth_law *law, double x);

/* Shared by the files scaling*.c only.
 *
 * log seconds(N) = eta - log N + log growth(N), growth = 1 + sigma (N - 1) + kappa N (N - 1). For given sigma and kappa
 * the best eta is a weighted mean. What remains is a sum of squares over the plane of sigma and kappa; beside its
 * minimum, all that intervals need is its smallest value along straight lines. */

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

/* Fills in the points of `scaling` that are not outliers, without point `without` (SIZE_MAX: with all). scaling_data.c
 */
void scaling_data_fill(struct scaling_data *data, const struct scaling *scaling, size_t without);
double scaling_growth(struct rates at, double threads);
/* The weighted sum of squares at the best eta, which goes to *eta unless that is NULL. */
double scaling_squares(const struct scaling_data *data, struct rates at, double *eta);

/* The minimum within the bounds of the law. */
double scaling_minimum(const struct scaling_data *data, enum scaling_law law, struct rates *best);
size_t scaling_params(enum scaling_law law);

/* The region that contains 95 % of the likelihood. */
struct scaling_region {
	const struct scaling_data *data;
	enum scaling_law law;
	struct rates best;
	double squares, limit; /* limit: of the sum of squares */
};
struct scaling_region scaling_region(const struct scaling_data *data, enum scaling_law law);
void scaling_sigma_ci(const struct scaling_region *region, double ci[2]);
void scaling_kappa_ci(const struct scaling_region *region, double ci[2]);
void scaling_best_ci(const struct scaling_region *region, double ci[2]);
double scaling_best(struct rates at);
void scaling_growth_ci(const struct scaling_region *region, double threads, double ci[2]);
#endif
