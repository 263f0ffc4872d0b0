/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals by profile likelihood (Bates and Watts, Nonlinear regression analysis and its applications, 1988,
 * section 6.1): the values of a quantity for which the smallest sum of squares over everything else is at most least (1
 * + t^2 / degrees of freedom). With one quantity of the law fixed, the free ones form a straight line. */
#include <config.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_roots.h>
#include <math.h>

#include "tuner/model/law/scaling_impl.h"

enum { STEPS = 60 };
static const double TAIL = 0.025, CLOSE = 1e-5;
static const double EXACT = 1e-12; /* a smaller variance is taken for rounding */

struct scaling_region scaling_region(const struct scaling_data *data, enum scaling_law law) {
	struct scaling_region region = {.data = data, .law = law};
	double freedom = (double)(data->count - scaling_params(law)), t = gsl_cdf_tdist_Qinv(TAIL, freedom);
	region.squares = scaling_minimum(data, law, &region.best);
	region.limit = region.squares + t * t * fmax(region.squares / freedom, EXACT);
	return region;
}

struct profile {
	const struct scaling_region *region;
	/* The line on which the quantity has this value. */
	void (*line)(const struct profile *profile, double value, struct rates ends[2]);
	double threads;
};

static double excess(double value, void *ctx) {
	const struct profile *profile = ctx;
	struct rates ends[2], at;
	profile->line(profile, value, ends);
	return scaling_least(profile->region->data, ends[0], ends[1], &at) - profile->region->limit;
}

/* Searches from the best value, which is inside, towards a bound. */
static double end_find(struct profile *profile, double best, double bound) {
	gsl_function function = {.function = excess, .params = profile};
	double low = fmin(best, bound), high = fmax(best, bound);
	if (!(low < high) || !(excess(bound, profile) > 0))
		return bound;
	if (!(excess(best, profile) < 0)) /* possible by rounding */
		return best;
	gsl_root_fsolver *solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
	if (gsl_root_fsolver_set(solver, &function, low, high) == GSL_SUCCESS)
		for (int i = 0; i < STEPS && high - low > CLOSE * high; i++) {
			if (gsl_root_fsolver_iterate(solver) != GSL_SUCCESS)
				break;
			low = gsl_root_fsolver_x_lower(solver);
			high = gsl_root_fsolver_x_upper(solver);
		}
	gsl_root_fsolver_free(solver);
	return bound < best ? low : high;
}

static double kappa_most(const struct profile *profile) {
	return profile->region->law == SCALING_AMDAHL ? 0 : profile->region->data->kappa_top;
}

static void sigma_line(const struct profile *profile, double sigma, struct rates ends[2]) {
	ends[0] = (struct rates){sigma, 0};
	ends[1] = (struct rates){sigma, kappa_most(profile)};
}

void scaling_sigma_ci(const struct scaling_region *region, double ci[2]) {
	struct profile profile = {region, sigma_line, 0};
	ci[0] = end_find(&profile, region->best.sigma, 0);
	ci[1] = end_find(&profile, region->best.sigma, 1);
}

static void kappa_line(const struct profile *profile, double kappa, struct rates ends[2]) {
	(void)profile;
	ends[0] = (struct rates){0, kappa};
	ends[1] = (struct rates){1, kappa};
}

void scaling_kappa_ci(const struct scaling_region *region, double ci[2]) {
	struct profile profile = {region, kappa_line, 0};
	double top = kappa_most(&profile);
	ci[0] = ci[1] = 0;
	if (region->law == SCALING_AMDAHL)
		return;
	ci[0] = end_find(&profile, region->best.kappa, 0);
	ci[1] = end_find(&profile, region->best.kappa, fmax(top, region->best.kappa));
	if (ci[1] >= top)
		ci[1] = INFINITY;
}

/* The time is smallest at sqrt((1 - sigma) / kappa) (Gunther 2007, section 4.4.1), so that kappa = (1 - sigma) /
 * threads^2. The quantity is 1 / threads^2, which is between 0 and 1. */
static void best_line(const struct profile *profile, double inverse, struct rates ends[2]) {
	(void)profile;
	ends[0] = (struct rates){0, inverse};
	ends[1] = (struct rates){1, 0};
}

static double best_inverse(struct rates at) {
	if (!(at.kappa > 0))
		return 0;
	return at.kappa < 1 - at.sigma ? at.kappa / (1 - at.sigma) : 1;
}

double scaling_best(struct rates at) {
	return 1 / sqrt(best_inverse(at));
}

void scaling_best_ci(const struct scaling_region *region, double ci[2]) {
	struct profile profile = {region, best_line, 0};
	double best = best_inverse(region->best);
	ci[0] = ci[1] = INFINITY;
	if (region->law == SCALING_AMDAHL)
		return;
	ci[0] = 1 / sqrt(end_find(&profile, best, 1));
	ci[1] = 1 / sqrt(end_find(&profile, best, 0));
}

static void growth_line(const struct profile *profile, double growth, struct rates ends[2]) {
	double n = profile->threads, sigma = fmin(1, (growth - 1) / (n - 1));
	ends[0] = (struct rates){sigma, (growth - 1 - sigma * (n - 1)) / (n * (n - 1))};
	ends[1] = profile->region->law == SCALING_AMDAHL ? ends[0] : (struct rates){0, (growth - 1) / (n * (n - 1))};
}

void scaling_growth_ci(const struct scaling_region *region, double threads, double ci[2]) {
	struct profile profile = {region, growth_line, threads};
	double best = scaling_growth(region->best, threads);
	double top = fmax(best, scaling_growth((struct rates){1, kappa_most(&profile)}, threads));
	ci[0] = ci[1] = 1;
	if (!(threads > 1))
		return;
	ci[0] = end_find(&profile, best, 1);
	ci[1] = end_find(&profile, best, top);
}
