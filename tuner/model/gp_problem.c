/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The likelihood and its gradient (Rasmussen and Williams 2006, equations 5.8 and 5.9). The constant mean is set to its
 * best value, which a weak prior draws to 0. */
#include <config.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <string.h>

#include "tuner/model/gp_impl.h"

static const struct {
	double mean, deviation;
} SHAPE_PRIOR[GP_SHAPES] = {[GP_SCALE] = {-0.6, 1.5}, [GP_NOISE] = {-8, 1}, [GP_SHARE] = {0, 1.5}};
static const double LENGTH_DEVIATION = 1.2;

static double prior(const struct gp *gp, const double *theta, double *gradient) {
	double sum = 0;
	for (size_t t = 0; t < gp->dims + GP_SHAPES; t++) {
		bool length = t < gp->dims;
		double deviation = length ? LENGTH_DEVIATION : SHAPE_PRIOR[t - gp->dims].deviation;
		double z = (theta[t] - (length ? gp->axis[t].prior : SHAPE_PRIOR[t - gp->dims].mean)) / deviation;
		sum -= 0.5 * z * z;
		if (gradient)
			gradient[t] = -z / deviation;
	}
	return sum;
}

/* m and its slope for all pairs of codes, dimension after dimension. */
static void tabulate(struct gp_problem *problem, const struct gp_kernel *kernel) {
	double *table = problem->tables;
	for (size_t d = 0; d < problem->gp->dims; d++) {
		const struct gp_axis *axis = &problem->gp->axis[d];
		if (axis->values > GP_TABLE_MAX)
			continue;
		for (unsigned a = 0; a < axis->values; a++)
			for (unsigned b = 0; b < axis->values; b++, table += 2)
				table[0] = gp_matern(gp_distance(axis, a, b) / kernel->length[d], &table[1]);
	}
}

struct pair {
	double m[GP_DIMS_MAX], slope[GP_DIMS_MAX], sum, product;
};

static void pair_of(const struct gp_problem *problem, const struct gp_kernel *kernel, const uint16_t *a,
                    const uint16_t *b, struct pair *pair) {
	const double *table = problem->tables;
	pair->sum = 0;
	pair->product = 1;
	for (size_t d = 0; d < problem->gp->dims; d++) {
		const struct gp_axis *axis = &problem->gp->axis[d];
		if (axis->values > GP_TABLE_MAX) {
			pair->m[d] = gp_matern(gp_distance(axis, a[d], b[d]) / kernel->length[d], &pair->slope[d]);
		} else {
			const double *entry = table + 2 * (a[d] * axis->values + b[d]);
			pair->m[d] = entry[0];
			pair->slope[d] = entry[1];
			table += 2 * axis->values * axis->values;
		}
		pair->sum += pair->m[d];
		pair->product *= pair->m[d];
	}
}

static double pair_value(const struct gp *gp, const struct gp_kernel *kernel, const struct pair *pair) {
	return kernel->s2 * (kernel->share * pair->sum / fmax((double)gp->dims, 1) + (1 - kernel->share) * pair->product);
}

static const uint16_t *codes_of(const struct gp_problem *problem, size_t i) {
	return problem->gp->codes + problem->chosen[i] * problem->gp->dims;
}

static void covariance_fill(struct gp_problem *problem, const struct gp_kernel *kernel) {
	struct pair pair;
	for (size_t i = 0; i < problem->count; i++)
		for (size_t j = 0; j <= i; j++) {
			const uint16_t *a = codes_of(problem, i), *b = codes_of(problem, j);
			pair_of(problem, kernel, a, b, &pair);
			double value = pair_value(problem->gp, kernel, &pair) + gp_trend_covariance(problem->gp, a, b);
			if (i == j)
				value += kernel->noise + GP_JITTER + problem->gp->variance[problem->chosen[i]];
			gsl_matrix_set(problem->covariance, i, j, value);
		}
}

static void solve(const gsl_matrix *lower, const double *from, double *to, size_t count) {
	memcpy(to, from, count * sizeof *to);
	gsl_vector_view x = gsl_vector_view_array(to, count);
	gsl_blas_dtrsv(CblasLower, CblasNoTrans, CblasNonUnit, lower, &x.vector);
}

static double dot(const double *a, const double *b, size_t count) {
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

/* L^-1 (y - mean) into weights; the logarithm of the likelihood. */
static double likelihood(struct gp_problem *problem, const gsl_matrix *lower) {
	size_t count = problem->count;
	double *unit = problem->ones, *white = problem->weights, sum = 0;
	for (size_t i = 0; i < count; i++)
		white[i] = 1;
	solve(lower, white, unit, count);
	solve(lower, problem->residual, white, count);
	double mean = dot(unit, white, count) / (dot(unit, unit, count) + GP_MEAN_DOUBT);
	for (size_t i = 0; i < count; i++) {
		white[i] -= mean * unit[i];
		sum -= 0.5 * white[i] * white[i] + log(gsl_matrix_get(lower, i, i));
	}
	return sum - 0.5 * GP_MEAN_DOUBT * mean * mean; /* at its best mean: so it has no part in the gradient */
}

static void gradient_add(struct gp_problem *problem, const struct gp_kernel *kernel, const double *alpha,
                         double *gradient) {
	const struct gp *gp = problem->gp;
	double *shape = gradient + gp->dims, w = kernel->share, dims = fmax((double)gp->dims, 1), even = w / dims;
	struct pair pair;
	for (size_t i = 0; i < problem->count; i++)
		for (size_t j = 0; j <= i; j++) {
			double factor = (alpha[i] * alpha[j] - gsl_matrix_get(problem->inverse, i, j)) * (i == j ? 0.5 : 1);
			pair_of(problem, kernel, codes_of(problem, i), codes_of(problem, j), &pair);
			shape[GP_SCALE] += factor * pair_value(gp, kernel, &pair);
			shape[GP_SHARE] += factor * kernel->s2 * w * (1 - w) * (pair.sum / dims - pair.product);
			if (i == j)
				shape[GP_NOISE] += factor * kernel->noise;
			for (size_t d = 0; d < gp->dims; d++) {
				double others = pair.m[d] > 1e-12 ? pair.product / pair.m[d] : 0;
				gradient[d] += factor * kernel->s2 * pair.slope[d] * (even + (1 - w) * others);
			}
		}
}

double gp_problem_value(struct gp_problem *problem, const double *theta, double *gradient) {
	struct gp_kernel kernel;
	gp_kernel_of(problem->gp, theta, &kernel);
	tabulate(problem, &kernel);
	covariance_fill(problem, &kernel);
	double value = prior(problem->gp, theta, gradient);
	if (gsl_linalg_cholesky_decomp1(problem->covariance))
		return -INFINITY;
	value += likelihood(problem, problem->covariance);
	if (gradient) {
		gsl_vector_view alpha = gsl_vector_view_array(problem->weights, problem->count);
		gsl_blas_dtrsv(CblasLower, CblasTrans, CblasNonUnit, problem->covariance, &alpha.vector);
		gsl_matrix_memcpy(problem->inverse, problem->covariance);
		gsl_linalg_cholesky_invert(problem->inverse);
		gradient_add(problem, &kernel, problem->weights, gradient);
	}
	return value;
}
