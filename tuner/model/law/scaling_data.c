/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prepares the points of a scaling law: centred weights, and one-dimensional minimisation along lines (scaling_impl.h).
 */
#include <config.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_min.h>
#include <math.h>

#include "src/base/stats.h"
#include "tuner/model/law/scaling_impl.h"

enum { COARSE = 16, REFINE = 40 };
static const double ORDERS = 20;       /* as a logarithm */
static const double KAPPA_BEYOND = 10; /* relative to the largest slow-down that was measured */

static void weights_scale(struct scaling_data *data) {
	data->scale = stats_mean(data->weight, data->count);
	data->total = 0;
	for (size_t i = 0; i < data->count; i++)
		data->total += data->weight[i] /= data->scale;
}

static double kappa_top(const struct scaling_data *data) {
	double least = INFINITY, low = INFINITY, high = -INFINITY;
	for (size_t i = 0; i < data->count; i++) {
		double seconds = data->base[i] - log(data->threads[i]);
		if (data->threads[i] > 1)
			least = fmin(least, data->threads[i]);
		low = fmin(low, seconds);
		high = fmax(high, seconds);
	}
	return KAPPA_BEYOND * exp(fmin(high - low, 100)) / (least - 1);
}

static size_t distinct_count(const struct scaling_data *data) {
	size_t count = 0;
	for (size_t i = 0; i < data->count; i++) {
		size_t before = 0;
		while (before < i && data->threads[before] != data->threads[i])
			before++;
		count += before == i;
	}
	return count;
}

void scaling_data_fill(struct scaling_data *data, const struct scaling *scaling, size_t without) {
	data->count = 0;
	for (size_t i = 0; i < scaling->points; i++) {
		if (scaling->outlier[i] || i == without)
			continue;
		data->threads[data->count] = scaling->threads[i];
		data->base[data->count] = scaling->log_seconds[i] + log(scaling->threads[i]);
		data->weight[data->count++] = scaling->weight[i];
	}
	data->distinct = distinct_count(data);
	data->kappa_top = kappa_top(data);
	weights_scale(data);
}

double scaling_growth(struct rates at, double threads) {
	return 1 + (at.sigma + at.kappa * threads) * (threads - 1);
}

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

double scaling_least(const struct scaling_data *data, struct rates from, struct rates to, struct rates *best) {
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
