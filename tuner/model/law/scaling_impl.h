/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files scaling*.c only.
 *
 * log seconds(N) = eta - log N + log growth(N), growth = 1 + sigma (N - 1) + kappa N (N - 1): with sigma and kappa
 * given, the best eta is a weighted mean. What is left is a sum of squares over the plane of sigma and kappa, and all
 * that is asked of it besides its minimum is its least value along a straight line. */
#ifndef TUNER_MODEL_LAW_SCALING_IMPL_H
#define TUNER_MODEL_LAW_SCALING_IMPL_H
#include "tuner/model/law/scaling.h"

struct place {
	double sigma, kappa;
};

struct scaling_data {
	size_t count, distinct;
	double threads[SCALING_POINTS_MAX], base[SCALING_POINTS_MAX]; /* base: log(seconds N) */
	double weight[SCALING_POINTS_MAX], total;                     /* of mean 1; their sum */
	double scale;                                                 /* that was divided by for that */
	double kappa_top;                                             /* no larger one can be told from it */
};

/* The points of `scaling` that are no outliers, without point `without` (SIZE_MAX: with all). scaling_data.c */
void scaling_data_fill(struct scaling_data *data, const struct scaling *scaling, size_t without);
double scaling_growth(struct place at, double threads);
/* Weighted sum of squares at the best eta, which goes to *eta unless that is NULL. */
double scaling_squares(const struct scaling_data *data, struct place at, double *eta);
/* The least of them on the way from one place to another, and where. */
double scaling_least(const struct scaling_data *data, struct place from, struct place to, struct place *best);

/* The minimum within the bounds of the law. scaling_minimum.c */
double scaling_minimum(const struct scaling_data *data, enum scaling_law law, struct place *best);
size_t scaling_params(enum scaling_law law);

/* The interval that holds 95 % of the likelihood. scaling_profile.c */
struct scaling_region {
	const struct scaling_data *data;
	enum scaling_law law;
	struct place best;
	double squares, limit; /* limit: of the sum of squares */
};
struct scaling_region scaling_region(const struct scaling_data *data, enum scaling_law law);
void scaling_sigma_ci(const struct scaling_region *region, double ci[2]);
void scaling_kappa_ci(const struct scaling_region *region, double ci[2]);
void scaling_best_ci(const struct scaling_region *region, double ci[2]);
double scaling_best(struct place at);
void scaling_growth_ci(const struct scaling_region *region, double threads, double ci[2]);
void scaling_log_seconds_ci(const struct scaling_region *region, double threads, double ci[2]); /* scaling_mean.c */

/* scaling_judge.c. Sum of squares, number of points, parameters of the law. */
double scaling_aicc(double squares, double count, double params);
/* Why a law is not good; NULL: it is. deviation: what is usual of the points' own, 0: not known. chosen: points were
 * left out; what follows no law may then be left with little that differs. */
const char *scaling_doubt(const struct scaling_data *data, const struct scaling_fit *fit, double deviation,
                          bool chosen);
/* Is what threads cost together (threads times seconds) falling with their number, beyond the noise? */
bool scaling_superlinear(const struct scaling_data *data);

/* Marks outliers, at most one in eight. scaling_outlier.c */
void scaling_outliers_find(struct scaling *scaling);

#endif
