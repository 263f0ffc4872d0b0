/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A Gaussian process over configurations (Rasmussen and Williams, Gaussian processes for machine learning, 2006), which
 * predicts the target of a configuration that was not measured, with the uncertainty of the prediction.
 *
 * A configuration is a code per dimension. Ordered dimensions have a coordinate in 0..1 for each code; in unordered
 * ones any two codes are equally far apart (an exchangeable kernel), and so is the code that stands for "absent" from
 * all others. The covariance of two configurations is
 *
 *     s2 (w mean_d m(z_d) + (1 - w) prod_d m(z_d)),  z_d = distance / length of d,  m the Matern 5/2 function
 *
 * (section 4.2): main effects beside interactions of every order (additive kernels: Duvenaud, Nickisch, Rasmussen,
 * Additive Gaussian processes, 2011). A dimension that is ordered and never absent may also be a trend: the mean has a
 * coefficient for its coordinate, normal with a given mean and deviation (section 2.7).
 *
 * Lengths, s2, w and the noise maximise likelihood times priors (gsl_multimin with the gradient of equation 5.9); the
 * priors keep few observations from fixing many lengths. Targets should have a deviation of about 1. */
#ifndef TUNER_MODEL_GP_GP_H
#define TUNER_MODEL_GP_GP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GP_DIMS_MAX = 96 };
#define GP_DOUBT 1.2

struct gp_dim {
	size_t values;    /* codes are 0 .. values - 1 */
	const double *at; /* coordinates of the codes in 0..1, copied; NULL: unordered. NAN: absent */
	double length;    /* expected length; its logarithm has a normal prior */
	double doubt;     /* the deviation of that logarithm; 0: GP_DOUBT */
	bool trend;
	double slope, slope_deviation; /* prior of the trend's coefficient of `at` */
};

/* Makes the dimension of a parameter: its values in the order of their codes, then its absence. numbers: the values,
 * compared by their ratios if all are positive and the largest is at least 4 times the smallest; NULL: words. at:
 * values + 1, may be `numbers`; the dimension points to it. */
struct gp_dim gp_dim_of(const double *numbers, size_t values, double *at);

struct gp;
struct gp *gp_new(const struct gp_dim *dims, size_t count);
void gp_free(struct gp *gp);

/* Adds an observation: a code per dimension, and the variance of its noise in addition to the noise that all have.
 * Targets are set for all observations together, since they may be relative to the best. */
void gp_add(struct gp *gp, const uint16_t *codes, double variance);
void gp_truncate(struct gp *gp, size_t count); /* keeps the first ones */
size_t gp_count(const struct gp *gp);
void gp_target(struct gp *gp, const double *y);

/* Fits the parameters to the observations (if there are more than 160, to a part of them: the smallest targets and some
 * of the others) in at most `steps` steps. */
void gp_fit(struct gp *gp, size_t steps);
/* Chooses all of the targets, or the lowest ones and an even choice of the others; returns how many. */
size_t gp_choose(const double *target, size_t count, size_t best, size_t others, size_t *chosen);
/* Conditions on the current observations and targets; to be called before everything below. */
void gp_condition(struct gp *gp);
void gp_predict(const struct gp *gp, const uint16_t *codes, double *mean, double *variance);
/* The covariance of the predictions of several configurations, without noise: count x count. */
void gp_covariances(const struct gp *gp, const uint16_t *codes, size_t count, double *covariance);
/* Predicts each observation from all others (section 5.4.2): mean and variance, its own noise included. Parameters and
 * the constant mean stay those of all observations, so that errors of few observations are a little too small. */
void gp_leave_one_out(struct gp *gp, double *mean, double *variance);
/* The mean at each observation, as of gp_predict, without noise. */
void gp_smooth(const struct gp *gp, double *mean);
double gp_length(const struct gp *gp, size_t dim); /* at the last fit */
double gp_likelihood(const struct gp *gp);         /* logarithm at the last fit, priors included */
double gp_noise(const struct gp *gp);              /* variance */

/* Predictions of many configurations that are needed again after each observation: a new one costs each of them one row
 * of a triangular solve instead of all rows. */
struct gp_pool;
struct gp_pool *gp_pool_new(struct gp *gp, size_t room); /* gp must outlive it */
void gp_pool_free(struct gp_pool *pool);
/* codes: count x dims, copied; count <= room. */
void gp_pool_set(struct gp_pool *pool, const uint16_t *codes, size_t count);
/* To be called after gp_condition. */
void gp_pool_predict(struct gp_pool *pool);
const float *gp_pool_mean(const struct gp_pool *pool);
const float *
gp_pool_variance(const struct gp_pool *pool); /* of the function, without noise; may be 0 or slightly below */
#endif
