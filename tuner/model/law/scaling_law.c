/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/stats.h"
#include "tuner/model/law/law_impl.h"

static const double EXACT = 1e-12; /* a smaller variance is taken for rounding */
/* A law describes the times if it explains almost all of their differences; or if its residuals are within the usual
 * noise and it explains most of the differences, unless these are within the noise as well. No point may be off by more
 * than WORST times the noise: a step is not a bend. */
static const double EXPLAINED = 0.97, EXPLAINED_MOST = 0.6, NOISE = 0.1, NOISE_OF_DEVIATION = 2, WORST = 1.5;

/* The corrected Akaike criterion by the sum of squares, the number of points and of the law's parameters.
 * Hurvich and Tsai, Regression and time series model selection in small samples, 1989. The variance
 * counts as a parameter. */
static double scaling_aicc(double squares, double count, double params) {
	double k = params + 1;
	if (!(count - k - 1 > 0))
		return INFINITY;
	return count * log(fmax(squares / count, EXACT)) + 2 * k + 2 * k * (k + 1) / (count - k - 1);
}

/* The variance of log seconds around their mean, per degree of freedom. */
static double spread_of(const struct scaling_data *data) {
	double sum = 0, squares = 0;
	for (size_t i = 0; i < data->count; i++)
		sum += data->weight[i] * (data->base[i] - log(data->threads[i]));
	for (size_t i = 0; i < data->count; i++) {
		double off = data->base[i] - log(data->threads[i]) - sum / data->total;
		squares += data->weight[i] * off * off;
	}
	return squares / (double)(data->count - 1);
}

/* How far a point is from the law, at most, in logarithms. */
static double worst_of(const struct scaling_data *data, const struct scaling_fit *fit) {
	struct rates rates = {fit->sigma, fit->kappa};
	double worst = 0;
	for (size_t i = 0; i < data->count; i++)
		worst = fmax(worst, fabs(data->base[i] - log(fit->seconds_1) - log(scaling_growth(rates, data->threads[i]))));
	return worst;
}

/* Why a law does not describe the times; NULL: it does. deviation: the usual deviation of the points, 0: unknown.
 * chosen: outliers were dropped, after which even points without a law may differ little. */
static const char *scaling_doubt(const struct scaling_data *data, const struct scaling_fit *fit, double deviation,
                                 bool chosen) {
	double noise = fmax(NOISE, NOISE_OF_DEVIATION * deviation), spread = spread_of(data);
	double variance = fit->residual_deviation * fit->residual_deviation;
	bool most = variance <= (1 - EXPLAINED_MOST) * spread || spread <= noise * noise;
	bool near = variance <= (1 - EXPLAINED) * spread || (!chosen && variance <= noise * noise && most);
	return near && worst_of(data, fit) <= WORST * noise ? NULL : "the times are too far from them";
}

/* Does the total cost (threads times seconds) fall with the number of threads, beyond the noise? */
static bool scaling_superlinear(const struct scaling_data *data) {
	double x = 0, y = 0, xx = 0, xy = 0, yy = 0, n = (double)data->count;
	for (size_t i = 0; i < data->count; i++) {
		x += data->weight[i] * log(data->threads[i]) / n;
		y += data->weight[i] * data->base[i] / n;
	}
	for (size_t i = 0; i < data->count; i++) {
		double dx = log(data->threads[i]) - x, dy = data->base[i] - y;
		xx += data->weight[i] * dx * dx;
		xy += data->weight[i] * dx * dy;
		yy += data->weight[i] * dy * dy;
	}
	double slope = xy / xx, deviation = sqrt(fmax(yy - slope * xy, EXACT) / (n - 2) / xx);
	return slope + gsl_cdf_tdist_Qinv(0.025, n - 2) * deviation < 0;
}

enum { STEPS = 200 };
static const double OUTSIDE = 1e6, SMALL = 1e-7;

struct mean {
	const struct scaling_region *region;
	double threads, sign, unit; /* unit: of kappa */
};

/* Steps beyond a bound are reflected. */
static struct rates rates_at(const struct mean *mean, const gsl_vector *x) {
	double sigma = fabs(remainder(gsl_vector_get(x, 0), 2));
	return (struct rates){sigma, x->size > 1 ? fabs(gsl_vector_get(x, 1)) * mean->unit : 0};
}

/* For given sigma and kappa, eta may deviate from its best value by the root of what remains to the limit. */
static double beyond(const gsl_vector *x, void *ctx) {
	const struct mean *mean = ctx;
	struct rates at = rates_at(mean, x);
	double eta, left = mean->region->limit - scaling_squares(mean->region->data, at, &eta);
	if (!(left >= 0))
		return OUTSIDE - fmax(left, -OUTSIDE);
	return -(mean->sign * (eta + log(scaling_growth(at, mean->threads))) + sqrt(left / mean->region->data->total));
}

static double search(struct mean *mean, size_t dims, const gsl_vector *start, const gsl_vector *steps) {
	gsl_multimin_function function = {.f = beyond, .n = dims, .params = mean};
	gsl_multimin_fminimizer *minimizer = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, dims);
	double least = beyond(start, mean);
	if (gsl_multimin_fminimizer_set(minimizer, &function, start, steps) == GSL_SUCCESS)
		for (int i = 0; i < STEPS && gsl_multimin_fminimizer_size(minimizer) > SMALL; i++) {
			if (gsl_multimin_fminimizer_iterate(minimizer) != GSL_SUCCESS)
				break;
			least = fmin(least, gsl_multimin_fminimizer_minimum(
									minimizer)); /* before the first step the minimiser does not have a value */
		}
	gsl_multimin_fminimizer_free(minimizer);
	return -mean->sign * least;
}

static double step_of(const double ci[2], double unit) {
	double width = (fmin(ci[1], 1e300) - ci[0]) / unit / 4;
	return width > 1e-9 ? fmin(width, 1) : 1e-9;
}

static void scaling_log_seconds_ci(const struct scaling_region *region, double threads, double ci[2]) {
	size_t dims = region->law == SCALING_AMDAHL ? 1 : 2;
	double sigma[2], kappa[2];
	scaling_ci(region, SCALING_SIGMA, 0, sigma);
	scaling_ci(region, SCALING_KAPPA, 0, kappa);
	struct mean mean = {region, threads, 1, fmax(kappa[0], isfinite(kappa[1]) ? kappa[1] : region->best.kappa)};
	if (!(mean.unit > 0))
		mean.unit = 1;
	gsl_vector *start = gsl_vector_alloc(dims), *steps = gsl_vector_alloc(dims);
	gsl_vector_set(start, 0, region->best.sigma);
	gsl_vector_set(steps, 0, step_of(sigma, 1));
	if (dims > 1) {
		gsl_vector_set(start, 1, region->best.kappa / mean.unit);
		gsl_vector_set(steps, 1, step_of(kappa, mean.unit));
	}
	ci[1] = search(&mean, dims, start, steps) - log(threads);
	mean.sign = -1;
	ci[0] = search(&mean, dims, start, steps) - log(threads);
	gsl_vector_free(start);
	gsl_vector_free(steps);
}

/* With many points, only the TRIED largest residuals are tested. */
enum { TRIED = 24, OUTLIERS_SHARE = 8, FREEDOM_LEAST = 2 };
static const double LEVEL = 0.01;
static const double WILD = 0.1; /* of log seconds; points closer to the law do little harm */
static enum scaling_law law_for(const struct scaling_data *data) {
	return data->distinct > 4 && data->count > scaling_params(SCALING_USL) + FREEDOM_LEAST ? SCALING_USL
	                                                                                       : SCALING_AMDAHL;
}

/* log(measured / law), with the law of the other points. */
static double off_law(const struct scaling *scaling, const struct scaling_data *others, struct rates at, size_t point) {
	double eta, threads = scaling->threads[point];
	scaling_squares(others, at, &eta);
	return scaling->log_seconds[point] + log(threads) - eta - log(scaling_growth(at, threads));
}

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

/* Fills in the points of `scaling` that are not outliers, without point `without` (SIZE_MAX: with all). */
static void scaling_data_fill(struct scaling_data *data, const struct scaling *scaling, size_t without) {
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

/* The probability that the squares fall so much by chance when the point is left out (mean-shift model: Cook and
 * Weisberg 1982, section 2.2.2). The weights of both fits have a mean of 1: `scale` converts one to the other. */
static double deleted_p(const struct scaling *scaling, enum scaling_law law, const struct scaling_data *all,
                        double squares, size_t point) {
	struct scaling_data rest;
	struct rates at;
	size_t params = scaling_params(law);
	scaling_data_fill(&rest, scaling, point);
	if (rest.distinct <= params || rest.count < params + FREEDOM_LEAST)
		return 1;
	double scale = rest.scale / all->scale, freedom = (double)(rest.count - params);
	double without = scaling_minimum(&rest, law, &at) * scale;
	if (fabs(off_law(scaling, &rest, at, point)) < WILD)
		return 1;
	double t = sqrt(fmax(squares - without, 0) / fmax(without / freedom, EXACT));
	return 2 * gsl_cdf_tdist_Q(t, freedom);
}

/* The TRIED-th largest residual; smaller ones are not tested. */
static double least_tried(const struct scaling *scaling, const struct scaling_data *all, struct rates at) {
	double off[SCALING_POINTS_MAX];
	size_t count = 0;
	for (size_t i = 0; i < scaling->points; i++)
		if (!scaling->outlier[i])
			off[count++] = -fabs(off_law(scaling, all, at, i));
	if (count <= TRIED)
		return 0;
	gsl_sort(off, 1, count);
	return -off[TRIED - 1];
}

/* Finds the most likely outlier; false: there is none. */
static bool worst_find(const struct scaling *scaling, size_t *worst) {
	struct scaling_data all;
	struct rates at;
	scaling_data_fill(&all, scaling, SIZE_MAX);
	enum scaling_law law = law_for(&all);
	double squares = scaling_minimum(&all, law, &at), least = LEVEL / (double)all.count;
	double tried = least_tried(scaling, &all, at);
	bool found = false;
	for (size_t i = 0; i < scaling->points; i++) {
		if (scaling->outlier[i] || fabs(off_law(scaling, &all, at, i)) < tried)
			continue;
		double p = deleted_p(scaling, law, &all, squares, i);
		if (!(p < least))
			continue;
		least = p;
		*worst = i;
		found = true;
	}
	return found;
}

/* Marks outliers, at most one point in eight. */
static void scaling_outliers_find(struct scaling *scaling) {
	size_t worst, most = (scaling->points + OUTLIERS_SHARE - 1) / OUTLIERS_SHARE;
	while (scaling->outliers < most && worst_find(scaling, &worst)) {
		scaling->outlier[worst] = true;
		scaling->outliers++;
	}
}

const char *scaling_law_word(enum scaling_law law) {
	return law == SCALING_AMDAHL ? "amdahl" : "usl";
}

static const char *points_check(const struct scaling_point *points, size_t count) {
	if (count > SCALING_POINTS_MAX)
		return "there are more points than a law needs";
	for (size_t i = 0; i < count; i++) {
		if (!(points[i].threads >= 1) || !(points[i].threads <= 1e6))
			return "a number of threads is not 1 or more";
		if (!(points[i].seconds > 0) || !isfinite(points[i].seconds))
			return "a time is not above 0";
		if (!(points[i].deviation >= 0) || !isfinite(points[i].deviation))
			return "a deviation is below 0";
	}
	return NULL;
}

/* A point measured once does not know its error and gets the usual one of the others. The median over the points that
 * have one; 0: none has. */
static double deviation_median(const struct scaling_point *points, size_t count) {
	double known[SCALING_POINTS_MAX];
	size_t found = 0;
	for (size_t i = 0; i < count; i++)
		if (points[i].deviation > 0)
			known[found++] = points[i].deviation;
	return found ? stats_median(known, found) : 0;
}

static void points_make(struct scaling *out, const struct scaling_point *points, size_t count, double usual) {
	out->points = count;
	for (size_t i = 0; i < count; i++) {
		double deviation = points[i].deviation > 0 ? points[i].deviation : usual;
		out->threads[i] = points[i].threads;
		out->log_seconds[i] = log(points[i].seconds);
		out->weight[i] = 1 / (deviation * deviation + SCALING_DEVIATION_LEAST * SCALING_DEVIATION_LEAST);
	}
}

static void law_fit(struct scaling_fit *fit, const struct scaling_data *data, enum scaling_law law, double deviation,
                    bool chosen) {
	size_t params = scaling_params(law);
	if (data->distinct <= params) {
		fit->aicc = INFINITY;
		fit->doubt = law == SCALING_AMDAHL ? "it takes at least 3 different thread counts"
		                                   : "it takes at least 4 different thread counts";
		return;
	}
	struct scaling_region region = scaling_region(data, law);
	double eta, ends[2];
	scaling_squares(data, region.best, &eta);
	fit->seconds_1 = exp(eta);
	fit->sigma = region.best.sigma;
	fit->kappa = region.best.kappa;
	fit->best_threads = 1 / sqrt(scaling_inverse(region.best));
	scaling_log_seconds_ci(&region, 1, ends);
	for (int e = 0; e < 2; e++)
		fit->seconds_1_ci[e] = exp(ends[e]);
	scaling_ci(&region, SCALING_SIGMA, 0, fit->sigma_ci);
	scaling_ci(&region, SCALING_KAPPA, 0, fit->kappa_ci);
	scaling_ci(&region, SCALING_INVERSE, 0, ends);
	for (int e = 0; e < 2; e++)
		fit->best_threads_ci[e] = 1 / sqrt(ends[1 - e]);
	fit->aicc = scaling_aicc(region.squares, (double)data->count, (double)params);
	fit->residual_deviation = sqrt(region.squares / (double)(data->count - params));
	fit->doubt = scaling_doubt(data, fit, deviation, chosen);
	fit->good = !fit->doubt;
}

/* A law that describes the times beats one that does not. If both do, AICc decides, which charges the universal law for
 * its second parameter. AICc needs two points more than parameters; below that the universal law must show that its
 * additional parameter is not 0. */
static enum scaling_law better(const struct scaling *scaling) {
	const struct scaling_fit *amdahl = &scaling->fit[SCALING_AMDAHL], *usl = &scaling->fit[SCALING_USL];
	bool fitted = usl->seconds_1 > 0;
	if (amdahl->good != usl->good)
		return usl->good ? SCALING_USL : SCALING_AMDAHL;
	if (isfinite(usl->aicc))
		return usl->aicc < amdahl->aicc ? SCALING_USL : SCALING_AMDAHL;
	if (!amdahl->good)
		return fitted && usl->residual_deviation < amdahl->residual_deviation ? SCALING_USL : SCALING_AMDAHL;
	return usl->kappa_ci[0] > 0 ? SCALING_USL : SCALING_AMDAHL;
}

static struct rates rates_of(const struct scaling *scaling) {
	const struct scaling_fit *fit = &scaling->fit[scaling->law];
	return (struct rates){fit->sigma, fit->kappa};
}

static double log_law(const struct scaling *scaling, double threads) {
	const struct scaling_fit *fit = &scaling->fit[scaling->law];
	return log(fit->seconds_1 / threads * scaling_growth(rates_of(scaling), threads));
}

static void laws_fit(struct scaling *out, double deviation) {
	struct scaling_data data;
	scaling_outliers_find(out);
	scaling_data_fill(&data, out, SIZE_MAX);
	for (int law = 0; law < SCALING_LAWS; law++)
		law_fit(&out->fit[law], &data, (enum scaling_law)law, deviation, out->outliers > 0);
	out->law = better(out);
	out->superlinear = scaling_superlinear(&data);
	for (size_t i = 0; i < out->points; i++)
		out->residual[i] = out->log_seconds[i] - log_law(out, out->threads[i]);
}

int scaling_fit(const struct scaling_point *points, size_t count, struct scaling *out, const char **refusal) {
	struct scaling_data data;
	memset(out, 0, sizeof *out);
	*refusal = points_check(points, count);
	if (*refusal)
		return -1;
	gsl_set_error_handler_off();
	double deviation = deviation_median(points, count);
	points_make(out, points, count, deviation);
	scaling_data_fill(&data, out, SIZE_MAX);
	if (data.distinct <= scaling_params(SCALING_AMDAHL)) {
		out->points = 0;
		*refusal = "a law takes at least 3 different thread counts";
		return -1;
	}
	laws_fit(out, deviation);
	*refusal = out->fit[out->law].doubt;
	return *refusal ? -1 : 0;
}

double scaling_seconds(const struct scaling *scaling, double threads, double ci[2]) {
	struct scaling_data data;
	if (ci) {
		scaling_data_fill(&data, scaling, SIZE_MAX);
		struct scaling_region region = scaling_region(&data, scaling->law);
		scaling_log_seconds_ci(&region, threads, ci);
		ci[0] = exp(ci[0]);
		ci[1] = exp(ci[1]);
	}
	return exp(log_law(scaling, threads));
}

double scaling_speedup(const struct scaling *scaling, double threads, double ci[2]) {
	struct scaling_data data;
	if (ci) {
		double growth[2];
		scaling_data_fill(&data, scaling, SIZE_MAX);
		struct scaling_region region = scaling_region(&data, scaling->law);
		scaling_ci(&region, SCALING_GROWTH, threads, growth);
		ci[0] = threads / growth[1];
		ci[1] = threads / growth[0];
	}
	return threads / scaling_growth(rates_of(scaling), threads);
}
