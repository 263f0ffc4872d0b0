/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of this room. */
#ifndef TUNER_MODEL_GP_IMPL_H
#define TUNER_MODEL_GP_IMPL_H
#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>
#include <math.h>

#include "tuner/model/gp/gp.h"

/* A variance that every observation has in addition to its noise, which keeps the matrix positive definite; and the
 * precision of the constant mean's prior, which is 0. */
#define GP_JITTER     1e-7
#define GP_MEAN_DOUBT 1e-3
enum { GP_SCALE, GP_NOISE, GP_SHARE, GP_SHAPES };

struct gp_axis {
	size_t values;
	double *at;          /* NULL: unordered */
	double prior, doubt; /* prior mean and deviation of the logarithm of the length */
	bool trend;
	double slope, slope_variance;
	double *alike;          /* gp_correlations_make: a triangle of the correlations of two codes */
	uint64_t alike_version; /* version of gp that they belong to; 0: none */
};

struct gp {
	struct gp_axis *axis;
	size_t dims, trends, count, room;
	uint16_t *codes;  /* count x dims */
	double *variance; /* own noise of each observation */
	uint64_t *serial; /* of each observation, never reused */
	uint64_t given;
	double *target; /* as given */
	double *theta; /* dims logarithms of lengths, then GP_SCALE (log s2), GP_NOISE (log variance), GP_SHARE (logit w) */
	uint64_t version; /* counts changes of theta; whatever depends on theta must then be recomputed */
	double likelihood;
	/* gp_condition */
	gsl_matrix *lower; /* Cholesky factor; the first `solved` rows are valid for theta */
	size_t solved;
	double *white; /* L^-1 (target - mean) */
	double mean;
	/* gp_leave_one_out: the inverse of `lower`, of which the first `inverted` rows are valid */
	gsl_matrix *inverse;
	size_t inverted;
};

struct gp_kernel { /* theta in the form in which the kernel uses it */
	double s2, noise, share, length[GP_DIMS_MAX];
};
void gp_kernel_of(const struct gp *gp, const double *theta, struct gp_kernel *kernel);
/* Tabulates the correlations at the current theta where that takes less time than computing them for each pair of
 * observations. */
double gp_correlation(const struct gp *gp, const struct gp_kernel *kernel, size_t dim, unsigned a, unsigned b);
/* The trends' prediction for a configuration. */
double gp_trend(const struct gp *gp, const uint16_t *codes);

static inline double gp_dot(const double *a, const double *b, size_t count) {
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

static inline double gp_place(const struct gp_axis *axis, unsigned code) {
	return axis->at ? axis->at[code] : NAN;
}

static inline double gp_distance(const struct gp_axis *axis, unsigned a, unsigned b) {
	double x = gp_place(axis, a), y = gp_place(axis, b);
	if (a == b)
		return 0;
	return isnan(x) || isnan(y) ? 1 : fabs(x - y);
}

/* Matern 5/2 at z >= 0; slope: -dm/dlog z, or NULL. */
static inline double gp_matern(double z, double *slope) {
	double r = sqrt(5) * z, e = exp(-r);
	if (slope)
		*slope = 5.0 / 3 * z * z * (1 + r) * e;
	return (1 + r + r * r / 3) * e;
}

/* The covariance that the uncertain slopes of the trends give to two configurations. */
static inline double gp_trend_covariance(const struct gp *gp, const uint16_t *a, const uint16_t *b) {
	double sum = 0;
	for (size_t d = 0; gp->trends && d < gp->dims; d++)
		if (gp->axis[d].trend)
			sum += gp->axis[d].slope_variance * gp_place(&gp->axis[d], a[d]) * gp_place(&gp->axis[d], b[d]);
	return sum;
}

/* The dimensions of a pool's candidates. codes: dims x stride */
struct gp_groups;

/* The observations of a fit, with everything that is constant during it. */
struct gp_problem;
struct gp_problem *gp_problem_new(const struct gp *gp, const size_t *chosen, size_t count);
void gp_problem_free(struct gp_problem *problem);
/* Logarithm of likelihood times priors, and its gradient by theta unless that is NULL. -INFINITY: theta is out of
 * range. */
double gp_problem_value(struct gp_problem *problem, const double *theta, double *gradient);

/* OpenBLAS for GSL, loaded when it is needed. */

/* Chooses between OpenBLAS and GSL's own functions, at the first call. */
void blas_load(void);
#endif
