/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Maximises likelihood times priors by BFGS with the analytic gradient (problem.c). */
#include <config.h>

#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "tuner/model/gp/impl.h"

/* A step of a fit costs n^3. If there are more observations, this many of the smallest and of the others decide. */
enum { FIT_BEST = 80, FIT_OTHERS = 80 };
static const double THETA_MAX = 30, FIRST_STEP = 0.3, LINE_TOLERANCE = 0.3, GRADIENT_ENOUGH = 0.05;

struct climb {
	struct gp_problem *problem;
	double best, *theta; /* likelihood and parameters of the best step so far */
	double *gradient;
};

static void take(struct climb *climb, const gsl_vector *x, double value) {
	if (!(value > climb->best))
		return;
	climb->best = value;
	for (size_t t = 0; t < x->size; t++)
		climb->theta[t] = gsl_vector_get(x, t);
}

static bool bounded(const gsl_vector *x) {
	for (size_t t = 0; t < x->size; t++)
		if (!(fabs(gsl_vector_get(x, t)) < THETA_MAX))
			return false;
	return true;
}

static void both(const gsl_vector *x, void *ctx, double *f, gsl_vector *gradient) {
	struct climb *climb = ctx;
	double value =
		bounded(x) ? gp_problem_value(climb->problem, x->data, gradient ? climb->gradient : NULL) : -INFINITY;
	for (size_t t = 0; gradient && t < x->size; t++)
		gsl_vector_set(gradient, t, isfinite(value) ? -climb->gradient[t] : 0);
	take(climb, x, value);
	*f = isfinite(value) ? -value : 1e10;
}

static double value_only(const gsl_vector *x, void *ctx) {
	double f;
	both(x, ctx, &f, NULL);
	return f;
}

static void gradient_only(const gsl_vector *x, void *ctx, gsl_vector *gradient) {
	double f;
	both(x, ctx, &f, gradient);
}

static void climb_run(struct climb *climb, size_t size, size_t steps) {
	gsl_multimin_function_fdf function = {
		.f = value_only, .df = gradient_only, .fdf = both, .n = size, .params = climb};
	gsl_multimin_fdfminimizer *minimizer =
		gsl_multimin_fdfminimizer_alloc(gsl_multimin_fdfminimizer_vector_bfgs2, size);
	gsl_vector *start = gsl_vector_alloc(size);
	memcpy(start->data, climb->theta, size * sizeof *climb->theta);
	gsl_multimin_fdfminimizer_set(minimizer, &function, start, FIRST_STEP, LINE_TOLERANCE);
	for (size_t i = 0; i < steps; i++)
		if (gsl_multimin_fdfminimizer_iterate(minimizer) ||
		    gsl_multimin_test_gradient(minimizer->gradient, GRADIENT_ENOUGH) == GSL_SUCCESS)
			break;
	gsl_vector_free(start);
	gsl_multimin_fdfminimizer_free(minimizer);
}

static int by_target(const void *a, const void *b, void *ctx) {
	const double *target = ctx;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	return target[i] != target[j] ? (target[i] > target[j]) - (target[i] < target[j]) : (i > j) - (i < j);
}

/* Chooses all observations, or the best and an even choice of the rest. */
static size_t choose(const struct gp *gp, size_t *chosen) {
	size_t kept = 0, rest;
	for (size_t i = 0; i < gp->count; i++)
		chosen[i] = i;
	if (gp->count <= FIT_BEST + FIT_OTHERS)
		return gp->count;
	qsort_r(chosen, gp->count, sizeof *chosen, by_target, gp->target);
	rest = gp->count - FIT_BEST;
	for (kept = 0; kept < FIT_OTHERS; kept++)
		chosen[FIT_BEST + kept] = chosen[FIT_BEST + kept * rest / FIT_OTHERS];
	return FIT_BEST + FIT_OTHERS;
}

void gp_fit(struct gp *gp, size_t steps) {
	size_t size = gp->dims + GP_SHAPES;
	if (gp->count < 2)
		return;
	size_t *chosen = mem_alloc(gp->count, sizeof *chosen);
	struct climb climb = {.best = -INFINITY, .theta = gp->theta};
	climb.problem = gp_problem_new(gp, chosen, choose(gp, chosen));
	climb.gradient = mem_alloc(size, sizeof *climb.gradient);
	climb_run(&climb, size, steps);
	gp->likelihood = climb.best;
	gp->version++;
	gp->solved = gp->inverted = 0;
	gp_problem_free(climb.problem);
	free(climb.gradient);
	free(chosen);
}
