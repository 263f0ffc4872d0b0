/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/model/law/scaling.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "src/base/stats.h"
#include "tuner/model/law/scaling_impl.h"

/* No law holds more precisely than this, so that a point with a tiny deviation must not outweigh all others. */
static const double DEVIATION_LEAST = 0.01;

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
		out->weight[i] = 1 / (deviation * deviation + DEVIATION_LEAST * DEVIATION_LEAST);
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
	fit->best_threads = scaling_best(region.best);
	scaling_log_seconds_ci(&region, 1, ends);
	for (int e = 0; e < 2; e++)
		fit->seconds_1_ci[e] = exp(ends[e]);
	scaling_sigma_ci(&region, fit->sigma_ci);
	scaling_kappa_ci(&region, fit->kappa_ci);
	scaling_best_ci(&region, fit->best_threads_ci);
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
		scaling_growth_ci(&region, threads, growth);
		ci[0] = threads / growth[1];
		ci[1] = threads / growth[0];
	}
	return threads / scaling_growth(rates_of(scaling), threads);
}
