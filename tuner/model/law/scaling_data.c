/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prepares the points of a scaling law: centred weights, and one-dimensional minimisation along lines (law_impl.h). */
#include <gsl/gsl_blas.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_min.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_roots.h>
#include <math.h>

#include "tuner/model/law/law_impl.h"

/* Inside the bounds, sigma is fitted as its logit and kappa as its logarithm, from the best point of a grid. The bounds
 * themselves are lines, whose minimum is taken if it is at least as good. */
enum { ETA, SIGMA, KAPPA, STEPS = 100, GRID = 8 };
static const double TOLERANCE = 1e-10;

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

static double scaling_least(const struct scaling_data *data, struct rates from, struct rates to, struct rates *best);

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

enum { COARSE = 16, REFINE = 40 };
static const double ORDERS = 20; /* as a logarithm */

double scaling_squares(const struct scaling_data *data, struct rates at, double *eta) {
	double sum = 0, squares = 0, off[SCALING_POINTS_MAX];
	for (size_t i = 0; i < data->count; i++) {
		off[i] = data->base[i] - log(scaling_growth(at, data->threads[i]));
		sum += data->weight[i] * off[i];
	}
	sum /= data->total;
	for (size_t i = 0; i < data->count; i++)
		squares += data->weight[i] * (off[i] - sum) * (off[i] - sum);
	if (eta)
		*eta = sum;
	return squares;
}

struct line {
	const struct scaling_data *data;
	struct rates from, to;
};

/* Denser at the start, where kappa spans orders of magnitude. */
static struct rates line_at(const struct line *line, double t) {
	double share = expm1(ORDERS * t) / expm1(ORDERS);
	return (struct rates){line->from.sigma + share * (line->to.sigma - line->from.sigma),
	                      line->from.kappa + share * (line->to.kappa - line->from.kappa)};
}

static double line_squares(double t, void *ctx) {
	const struct line *line = ctx;
	return scaling_squares(line->data, line_at(line, t), NULL);
}

/* Brent's method between the neighbours of the smallest value of a coarse grid, which bracket a minimum. */
static double line_refine(struct line *line, double low, double middle, double high) {
	gsl_function function = {.function = line_squares, .params = line};
	gsl_min_fminimizer *minimizer = gsl_min_fminimizer_alloc(gsl_min_fminimizer_brent);
	if (gsl_min_fminimizer_set(minimizer, &function, middle, low, high) == GSL_SUCCESS)
		for (int i = 0; i < REFINE && high - low > 1e-7 * (middle + 1e-3); i++) {
			if (gsl_min_fminimizer_iterate(minimizer) != GSL_SUCCESS)
				break;
			middle = gsl_min_fminimizer_x_minimum(minimizer);
			low = gsl_min_fminimizer_x_lower(minimizer);
			high = gsl_min_fminimizer_x_upper(minimizer);
		}
	gsl_min_fminimizer_free(minimizer);
	return middle;
}

/* The smallest sum of squares on the line between two points, and its position. */
static double scaling_least(const struct scaling_data *data, struct rates from, struct rates to, struct rates *best) {
	struct line line = {data, from, to};
	int at = 0;
	double squares[COARSE + 1], t;
	for (int i = 0; i <= COARSE; i++) {
		squares[i] = line_squares((double)i / COARSE, &line);
		at = squares[i] < squares[at] ? i : at;
	}
	t = (double)at / COARSE;
	if (at == 0 || at == COARSE) { /* at the end, or close to it */
		double inside = at ? 1 - 1e-4 : 1e-2;
		if (line_squares(inside, &line) < squares[at])
			t = at ? line_refine(&line, 1 - 1.0 / COARSE, inside, 1) : line_refine(&line, 0, inside, 1.0 / COARSE);
	} else {
		t = line_refine(&line, t - 1.0 / COARSE, t, t + 1.0 / COARSE);
	}
	*best = line_at(&line, t);
	return scaling_squares(data, *best, NULL);
}

/* Intervals by profile likelihood (Bates and Watts, Nonlinear regression analysis and its applications, 1988,
 * section 6.1): the values of a quantity for which the smallest sum of squares over everything else is at most least (1
 * + t^2 / degrees of freedom). With one quantity of the law fixed, the free ones form a straight line. */

enum { HALVINGS = 60 };
static const double TAIL = 0.025, CLOSE = 1e-5;

struct scaling_region scaling_region(const struct scaling_data *data, enum scaling_law law) {
	struct scaling_region region = {.data = data, .law = law};
	double freedom = (double)(data->count - scaling_params(law)), t = gsl_cdf_tdist_Qinv(TAIL, freedom);
	region.squares = scaling_minimum(data, law, &region.best);
	region.limit =
		region.squares + t * t * fmax(region.squares / freedom, SCALING_DEVIATION_LEAST * SCALING_DEVIATION_LEAST);
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
		for (int i = 0; i < HALVINGS && high - low > CLOSE * high; i++) {
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

static void kappa_line(const struct profile *profile, double kappa, struct rates ends[2]) {
	(void)profile;
	ends[0] = (struct rates){0, kappa};
	ends[1] = (struct rates){1, kappa};
}

static void best_line(const struct profile *profile, double inverse, struct rates ends[2]) {
	(void)profile;
	ends[0] = (struct rates){0, inverse};
	ends[1] = (struct rates){1, 0};
}

static void growth_line(const struct profile *profile, double growth, struct rates ends[2]) {
	double n = profile->threads, sigma = fmin(1, (growth - 1) / (n - 1));
	ends[0] = (struct rates){sigma, (growth - 1 - sigma * (n - 1)) / (n * (n - 1))};
	ends[1] = profile->region->law == SCALING_AMDAHL ? ends[0] : (struct rates){0, (growth - 1) / (n * (n - 1))};
}

static void ends_find(struct profile *profile, double best, double low, double high, double ci[2]) {
	ci[0] = end_find(profile, best, low);
	ci[1] = end_find(profile, best, high);
}

void scaling_ci(const struct scaling_region *region, enum scaling_quantity of, double threads, double ci[2]) {
	static void (*const lines[])(const struct profile *, double, struct rates[2]) = {sigma_line, kappa_line, best_line,
	                                                                                 growth_line};
	struct profile profile = {region, lines[of], threads};
	struct rates best = region->best;
	double top = kappa_most(&profile), growth = scaling_growth(best, threads);
	bool amdahl = region->law == SCALING_AMDAHL;
	ci[0] = ci[1] = of == SCALING_GROWTH;
	if (of == SCALING_SIGMA)
		ends_find(&profile, best.sigma, 0, 1, ci);
	else if (of == SCALING_KAPPA && !amdahl)
		ends_find(&profile, best.kappa, 0, fmax(top, best.kappa), ci);
	else if (of == SCALING_INVERSE && !amdahl)
		ends_find(&profile, scaling_inverse(best), 0, 1, ci);
	else if (of == SCALING_GROWTH && threads > 1)
		ends_find(&profile, growth, 1, fmax(growth, scaling_growth((struct rates){1, top}, threads)), ci);
	if (of == SCALING_KAPPA && !amdahl && ci[1] >= top)
		ci[1] = INFINITY;
}
