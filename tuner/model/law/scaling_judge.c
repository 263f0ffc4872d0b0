/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "tuner/model/law/scaling_impl.h"

static const double EXACT = 1e-12; /* a smaller variance is taken for rounding */
/* A law describes the times if it explains almost all of their differences; or if its residuals are within the usual
 * noise and it explains most of the differences, unless these are within the noise as well. */
static const double EXPLAINED = 0.97, EXPLAINED_MOST = 0.6, NOISE = 0.1, NOISE_OF_DEVIATION = 2;

/* Hurvich and Tsai, Regression and time series model selection in small samples, 1989. The variance counts as a
 * parameter. */
double scaling_aicc(double squares, double count, double params) {
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

const char *scaling_doubt(const struct scaling_data *data, const struct scaling_fit *fit, double deviation,
                          bool chosen) {
	double noise = fmax(NOISE, NOISE_OF_DEVIATION * deviation), spread = spread_of(data);
	double variance = fit->residual_deviation * fit->residual_deviation;
	bool most = variance <= (1 - EXPLAINED_MOST) * spread || spread <= noise * noise;
	if (variance <= (1 - EXPLAINED) * spread || (!chosen && variance <= noise * noise && most))
		return NULL;
	return "the times are too far from any such law: they do not follow the number of threads alone";
}

bool scaling_superlinear(const struct scaling_data *data) {
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
