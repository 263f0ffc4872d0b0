/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files scaling*.c only.
 *
 * log seconds(N) = eta - log N + log growth(N), growth = 1 + sigma (N - 1) + kappa N (N - 1). For given sigma and kappa
 * the best eta is a weighted mean. What remains is a sum of squares over the plane of sigma and kappa; beside its
 * minimum, all that intervals need is its smallest value along straight lines. */
#ifndef TUNER_MODEL_LAW_SCALING_IMPL_H
#define TUNER_MODEL_LAW_SCALING_IMPL_H
#include "tuner/model/law/scaling.h"

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
