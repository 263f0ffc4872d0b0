/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/model/logistic.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdbool.h>

#include "base/mem.h"

enum { STEPS = 60 };
static const double FIRST_STEP = 0.1, LINE_TOLERANCE = 0.1, GRADIENT_ENOUGH = 0.02;

struct climb {
	const struct logistic *logistic;
	double *slope;            /* of each observation */
	double *product, *weight; /* features times weights, at these weights */
	bool known;
};

/* A line search asks for the value first and then, at the same place, for the gradient. */
static void products_make(struct climb *climb, const gsl_vector *weight, const gsl_matrix *features) {
	gsl_vector_view product = gsl_vector_view_array(climb->product, climb->logistic->count);
	gsl_vector_view own = gsl_vector_view_array(climb->weight, climb->logistic->size);
	if (climb->known && gsl_vector_equal(&own.vector, weight))
		return;
	gsl_blas_dgemv(CblasNoTrans, 1, features, weight, 0, &product.vector);
	gsl_vector_memcpy(&own.vector, weight);
	climb->known = true;
}

/* Minus the logarithm of likelihood times prior. */
static void both(const gsl_vector *weight, void *ctx, double *f, gsl_vector *gradient) {
	struct climb *climb = ctx;
	const struct logistic *logistic = climb->logistic;
	gsl_matrix_const_view x = gsl_matrix_const_view_array(logistic->features, logistic->count, logistic->size);
	gsl_vector_view slope = gsl_vector_view_array(climb->slope, logistic->count);
	double sum = 0;
	products_make(climb, weight, &x.matrix);
	for (size_t i = 0; i < logistic->count; i++) {
		double z = logistic->sign[i] * climb->product[i];
		if (f)
			sum += z > 0 ? log1p(exp(-z)) : log1p(exp(z)) - z;
		if (gradient)
			climb->slope[i] = -logistic->sign[i] / (1 + exp(z));
	}
	if (gradient)
		gsl_blas_dgemv(CblasTrans, 1, &x.matrix, &slope.vector, 0, gradient);
	for (size_t k = 0; k < logistic->size; k++) {
		double own = gsl_vector_get(weight, k) * logistic->precision[k];
		sum += 0.5 * own * gsl_vector_get(weight, k);
		if (gradient)
			*gsl_vector_ptr(gradient, k) += own;
	}
	if (f)
		*f = sum;
}

static double value_only(const gsl_vector *weight, void *ctx) {
	double f;
	both(weight, ctx, &f, NULL);
	return f;
}

static void gradient_only(const gsl_vector *weight, void *ctx, gsl_vector *gradient) {
	both(weight, ctx, NULL, gradient);
}

void logistic_fit(const struct logistic *logistic, double *weight) {
	if (logistic->count == 0)
		return;
	struct climb climb = {.logistic = logistic};
	climb.slope = mem_alloc(2 * logistic->count + logistic->size, sizeof *climb.slope);
	climb.product = climb.slope + logistic->count;
	climb.weight = climb.product + logistic->count;
	gsl_multimin_function_fdf function = {
		.f = value_only, .df = gradient_only, .fdf = both, .n = logistic->size, .params = &climb};
	gsl_multimin_fdfminimizer *minimizer =
		gsl_multimin_fdfminimizer_alloc(gsl_multimin_fdfminimizer_vector_bfgs2, logistic->size);
	gsl_vector_view start = gsl_vector_view_array(weight, logistic->size);
	gsl_multimin_fdfminimizer_set(minimizer, &function, &start.vector, FIRST_STEP, LINE_TOLERANCE);
	for (int i = 0; i < STEPS; i++)
		if (gsl_multimin_fdfminimizer_iterate(minimizer) ||
		    gsl_multimin_test_gradient(minimizer->gradient, GRADIENT_ENOUGH) == GSL_SUCCESS)
			break;
	memcpy(weight, minimizer->x->data, logistic->size * sizeof *weight);
	gsl_multimin_fdfminimizer_free(minimizer);
	free(climb.slope);
}
