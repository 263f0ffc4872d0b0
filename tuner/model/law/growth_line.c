/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits broken lines by least squares with Huber weights (growth.h), and searches their breaks. */
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_vector.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/stats.h"
#include "tuner/model/law/law_impl.h"

/* Cleveland 1979, section 2, of degree one, without the robust rounds: a size that is off bends its surroundings, and
 * its leave-one-out error shows it. */

/* The bandwidth extends a little beyond the furthest neighbour, whose weight would be 0 otherwise. */
static const double BEYOND = 1.15, NONE = 1e-12;
static const double DEVIATION_OF_MEAN = 1.2533; /* deviation of a normal error over its mean absolute value */

/* The neighbours [first, first + near) of x among ascending sizes, without `out` (SIZE_MAX: with all). */
static size_t neighbours(const struct growth_law *law, double x, size_t out, size_t *chosen) {
	size_t count = 0;
	bool taken[GROWTH_SIZES_MAX] = {false};
	for (size_t k = 0; k < law->near; k++) {
		size_t best = SIZE_MAX;
		for (size_t i = 0; i < law->count; i++)
			if (!taken[i] && i != out && (best == SIZE_MAX || fabs(law->x[i] - x) < fabs(law->x[best] - x)))
				best = i;
		if (best == SIZE_MAX)
			break;
		taken[best] = true;
		chosen[count++] = best;
	}
	return count;
}

static double local_at(const struct growth_law *law, double x, size_t out) {
	size_t chosen[GROWTH_SIZES_MAX], count = neighbours(law, x, out, chosen);
	double sum = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0;
	double reach = BEYOND * fabs(law->x[chosen[count - 1]] - x) + NONE, weight[GROWTH_SIZES_MAX];
	for (size_t k = 0; k < count; k++) {
		double u = fabs(law->x[chosen[k]] - x) / reach;
		weight[k] = pow(1 - u * u * u, 3);
		sum += weight[k];
		mean_x += weight[k] * (law->x[chosen[k]] - x);
		mean_y += weight[k] * law->y[chosen[k]];
	}
	mean_x /= sum;
	mean_y /= sum;
	for (size_t k = 0; k < count; k++) {
		double dx = law->x[chosen[k]] - x - mean_x;
		xx += weight[k] * dx * dx;
		xy += weight[k] * dx * (law->y[chosen[k]] - mean_y);
	}
	return mean_y - (xx > NONE ? xy / xx : 0) * mean_x;
}

static bool local_fit(const struct growth_points *points, struct growth_law *law) {
	double sum = 0;
	law->kind = GROWTH_LOCAL;
	law->count = points->count;
	if (points->count < law->near + 2)
		return false;
	memcpy(law->x, points->x, points->count * sizeof *law->x);
	memcpy(law->y, points->y, points->count * sizeof *law->y);
	for (size_t i = 0; i < points->count; i++)
		sum += fabs(points->y[i] - local_at(law, points->x[i], i));
	law->sigma = DEVIATION_OF_MEAN * sum / (double)points->count;
	law->freedom = fmax(1, (double)points->count - 2 * (double)points->count / (double)law->near);
	return true;
}

enum { ROUNDS = 6, POINTS_A_PIECE = 2 };
static const double HUBER = 1.345; /* 95 % efficient for normal errors */
/* The share of the variance of normal errors that survives the weights: 2 Phi(k) - 1, because the weighted tails make
 * up for what the middle lacks. */
static const double WEIGHTED_SHARE = 0.8214;
static const double MAD_OF_NORMAL = 0.6745, TINY = 1e-9;

double growth_law_at(const struct growth_law *law, double x, double terms[GROWTH_TERMS_MAX]) {
	double sum = 0;
	if (law->kind == GROWTH_LOCAL)
		return local_at(law, x, SIZE_MAX);
	if (law->kind == GROWTH_OVERHEAD) {
		double a = law->coef[0], b = law->coef[1] + law->coef[2] * x, top = fmax(a, b);
		double value = top + log(exp(a - top) + exp(b - top)), share = exp(a - value);
		terms[0] = share;
		terms[1] = 1 - share;
		terms[2] = (1 - share) * x;
		return value;
	}
	terms[0] = 1;
	terms[1] = x;
	for (size_t i = 0; i < law->breaks; i++)
		terms[2 + i] = fmax(0, x - law->at[i]);
	for (size_t i = 0; i < law->terms; i++)
		sum += law->coef[i] * terms[i];
	return sum;
}

/* Sets Huber's weights for the residuals of a fit with `terms` coefficients. Returns whether any weight is below 1. */
static bool growth_weights(const double *residual, size_t count, size_t terms, double *weight) {
	double size[GROWTH_SIZES_MAX] = {0};
	for (size_t i = 0; i < count; i++)
		size[i] = fabs(residual[i]);
	double scale = stats_median(size, count) / MAD_OF_NORMAL;
	if (count > terms) /* residuals of few points are smaller than the errors */
		scale *= sqrt((double)count / (double)(count - terms));
	double limit = HUBER * fmax(scale, TINY);
	for (size_t i = 0; i < count; i++)
		weight[i] = size[i] > limit ? limit / size[i] : 1;
	for (size_t i = 0; i < count; i++)
		if (weight[i] < 1)
			return scale > TINY;
	return false;
}

/* Sets sigma and freedom by residuals and weights; the position of each break costs a degree of freedom, too. */
static void growth_spread(struct growth_law *law, const double *residual, const double *weight, size_t count) {
	double sum = 0, used = (double)(law->terms + law->breaks);
	for (size_t i = 0; i < count; i++)
		sum += weight[i] * residual[i] * residual[i];
	law->freedom = fmax(1, (double)count - used);
	law->sigma = sqrt(sum / (WEIGHTED_SHARE * law->freedom));
}

/* Normal equations are good enough: four terms of centred logarithms are far from the limits of double precision. Their
 * inverse is the covariance. */
static bool solve(const struct growth_points *points, const double *weight, struct growth_law *law) {
	double a[GROWTH_TERMS_MAX * GROWTH_TERMS_MAX] = {0}, right[GROWTH_TERMS_MAX] = {0};
	size_t terms = law->terms;
	for (size_t k = 0; k < points->count; k++) {
		double row[GROWTH_TERMS_MAX];
		growth_law_at(law, points->x[k], row);
		for (size_t i = 0; i < terms; i++) {
			right[i] += weight[k] * row[i] * points->y[k];
			for (size_t j = 0; j < terms; j++)
				a[i * terms + j] += weight[k] * row[i] * row[j];
		}
	}
	gsl_matrix_view matrix = gsl_matrix_view_array(a, terms, terms);
	gsl_vector_view vector = gsl_vector_view_array(right, terms);
	if (gsl_linalg_cholesky_decomp1(&matrix.matrix) || gsl_linalg_cholesky_svx(&matrix.matrix, &vector.vector) ||
	    gsl_linalg_cholesky_invert(&matrix.matrix))
		return false;
	for (size_t i = 0; i < terms; i++) {
		law->coef[i] = right[i];
		for (size_t j = 0; j < terms; j++)
			law->cov[i][j] = a[i * terms + j];
		if (!isfinite(law->coef[i]))
			return false;
	}
	return true;
}

static void residuals(const struct growth_points *points, const struct growth_law *law, double *residual) {
	double terms[GROWTH_TERMS_MAX];
	for (size_t k = 0; k < points->count; k++)
		residual[k] = points->y[k] - growth_law_at(law, points->x[k], terms);
}

static bool weighted_fit(const struct growth_points *points, struct growth_law *law) {
	double weight[GROWTH_SIZES_MAX], residual[GROWTH_SIZES_MAX];
	bool solved = true, more = true;
	for (size_t k = 0; k < points->count; k++)
		weight[k] = 1;
	for (int round = 0; solved && more && round < ROUNDS; round++) {
		solved = solve(points, weight, law);
		residuals(points, law, residual);
		more = points->count > law->terms && growth_weights(residual, points->count, law->terms, weight);
	}
	if (solved)
		growth_spread(law, residual, weight, points->count);
	return solved;
}

static bool line_fit(const struct growth_points *points, struct growth_law *law) {
	law->kind = law->breaks ? GROWTH_BROKEN : GROWTH_POWER;
	law->terms = 2 + law->breaks;
	if (points->count < law->terms)
		return false;
	gsl_error_handler_t *before = gsl_set_error_handler_off();
	bool solved = weighted_fit(points, law);
	gsl_set_error_handler(before);
	return solved;
}

static bool pieces_filled(const struct growth_points *points, const struct growth_law *law) {
	size_t in[GROWTH_BREAKS_MAX + 1] = {0};
	for (size_t k = 0; k < points->count; k++) {
		size_t piece = 0;
		while (piece < law->breaks && points->x[k] > law->at[piece])
			piece++;
		in[piece]++;
	}
	for (size_t i = 0; i <= law->breaks; i++)
		if (in[i] < POINTS_A_PIECE)
			return false;
	return true;
}

/* The line with breaks at these candidates, which ascend, that has the smallest robust spread. */
static bool breaks_fit(const struct growth_points *points, const double *candidates, size_t count,
                       struct growth_law *law) {
	struct growth_law best = {.sigma = INFINITY};
	bool two = law->breaks == 2;
	for (size_t i = 0; i < count; i++) {
		for (size_t j = two ? i + 1 : i; j < count && (two || j == i); j++) {
			struct growth_law one = {.breaks = law->breaks, .at = {candidates[i], candidates[j]}};
			if (pieces_filled(points, &one) && line_fit(points, &one) && one.sigma < best.sigma)
				best = one;
		}
	}
	*law = best;
	return isfinite(best.sigma);
}

/* log t = log(a + b exp(p x)) by Levenberg and Marquardt (gsl_multifit_nlinear). The parameters are the logarithms of a
 * and b, which keeps both positive. */

enum { TERMS = 3, FIT_ROUNDS = 3, STEPS_MAX = 60 };
/* An overhead below this share of the smallest time cannot be told from none. */
static const double SHARE_MIN = 0.02;
static const double TOLERANCE = 1e-8;

struct fit {
	const struct growth_points *points;
	struct growth_law law;
};

static void law_set(struct growth_law *law, const gsl_vector *at) {
	for (size_t i = 0; i < TERMS; i++)
		law->coef[i] = gsl_vector_get(at, i);
}

static int residual_fn(const gsl_vector *at, void *params, gsl_vector *out) {
	struct fit *fit = params;
	double terms[GROWTH_TERMS_MAX];
	law_set(&fit->law, at);
	for (size_t k = 0; k < fit->points->count; k++) {
		double off = growth_law_at(&fit->law, fit->points->x[k], terms) - fit->points->y[k];
		if (!isfinite(off))
			return GSL_EDOM;
		gsl_vector_set(out, k, off);
	}
	return GSL_SUCCESS;
}

static int slope_fn(const gsl_vector *at, void *params, gsl_matrix *out) {
	struct fit *fit = params;
	double terms[GROWTH_TERMS_MAX];
	law_set(&fit->law, at);
	for (size_t k = 0; k < fit->points->count; k++) {
		growth_law_at(&fit->law, fit->points->x[k], terms);
		for (size_t i = 0; i < TERMS; i++)
			gsl_matrix_set(out, k, i, terms[i]);
	}
	return GSL_SUCCESS;
}

/* Starting values: the slope of the upper half is closest to p, and half of the smallest time is as good a guess of a
 * as any. */
static void guess(const struct growth_points *points, gsl_vector *at) {
	size_t last = points->count - 1, middle = points->count / 2;
	double slope = (points->y[last] - points->y[middle]) / (points->x[last] - points->x[middle]);
	double p = fmin(6, fmax(0.25, slope));
	gsl_vector_set(at, 0, points->y[0] - log(2));
	gsl_vector_set(at, 1, points->y[last] - p * points->x[last]);
	gsl_vector_set(at, 2, p);
}

static void spread_set(struct fit *fit, gsl_vector *weights) {
	double residual[GROWTH_SIZES_MAX], terms[GROWTH_TERMS_MAX];
	for (size_t k = 0; k < fit->points->count; k++)
		residual[k] = fit->points->y[k] - growth_law_at(&fit->law, fit->points->x[k], terms);
	growth_weights(residual, fit->points->count, TERMS, weights->data);
	growth_spread(&fit->law, residual, weights->data, fit->points->count);
}

static bool rounds_run(struct fit *fit, gsl_multifit_nlinear_workspace *work, gsl_vector *at, gsl_vector *weights) {
	gsl_multifit_nlinear_fdf fdf = {
		.f = residual_fn, .df = slope_fn, .n = fit->points->count, .p = TERMS, .params = fit};
	for (int round = 0; round < FIT_ROUNDS; round++) {
		int info = 0;
		if (gsl_multifit_nlinear_winit(at, weights, &fdf, work))
			return false;
		int status = gsl_multifit_nlinear_driver(STEPS_MAX, TOLERANCE, TOLERANCE, TOLERANCE, NULL, NULL, &info, work);
		if (status != GSL_SUCCESS && status != GSL_EMAXITER && status != GSL_ENOPROG)
			return false;
		gsl_vector_memcpy(at, gsl_multifit_nlinear_position(work));
		law_set(&fit->law, at);
		spread_set(fit, weights);
	}
	return true;
}

static bool covariance_set(struct growth_law *law, gsl_multifit_nlinear_workspace *work) {
	double room[TERMS * TERMS];
	gsl_matrix_view cov = gsl_matrix_view_array(room, TERMS, TERMS);
	if (gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(work), 0, &cov.matrix))
		return false;
	for (size_t i = 0; i < TERMS; i++)
		for (size_t j = 0; j < TERMS; j++)
			law->cov[i][j] = room[i * TERMS + j];
	return true;
}

/* Refuses an overhead close to 0 and a power that falls, which other laws describe. */
static bool sensible(const struct growth_points *points, const struct growth_law *law) {
	double terms[GROWTH_TERMS_MAX];
	growth_law_at(law, points->x[0], terms);
	return isfinite(law->sigma) && law->coef[2] > 0 && terms[0] >= SHARE_MIN;
}

static bool overhead_fit(const struct growth_points *points, struct growth_law *law) {
	if (points->count <= TERMS)
		return false;
	gsl_error_handler_t *before = gsl_set_error_handler_off();
	gsl_multifit_nlinear_parameters parameters = gsl_multifit_nlinear_default_parameters();
	gsl_multifit_nlinear_workspace *work =
		gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &parameters, points->count, TERMS);
	gsl_vector *at = gsl_vector_alloc(TERMS), *weights = gsl_vector_alloc(points->count);
	struct fit fit = {.points = points, .law = {.kind = GROWTH_OVERHEAD, .terms = TERMS}};
	gsl_vector_set_all(weights, 1);
	guess(points, at);
	bool fitted = rounds_run(&fit, work, at, weights) && covariance_set(&fit.law, work) && sensible(points, &fit.law);
	*law = fit.law;
	gsl_vector_free(weights);
	gsl_vector_free(at);
	gsl_multifit_nlinear_free(work);
	gsl_set_error_handler(before);
	return fitted;
}

bool growth_law_fit(const struct growth_points *points, const double *candidates, size_t count,
                    struct growth_law *law) {
	if (law->kind == GROWTH_OVERHEAD)
		return overhead_fit(points, law);
	if (law->kind == GROWTH_LOCAL)
		return local_fit(points, law);
	return law->breaks ? breaks_fit(points, candidates, count, law) : line_fit(points, law);
}
