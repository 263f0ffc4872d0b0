/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <math.h>

#include "tuner/model/law/scaling_impl.h"

enum { STEPS = 200 };
static const double OUTSIDE = 1e6, SMALL = 1e-7;

struct mean {
	const struct scaling_region *region;
	double threads, sign, unit; /* unit: of kappa */
};

/* Steps beyond a bound are reflected. */
static struct rates rates_of(const struct mean *mean, const gsl_vector *x) {
	double sigma = fabs(remainder(gsl_vector_get(x, 0), 2));
	return (struct rates){sigma, x->size > 1 ? fabs(gsl_vector_get(x, 1)) * mean->unit : 0};
}

/* For given sigma and kappa, eta may deviate from its best value by the root of what remains to the limit. */
static double beyond(const gsl_vector *x, void *ctx) {
	const struct mean *mean = ctx;
	struct rates at = rates_of(mean, x);
	double eta, left = mean->region->limit - scaling_squares(mean->region->data, at, &eta);
	if (!(left >= 0))
		return OUTSIDE - fmax(left, -OUTSIDE);
	return -(mean->sign * (eta + log(scaling_growth(at, mean->threads))) + sqrt(left / mean->region->data->total));
}

static double search(struct mean *mean, size_t dims, const gsl_vector *start, const gsl_vector *steps) {
	gsl_multimin_function function = {.f = beyond, .n = dims, .params = mean};
	gsl_multimin_fminimizer *minimizer = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, dims);
	double least = beyond(start, mean);
	if (gsl_multimin_fminimizer_set(minimizer, &function, start, steps) == GSL_SUCCESS)
		for (int i = 0; i < STEPS && gsl_multimin_fminimizer_size(minimizer) > SMALL; i++) {
			if (gsl_multimin_fminimizer_iterate(minimizer) != GSL_SUCCESS)
				break;
			least = fmin(least, gsl_multimin_fminimizer_minimum(
									minimizer)); /* before the first step the minimiser does not have a value */
		}
	gsl_multimin_fminimizer_free(minimizer);
	return -mean->sign * least;
}

static double step_of(const double ci[2], double unit) {
	double width = (fmin(ci[1], 1e300) - ci[0]) / unit / 4;
	return width > 1e-9 ? fmin(width, 1) : 1e-9;
}

void scaling_log_seconds_ci(const struct scaling_region *region, double threads, double ci[2]) {
	size_t dims = region->law == SCALING_AMDAHL ? 1 : 2;
	double sigma[2], kappa[2];
	scaling_sigma_ci(region, sigma);
	scaling_kappa_ci(region, kappa);
	struct mean mean = {region, threads, 1, fmax(kappa[0], isfinite(kappa[1]) ? kappa[1] : region->best.kappa)};
	if (!(mean.unit > 0))
		mean.unit = 1;
	gsl_vector *start = gsl_vector_alloc(dims), *steps = gsl_vector_alloc(dims);
	gsl_vector_set(start, 0, region->best.sigma);
	gsl_vector_set(steps, 0, step_of(sigma, 1));
	if (dims > 1) {
		gsl_vector_set(start, 1, region->best.kappa / mean.unit);
		gsl_vector_set(steps, 1, step_of(kappa, mean.unit));
	}
	ci[1] = search(&mean, dims, start, steps) - log(threads);
	mean.sign = -1;
	ci[0] = search(&mean, dims, start, steps) - log(threads);
	gsl_vector_free(start);
	gsl_vector_free(steps);
}
