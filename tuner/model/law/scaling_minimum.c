/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>

#include "tuner/model/law/scaling_impl.h"

/* Inside the bounds, sigma is fitted as its logit and kappa as its logarithm, from the best point of a grid. The bounds
 * themselves are lines, whose minimum is taken if it is at least as good. */
enum { ETA, SIGMA, KAPPA, STEPS = 100, GRID = 8 };
static const double TOLERANCE = 1e-10;

size_t scaling_params(enum scaling_law law) {
	return law == SCALING_AMDAHL ? 2 : 3;
}

static struct rates place_of(const gsl_vector *x) {
	double kappa = x->size > KAPPA ? exp(fmin(gsl_vector_get(x, KAPPA), 300)) : 0;
	return (struct rates){1 / (1 + exp(-gsl_vector_get(x, SIGMA))), kappa};
}

static int residuals(const gsl_vector *x, void *ctx, gsl_vector *f) {
	const struct scaling_data *data = ctx;
	struct rates at = place_of(x);
	for (size_t i = 0; i < data->count; i++) {
		double law = gsl_vector_get(x, ETA) + log(scaling_growth(at, data->threads[i]));
		gsl_vector_set(f, i, law - data->base[i]);
	}
	return GSL_SUCCESS;
}

static int slopes(const gsl_vector *x, void *ctx, gsl_matrix *j) {
	const struct scaling_data *data = ctx;
	struct rates at = place_of(x);
	for (size_t i = 0; i < data->count; i++) {
		double threads = data->threads[i], growth = scaling_growth(at, threads);
		gsl_matrix_set(j, i, ETA, 1);
		gsl_matrix_set(j, i, SIGMA, at.sigma * (1 - at.sigma) * (threads - 1) / growth);
		if (x->size > KAPPA)
			gsl_matrix_set(j, i, KAPPA, at.kappa * threads * (threads - 1) / growth);
	}
	return GSL_SUCCESS;
}

static void start_set(const struct scaling_data *data, gsl_vector *x) {
	double least = INFINITY;
	int kappas = x->size > KAPPA ? 2 * GRID : 1;
	for (int s = 1; s < GRID; s++)
		for (int k = 0; k < kappas; k++) {
			double share = (double)s / GRID, eta;
			struct rates at = {share * share, kappas > 1 ? data->kappa_top * exp2(-k) : 0};
			double squares = scaling_squares(data, at, &eta);
			if (!(squares < least))
				continue;
			least = squares;
			gsl_vector_set(x, ETA, eta);
			gsl_vector_set(x, SIGMA, log(at.sigma / (1 - at.sigma)));
			if (kappas > 1)
				gsl_vector_set(x, KAPPA, log(at.kappa));
		}
}

/* The minimum inside the bounds, or close to one if it lies there. */
static struct rates inside(const struct scaling_data *data, enum scaling_law law) {
	size_t params = scaling_params(law);
	gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
	gsl_multifit_nlinear_workspace *fit =
		gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, data->count, params);
	gsl_multifit_nlinear_fdf functions = {
		.f = residuals, .df = slopes, .n = data->count, .p = params, .params = (void *)data};
	gsl_vector_const_view weight = gsl_vector_const_view_array(data->weight, data->count);
	gsl_vector *x = gsl_vector_calloc(params);
	int info;
	start_set(data, x);
	struct rates at = place_of(x);
	if (gsl_multifit_nlinear_winit(x, &weight.vector, &functions, fit) == GSL_SUCCESS) {
		gsl_multifit_nlinear_driver(STEPS, TOLERANCE, TOLERANCE, 0, NULL, NULL, &info, fit);
		at = place_of(gsl_multifit_nlinear_position(fit));
	}
	gsl_vector_free(x);
	gsl_multifit_nlinear_free(fit);
	return at;
}

static void take(double *least, struct rates *best, double squares, struct rates at) {
	if (!(squares <= *least * (1 + 1e-9)))
		return;
	*least = squares;
	*best = at;
}

double scaling_minimum(const struct scaling_data *data, enum scaling_law law, struct rates *best) {
	const struct rates corners[] = {{0, data->kappa_top}, {0, 0}, {1, 0}, {1, data->kappa_top}};
	struct rates at = inside(data, law);
	double least = scaling_squares(data, at, NULL);
	*best = at;
	for (size_t i = 0; i < 3; i++) {
		if (law == SCALING_AMDAHL && i != 1)
			continue;
		double squares = scaling_least(data, corners[i], corners[i + 1], &at);
		take(&least, best, squares, at);
	}
	return least;
}
