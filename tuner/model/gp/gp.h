/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A Gaussian process over configurations (Rasmussen and Williams 2006): what a configuration that was not measured is
 * expected to give, and how far that may be off.
 *
 * A configuration is a code per dimension. Ordered dimensions have a place in 0..1 for each code; in unordered ones any
 * two codes are equally far apart (an exchangeable kernel), and so is a code that stands for "absent" from all others.
 * The covariance of two configurations is
 *     s2 (w mean_d m(z_d) + (1 - w) prod_d m(z_d)),  z_d = distance / length of d,  m the Matern 5/2 function
 * (section 4.2) main effects beside interactions of every order (additive kernels: Duvenaud, Nickisch, Rasmussen 2011).
 * A dimension that is ordered and never absent may also bring a trend: the mean has a coefficient for its places,
 * normal with a given mean and deviation (section 2.7).
 *
 * Lengths, s2, w and the noise are set to the maximum of likelihood times priors, by gsl_multimin with the gradient of
 * equation 5.9. Targets are in units where a deviation of about 1 is usual. */
#ifndef TUNER_MODEL_GP_GP_H
#define TUNER_MODEL_GP_GP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GP_DIMS_MAX = 96 };

struct gp_dim {
	size_t values;    /* codes are 0 .. values - 1 */
	const double *at; /* places of the codes in 0..1, copied; NULL: unordered. NAN: absent */
	double length;    /* that is expected; its logarithm has a normal prior */
	bool trend;
	double slope, slope_deviation; /* of the mean over `at`, where it is a trend */
};

/* The dimension of a parameter, its values in the order of their codes and its absence as the last code. numbers: of
 * the values, compared by their ratios where all are positive and the largest is at least 4 times the smallest; NULL:
 * words. at: values + 1, may be `numbers`; the dimension points to it. */
struct gp_dim gp_dim_of(const double *numbers, size_t values, double *at);

struct gp;
struct gp *gp_new(const struct gp_dim *dims, size_t count);
void gp_free(struct gp *gp);

/* An observation: a code per dimension, and the variance of its noise beside what all have. Targets are set for all of
 * them together, since they may be relative to the best. */
void gp_add(struct gp *gp, const uint16_t *codes, double variance);
void gp_truncate(struct gp *gp, size_t count); /* keep the first */
size_t gp_count(const struct gp *gp);
void gp_target(struct gp *gp, const double *y);

/* Sets the parameters by what was observed (of more than a hundred or two, by a part: the smallest targets and some of
 * the others), in at most so many steps. */
void gp_fit(struct gp *gp, size_t steps);
/* Conditions on the observations and targets there are: before all that follows. */
void gp_condition(struct gp *gp);
void gp_predict(const struct gp *gp, const uint16_t *codes, double *mean, double *variance);
/* How predictions of several configurations vary together, without noise: count x count. After gp_condition. */
void gp_covariances(const struct gp *gp, const uint16_t *codes, size_t count, double *covariance);
/* Leave-one-out predictions of each observation (section 5.4.2): mean and variance of each, its own noise
 * included. Parameters and the constant mean stay as they are with all of them: with few observations, errors come out
 * a little small. */
void gp_leave_one_out(struct gp *gp, double *mean, double *variance);
/* The mean at each observation: what gp_predict says of it, without noise. */
void gp_smooth(const struct gp *gp, double *mean);
double gp_likelihood(const struct gp *gp); /* logarithm, priors included, at the last fit */
double gp_noise(const struct gp *gp);      /* variance */
/* How much the targets vary along a dimension as the model has it: 0..1, the share of the longest. */
double gp_relevance(const struct gp *gp, size_t dim);

/* Predictions of many configurations that are asked for again and again while observations come in: each costs one more
 * row of a triangular solve instead of all. */
struct gp_pool;
struct gp_pool *gp_pool_new(struct gp *gp, size_t room); /* lives as long as gp */
void gp_pool_free(struct gp_pool *pool);
/* codes: count x dims, kept by the caller; count <= room. */
void gp_pool_set(struct gp_pool *pool, const uint16_t *codes, size_t count);
/* After gp_condition. */
void gp_pool_predict(struct gp_pool *pool);
const float *gp_pool_mean(const struct gp_pool *pool);
const float *
gp_pool_variance(const struct gp_pool *pool); /* of the function, without noise; may be 0 or a little below */

#endif
