/* SPDX-License-Identifier: GPL-3.0-or-later */
/* log t = log(a + b exp(p x)) by Levenberg and Marquardt (gsl_multifit_nlinear). The parameters are the logarithms of a
 * and b, which keeps both positive. */
#include <config.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>

#include "tuner/model/law/growth_impl.h"

enum { TERMS = 3, ROUNDS = 3, STEPS_MAX = 60 };
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
	for (int round = 0; round < ROUNDS; round++) {
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

bool growth_overhead_fit(const struct growth_points *points, struct growth_law *law) {
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
