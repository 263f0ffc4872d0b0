/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits broken lines by least squares with Huber weights (growth.h), and searches their breaks. */
#include <config.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_vector.h>
#include <math.h>

#include "src/base/stats.h"
#include "tuner/model/law/growth_impl.h"

enum { ROUNDS = 6, POINTS_A_PIECE = 2 };
static const double HUBER = 1.345; /* 95 % efficient for normal errors */
/* The share of the variance of normal errors that survives the weights: 2 Phi(k) - 1, because the weighted tails make
 * up for what the middle lacks. */
static const double WEIGHTED_SHARE = 0.8214;
static const double MAD_OF_NORMAL = 0.6745, TINY = 1e-9;

double growth_law_at(const struct growth_law *law, double x, double terms[GROWTH_TERMS_MAX]) {
	double sum = 0;
	if (law->kind == GROWTH_LOCAL)
		return growth_local_at(law, x);
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

bool growth_weights(const double *residual, size_t count, size_t terms, double *weight) {
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

void growth_spread(struct growth_law *law, const double *residual, const double *weight, size_t count) {
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

bool growth_line_fit(const struct growth_points *points, struct growth_law *law) {
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

bool growth_breaks_fit(const struct growth_points *points, const double *candidates, size_t count,
                       struct growth_law *law) {
	struct growth_law best = {.sigma = INFINITY};
	bool two = law->breaks == 2;
	for (size_t i = 0; i < count; i++) {
		for (size_t j = two ? i + 1 : i; j < count && (two || j == i); j++) {
			struct growth_law one = {.breaks = law->breaks, .at = {candidates[i], candidates[j]}};
			if (pieces_filled(points, &one) && growth_line_fit(points, &one) && one.sigma < best.sigma)
				best = one;
		}
	}
	*law = best;
	return isfinite(best.sigma);
}
