/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Maximises likelihood times priors by BFGS with the analytic gradient. */
#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multimin.h>

#include "base/mem.h"
#include "tuner/model/gp/impl.h"

/* The likelihood and its gradient (Rasmussen and Williams 2006, equations 5.8 and 5.9). The constant mean has its
 * optimal value, which a weak prior pulls to 0. */

static const double TINY = 1e-12;
static const struct {
	double mean, deviation;
} SHAPE_PRIOR[GP_SHAPES] = {[GP_SCALE] = {-1.2, 1.5}, [GP_NOISE] = {-9, 1}, [GP_SHARE] = {1.5, 1.5}};

/* The distinct codes of a dimension among the chosen observations. */
struct seen {
	uint16_t *code;
	size_t count;
	uint16_t *of;                  /* of each chosen observation: the index of its code */
	double *alike, *slope, *ratio; /* of each pair of codes */
};

struct gp_problem {
	struct arena *arena;
	const struct gp *gp;
	const size_t *chosen;
	size_t count;
	struct seen *seen;
	gsl_matrix *covariance, *inverse;               /* covariance: its Cholesky factor if it is definite */
	double *residual, *weights, *ones;              /* of each chosen observation */
	double *trend, *sum, *product, *factor, *joint; /* of each pair of them */
	double *theta;                                  /* of `covariance` */
	bool known, definite;
};

static double prior(const struct gp *gp, const double *theta, double *gradient) {
	double sum = 0;
	for (size_t t = 0; t < gp->dims + GP_SHAPES; t++) {
		bool length = t < gp->dims;
		double deviation = length ? gp->axis[t].doubt : SHAPE_PRIOR[t - gp->dims].deviation;
		double z = (theta[t] - (length ? gp->axis[t].prior : SHAPE_PRIOR[t - gp->dims].mean)) / deviation;
		sum -= 0.5 * z * z;
		if (gradient)
			gradient[t] = -z / deviation;
	}
	return sum;
}

/* The number of pairs (i, j), i >= j, which are stored in this order. */
static size_t pairs_of(size_t count) {
	return count * (count + 1) / 2;
}

/* For each pair of codes that occurs: the correlation, its slope, and the slope over it. */
static void tabulate(const struct gp_problem *problem, size_t dim, double length) {
	struct seen *seen = &problem->seen[dim];
	const struct gp_axis *axis = &problem->gp->axis[dim];
	for (size_t a = 0; a < seen->count; a++)
		for (size_t b = 0; b <= a; b++) {
			double slope, m = gp_matern(gp_distance(axis, seen->code[a], seen->code[b]) / length, &slope);
			double ratio = m > TINY ? slope / m : 0;
			size_t at = a * seen->count + b, mirror = b * seen->count + a;
			seen->alike[at] = seen->alike[mirror] = m;
			seen->slope[at] = seen->slope[mirror] = slope;
			seen->ratio[at] = seen->ratio[mirror] = ratio;
		}
}

/* Sums and products of the correlations over the dimensions. */
static void alike_fill(struct gp_problem *problem, const struct gp_kernel *kernel) {
	size_t pairs = pairs_of(problem->count);
	for (size_t p = 0; p < pairs; p++) {
		problem->sum[p] = 0;
		problem->product[p] = 1;
	}
	for (size_t d = 0; d < problem->gp->dims; d++) {
		const struct seen *seen = &problem->seen[d];
		double *sum = problem->sum, *product = problem->product;
		tabulate(problem, d, kernel->length[d]);
		for (size_t i = 0; i < problem->count; i++) {
			const double *row = seen->alike + seen->of[i] * seen->count;
			for (size_t j = 0; j <= i; j++, sum++, product++) {
				double m = row[seen->of[j]];
				*sum += m;
				*product *= m;
			}
		}
	}
}

static void covariance_fill(struct gp_problem *problem, const struct gp_kernel *kernel) {
	double even = kernel->s2 * kernel->share / fmax((double)problem->gp->dims, 1),
		   joint = kernel->s2 * (1 - kernel->share);
	const double *sum = problem->sum, *product = problem->product, *trend = problem->trend;
	alike_fill(problem, kernel);
	for (size_t i = 0; i < problem->count; i++) {
		double *row = gsl_matrix_ptr(problem->covariance, i, 0);
		for (size_t j = 0; j <= i; j++, sum++, product++, trend++)
			row[j] = even * *sum + joint * *product + *trend;
		row[i] += kernel->noise + GP_JITTER + problem->gp->variance[problem->chosen[i]];
	}
}

static double *reals(const struct gp_problem *problem, size_t count) {
	return arena_alloc(problem->arena, count, sizeof(double));
}

static void see(struct gp_problem *problem, size_t dim) {
	const struct gp *gp = problem->gp;
	struct seen *seen = &problem->seen[dim];
	seen->code = arena_alloc(problem->arena, problem->count, sizeof *seen->code);
	seen->of = arena_alloc(problem->arena, problem->count, sizeof *seen->of);
	for (size_t i = 0; i < problem->count; i++) {
		uint16_t code = gp->codes[problem->chosen[i] * gp->dims + dim], at = 0;
		while (at < seen->count && seen->code[at] != code)
			at++;
		if (at == seen->count)
			seen->code[seen->count++] = code;
		seen->of[i] = at;
	}
	double **const of_codes[] = {&seen->alike, &seen->slope, &seen->ratio};
	for (size_t i = 0; i < sizeof of_codes / sizeof *of_codes; i++)
		*of_codes[i] = reals(problem, seen->count * seen->count);
}

struct gp_problem *gp_problem_new(const struct gp *gp, const size_t *chosen, size_t count) {
	struct arena *arena = arena_new();
	struct gp_problem *problem = arena_alloc(arena, 1, sizeof *problem);
	size_t pairs = pairs_of(count);
	*problem = (struct gp_problem){.arena = arena, .gp = gp, .chosen = chosen, .count = count};
	problem->seen = arena_alloc(arena, gp->dims, sizeof *problem->seen);
	problem->theta = reals(problem, gp->dims + GP_SHAPES);
	for (size_t d = 0; d < gp->dims; d++)
		see(problem, d);
	double **const of_one[] = {&problem->residual, &problem->weights, &problem->ones};
	double **const of_pair[] = {&problem->trend, &problem->sum, &problem->product, &problem->factor, &problem->joint};
	for (size_t i = 0; i < sizeof of_one / sizeof *of_one; i++)
		*of_one[i] = reals(problem, count);
	for (size_t i = 0; i < sizeof of_pair / sizeof *of_pair; i++)
		*of_pair[i] = reals(problem, pairs);
	problem->covariance = gsl_matrix_calloc(count, count);
	problem->inverse = gsl_matrix_calloc(count, count);
	for (size_t i = 0, p = 0; i < count; i++) {
		const uint16_t *own = gp->codes + chosen[i] * gp->dims;
		problem->residual[i] = gp->target[chosen[i]] - gp_trend(gp, own);
		for (size_t j = 0; j <= i; j++, p++)
			problem->trend[p] = gp_trend_covariance(gp, own, gp->codes + chosen[j] * gp->dims);
	}
	return problem;
}

void gp_problem_free(struct gp_problem *problem) {
	gsl_matrix_free(problem->covariance);
	gsl_matrix_free(problem->inverse);
	arena_free(problem->arena);
}

static void solve(const gsl_matrix *lower, const double *from, double *to, size_t count) {
	memcpy(to, from, count * sizeof *to);
	gsl_vector_view x = gsl_vector_view_array(to, count);
	gsl_blas_dtrsv(CblasLower, CblasNoTrans, CblasNonUnit, lower, &x.vector);
}

/* Writes L^-1 (y - mean) to `weights` and returns the log likelihood. */
static double likelihood(struct gp_problem *problem, const gsl_matrix *lower) {
	size_t count = problem->count;
	double *unit = problem->ones, *white = problem->weights, sum = 0;
	for (size_t i = 0; i < count; i++)
		white[i] = 1;
	solve(lower, white, unit, count);
	solve(lower, problem->residual, white, count);
	double mean = gp_dot(unit, white, count) / (gp_dot(unit, unit, count) + GP_MEAN_DOUBT);
	for (size_t i = 0; i < count; i++) {
		white[i] -= mean * unit[i];
		sum -= 0.5 * white[i] * white[i] + log(gsl_matrix_get(lower, i, i));
	}
	return sum -
	       0.5 * GP_MEAN_DOUBT * mean * mean; /* the mean is optimal, so that it does not contribute to the gradient */
}

/* The derivative of the likelihood by each pair's covariance (equation 5.9), the diagonal halved, and beside it the
 * part of the product kernel. */
static void factors_fill(struct gp_problem *problem, const struct gp_kernel *kernel, double *gradient) {
	double *shape = gradient + problem->gp->dims, w = kernel->share, dims = fmax((double)problem->gp->dims, 1);
	const double *sum = problem->sum, *product = problem->product, *alpha = problem->weights;
	double *factor = problem->factor, *joint = problem->joint;
	for (size_t i = 0; i < problem->count; i++) {
		const double *inverse = gsl_matrix_const_ptr(problem->inverse, i, 0);
		for (size_t j = 0; j <= i; j++, sum++, product++, factor++, joint++) {
			*factor = kernel->s2 * (alpha[i] * alpha[j] - inverse[j]) * (i == j ? 0.5 : 1);
			*joint = *factor * *product * (1 - w);
			shape[GP_SCALE] += *factor * w * *sum / dims + *joint;
			shape[GP_SHARE] += *factor * w * (1 - w) * (*sum / dims - *product);
		}
		shape[GP_NOISE] += 0.5 * kernel->noise * (alpha[i] * alpha[i] - inverse[i]);
	}
}

static void gradient_add(struct gp_problem *problem, const struct gp_kernel *kernel, double *gradient) {
	double even = kernel->share / fmax((double)problem->gp->dims, 1);
	factors_fill(problem, kernel, gradient);
	for (size_t d = 0; d < problem->gp->dims; d++) {
		const struct seen *seen = &problem->seen[d];
		const double *factor = problem->factor, *joint = problem->joint;
		double main_effect = 0, interaction = 0;
		for (size_t i = 0; i < problem->count; i++) {
			const double *slope = seen->slope + seen->of[i] * seen->count;
			const double *ratio = seen->ratio + seen->of[i] * seen->count;
			for (size_t j = 0; j <= i; j++, factor++, joint++) {
				main_effect += *factor * slope[seen->of[j]];
				interaction += *joint * ratio[seen->of[j]];
			}
		}
		gradient[d] += even * main_effect + interaction;
	}
}

/* A line search asks for the value first and then, at the same place, for the gradient. */
static bool decompose(struct gp_problem *problem, const double *theta, const struct gp_kernel *kernel) {
	size_t size = (problem->gp->dims + GP_SHAPES) * sizeof *theta;
	if (problem->known && memcmp(problem->theta, theta, size) == 0)
		return problem->definite;
	memcpy(problem->theta, theta, size);
	covariance_fill(problem, kernel);
	problem->known = true;
	problem->definite = gsl_linalg_cholesky_decomp1(problem->covariance) == 0;
	return problem->definite;
}

double gp_problem_value(struct gp_problem *problem, const double *theta, double *gradient) {
	struct gp_kernel kernel;
	gp_kernel_of(problem->gp, theta, &kernel);
	double value = prior(problem->gp, theta, gradient);
	if (!decompose(problem, theta, &kernel))
		return -INFINITY;
	value += likelihood(problem, problem->covariance);
	if (gradient) {
		gsl_vector_view alpha = gsl_vector_view_array(problem->weights, problem->count);
		gsl_blas_dtrsv(CblasLower, CblasTrans, CblasNonUnit, problem->covariance, &alpha.vector);
		gsl_matrix_memcpy(problem->inverse, problem->covariance);
		gsl_linalg_cholesky_invert(problem->inverse);
		gradient_add(problem, &kernel, gradient);
	}
	return value;
}

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

size_t gp_choose(const double *target, size_t count, size_t best, size_t others, size_t *chosen) {
	for (size_t i = 0; i < count; i++)
		chosen[i] = i;
	if (count <= best + others)
		return count;
	qsort_r(chosen, count, sizeof *chosen, by_target, (void *)target);
	for (size_t kept = 0; kept < others; kept++)
		chosen[best + kept] = chosen[best + kept * (count - best) / others];
	return best + others;
}

void gp_fit(struct gp *gp, size_t steps) {
	size_t size = gp->dims + GP_SHAPES;
	if (gp->count < 2)
		return;
	mem_auto size_t *chosen = mem_alloc(gp->count, sizeof *chosen);
	struct climb climb = {.best = -INFINITY, .theta = gp->theta};
	climb.problem = gp_problem_new(gp, chosen, gp_choose(gp->target, gp->count, FIT_BEST, FIT_OTHERS, chosen));
	climb.gradient = mem_alloc(size, sizeof *climb.gradient);
	climb_run(&climb, size, steps);
	gp->likelihood = climb.best;
	gp->version++;
	gp->solved = gp->inverted = 0;
	gp_problem_free(climb.problem);
	free(climb.gradient);
}
