/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/model/scaling.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "src/base/stats.h"
#include "tuner/model/scaling_impl.h"

static const double DEVIATION_LEAST = 0.01; /* no law holds closer than that: no point outweighs all others by being sure */
static const double EXACT = 1e-12;          /* variance of what is taken for rounding */
/* A law is good where it leaves no more than usual noise, or next to nothing of how far the times differ. */
static const double NOISE = 0.1, NOISE_OF_DEVIATION = 3, EXPLAINED = 0.95;

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

/* Of the points that have one; 0: none has. */
static double deviation_median(const struct scaling_point *points, size_t count) {
	double known[SCALING_POINTS_MAX];
	size_t found = 0;
	for (size_t i = 0; i < count; i++)
		if (points[i].deviation > 0)
			known[found++] = points[i].deviation;
	return found ? stats_median(known, found) : 0;
}

static void points_take(struct scaling *out, const struct scaling_point *points, size_t count, double usual) {
	out->points = count;
	for (size_t i = 0; i < count; i++) {
		double deviation = points[i].deviation > 0 ? points[i].deviation : usual;
		out->threads[i] = points[i].threads;
		out->log_seconds[i] = log(points[i].seconds);
		out->weight[i] = 1 / (deviation * deviation + DEVIATION_LEAST * DEVIATION_LEAST);
	}
}

/* Hurvich and Tsai (Regression and time series model selection in small samples, 1989); the variance is a parameter. */
static double aicc(double squares, double count, double params) {
	double k = params + 1;
	if (!(count - k - 1 > 0))
		return INFINITY;
	return count * log(fmax(squares / count, EXACT)) + 2 * k + 2 * k * (k + 1) / (count - k - 1);
}

/* Of log seconds around their mean, per degree of freedom. */
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

static const char *doubt_of(const struct scaling_data *data, const struct scaling_fit *fit, double deviation) {
	double variance = fit->residual_deviation * fit->residual_deviation;
	if (fit->residual_deviation <= fmax(NOISE, NOISE_OF_DEVIATION * deviation))
		return NULL;
	if (variance <= (1 - EXPLAINED) * spread_of(data))
		return NULL;
	return "the times are too far from any such law: they do not follow the number of threads alone";
}

static void law_fit(struct scaling_fit *fit, const struct scaling_data *data, enum scaling_law law, double deviation) {
	size_t params = scaling_params(law);
	if (data->distinct <= params) {
		fit->aicc = INFINITY;
		fit->doubt = law == SCALING_AMDAHL ? "it takes 3 different numbers of threads or more"
		                                   : "it takes 4 different numbers of threads or more";
		return;
	}
	struct scaling_region region = scaling_region(data, law);
	double eta, ends[2];
	scaling_squares(data, region.best, &eta);
	fit->seconds_1 = exp(eta);
	fit->sigma = region.best.sigma;
	fit->kappa = region.best.kappa;
	fit->best_threads = scaling_best(region.best);
	scaling_log_seconds_ci(&region, 1, ends);
	for (int e = 0; e < 2; e++)
		fit->seconds_1_ci[e] = exp(ends[e]);
	scaling_sigma_ci(&region, fit->sigma_ci);
	scaling_kappa_ci(&region, fit->kappa_ci);
	scaling_best_ci(&region, fit->best_threads_ci);
	fit->aicc = aicc(region.squares, (double)data->count, (double)params);
	fit->residual_deviation = sqrt(region.squares / (double)(data->count - params));
	fit->doubt = doubt_of(data, fit, deviation);
	fit->good = !fit->doubt;
}

static enum scaling_law better(const struct scaling *scaling) {
	const struct scaling_fit *amdahl = &scaling->fit[SCALING_AMDAHL], *usl = &scaling->fit[SCALING_USL];
	if (amdahl->good != usl->good)
		return usl->good ? SCALING_USL : SCALING_AMDAHL;
	if (isfinite(usl->aicc))
		return usl->aicc < amdahl->aicc ? SCALING_USL : SCALING_AMDAHL;
	return usl->kappa_ci[0] > 0 ? SCALING_USL : SCALING_AMDAHL;
}

static struct place place_of(const struct scaling *scaling) {
	const struct scaling_fit *fit = &scaling->fit[scaling->law];
	return (struct place){fit->sigma, fit->kappa};
}

static double log_law(const struct scaling *scaling, double threads) {
	const struct scaling_fit *fit = &scaling->fit[scaling->law];
	return log(fit->seconds_1 / threads * scaling_growth(place_of(scaling), threads));
}

/* Is what threads cost together (threads times seconds) falling with their number, beyond the noise? */
static bool is_superlinear(const struct scaling_data *data) {
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

static void laws_fit(struct scaling *out, double deviation) {
	struct scaling_data data;
	scaling_outliers_find(out);
	scaling_data_fill(&data, out, SIZE_MAX);
	for (int law = 0; law < SCALING_LAWS; law++)
		law_fit(&out->fit[law], &data, law, deviation);
	out->law = better(out);
	out->superlinear = is_superlinear(&data);
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
	points_take(out, points, count, deviation);
	scaling_data_fill(&data, out, SIZE_MAX);
	if (data.distinct <= scaling_params(SCALING_AMDAHL)) {
		out->points = 0;
		*refusal = "a law takes 3 different numbers of threads or more";
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
		scaling_growth_ci(&region, threads, growth);
		ci[0] = threads / growth[1];
		ci[1] = threads / growth[0];
	}
	return threads / scaling_growth(place_of(scaling), threads);
}
