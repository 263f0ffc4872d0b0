/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gaussian processes over random dimensions, and naive computations to compare with. */
#ifndef TESTS_TUNER_MODEL_GP_HELP_H
#define TESTS_TUNER_MODEL_GP_HELP_H
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tuner/model/gp/impl.h"

enum { MADE_DIMS = 8, MADE_VALUES = 90, MADE_ROWS = 64 };

struct made {
	struct gp *gp;
	size_t dims;
	struct gp_dim dim[MADE_DIMS];
	double at[MADE_DIMS][MADE_VALUES];
};

/* Draws ordered dimensions with and without an absent code, and unordered ones, with few values and with many. The
 * first one may be a trend. */
__attribute__((unused)) static void made_draw(struct made *made, struct rng *rng, bool trend) {
	made->dims = 1 + rng_below(rng, MADE_DIMS);
	for (size_t d = 0; d < made->dims; d++) {
		bool trends = trend && d == 0, absent = !trends && rng_below(rng, 3) == 0,
			 ordered = trends || rng_below(rng, 3);
		size_t values = (size_t)(rng_below(rng, 6) == 0 ? MADE_VALUES : 2 + rng_below(rng, 7));
		for (size_t v = 0; v < values; v++)
			made->at[d][v] = rng_unit(rng);
		if (absent)
			made->at[d][values - 1] = NAN;
		made->dim[d] = (struct gp_dim){.values = values,
		                               .at = ordered ? made->at[d] : NULL,
		                               .length = 0.3 + rng_unit(rng),
		                               .trend = trends,
		                               .slope = trends ? 0.8 : 0,
		                               .slope_deviation = trends ? 0.5 : 0};
	}
	made->gp = gp_new(made->dim, made->dims);
}

__attribute__((unused)) static void made_codes(const struct made *made, struct rng *rng, uint16_t *codes) {
	for (size_t d = 0; d < made->dims; d++)
		codes[d] = (uint16_t)rng_below(rng, made->dim[d].values);
}

/* Adds observations; all targets are drawn again. */
__attribute__((unused)) static void made_observe(struct made *made, struct rng *rng, size_t count, double scale) {
	uint16_t codes[MADE_DIMS];
	double target[4096];
	for (size_t i = 0; i < count; i++) {
		made_codes(made, rng, codes);
		gp_add(made->gp, codes, rng_below(rng, 2) ? 0 : 0.01 * rng_unit(rng));
	}
	for (size_t i = 0; i < gp_count(made->gp); i++)
		target[i] = scale * rng_normal(rng);
	gp_target(made->gp, target);
}

__attribute__((unused)) static void made_theta(struct made *made, struct rng *rng) {
	double *theta = made->gp->theta;
	for (size_t d = 0; d < made->dims; d++)
		theta[d] = 0.7 * rng_normal(rng);
	theta[made->dims + GP_SCALE] = 0.5 * rng_normal(rng);
	theta[made->dims + GP_NOISE] = -4 + rng_normal(rng);
	theta[made->dims + GP_SHARE] = rng_normal(rng);
	made->gp->solved = made->gp->inverted = 0;
	made->gp->version++;
}

/* The covariance of two configurations by the formula of gp.h. */
__attribute__((unused)) static double plain_covariance(const struct made *made, const uint16_t *a, const uint16_t *b) {
	const double *theta = made->gp->theta;
	double sum = 0, product = 1, trends = 0, w = 1 / (1 + exp(-theta[made->dims + GP_SHARE]));
	for (size_t d = 0; d < made->dims; d++) {
		const double *at = made->dim[d].at;
		double off = a[d] == b[d] ? 0 : at && !isnan(at[a[d]]) && !isnan(at[b[d]]) ? fabs(at[a[d]] - at[b[d]]) : 1;
		double r = sqrt(5) * off / exp(theta[d]), m = (1 + r + r * r / 3) * exp(-r);
		sum += m;
		product *= m;
		if (made->dim[d].trend)
			trends += made->dim[d].slope_deviation * made->dim[d].slope_deviation * at[a[d]] * at[b[d]];
	}
	return exp(theta[made->dims + GP_SCALE]) * (w * sum / (double)made->dims + (1 - w) * product) + trends;
}

__attribute__((unused)) static double plain_trend(const struct made *made, const uint16_t *codes) {
	return made->dim[0].trend ? made->dim[0].slope * made->dim[0].at[codes[0]] : 0;
}

struct plain { /* observations without the one at `without`; SIZE_MAX: with all */
	size_t count, row[MADE_ROWS];
	double k[MADE_ROWS][MADE_ROWS], y[MADE_ROWS];
};

__attribute__((unused)) static void plain_fill(struct plain *plain, const struct made *made, size_t without) {
	const struct gp *gp = made->gp;
	plain->count = 0;
	for (size_t i = 0; i < gp->count; i++)
		if (i != without)
			plain->row[plain->count++] = i;
	for (size_t i = 0; i < plain->count; i++) {
		const uint16_t *a = gp->codes + plain->row[i] * made->dims;
		for (size_t j = 0; j < plain->count; j++)
			plain->k[i][j] = plain_covariance(made, a, gp->codes + plain->row[j] * made->dims);
		plain->k[i][i] += gp_noise(gp) + GP_JITTER + gp->variance[plain->row[i]];
		plain->y[i] = gp->target[plain->row[i]] - plain_trend(made, a);
	}
}

/* Gaussian elimination with pivots: solves k x = b and returns the logarithm of |det k|. */
__attribute__((unused)) static double plain_solve(const struct plain *plain, const double *b, double *x) {
	double k[MADE_ROWS][MADE_ROWS], determinant = 0;
	size_t n = plain->count;
	memcpy(k, plain->k, sizeof k);
	memcpy(x, b, n * sizeof *x);
	for (size_t p = 0; p < n; p++) {
		size_t best = p;
		for (size_t i = p + 1; i < n; i++)
			best = fabs(k[i][p]) > fabs(k[best][p]) ? i : best;
		for (size_t j = 0; j < n; j++) {
			double swap = k[p][j];
			k[p][j] = k[best][j];
			k[best][j] = swap;
		}
		double swap = x[p];
		x[p] = x[best];
		x[best] = swap;
		determinant += log(fabs(k[p][p]));
		for (size_t i = p + 1; i < n; i++) {
			double factor = k[i][p] / k[p][p];
			for (size_t j = p; j < n; j++)
				k[i][j] -= factor * k[p][j];
			x[i] -= factor * x[p];
		}
	}
	for (size_t p = n; p-- > 0;) {
		for (size_t j = p + 1; j < n; j++)
			x[p] -= k[p][j] * x[j];
		x[p] /= k[p][p];
	}
	return determinant;
}

/* The constant mean by generalised least squares, with its weak prior. */
__attribute__((unused)) static double plain_mean(const struct plain *plain) {
	double ones[MADE_ROWS] = {0}, x[MADE_ROWS], above = 0, below = GP_MEAN_DOUBT;
	for (size_t i = 0; i < plain->count; i++)
		ones[i] = 1;
	plain_solve(plain, ones, x);
	for (size_t i = 0; i < plain->count; i++) {
		above += x[i] * plain->y[i];
		below += x[i];
	}
	return above / below;
}

__attribute__((unused)) static void plain_predict(const struct plain *plain, const struct made *made, double constant,
                                                  const uint16_t *codes, double *mean, double *variance) {
	double k[MADE_ROWS], x[MADE_ROWS];
	for (size_t i = 0; i < plain->count; i++)
		k[i] = plain_covariance(made, codes, made->gp->codes + plain->row[i] * made->dims);
	plain_solve(plain, k, x);
	*mean = constant + plain_trend(made, codes);
	*variance = plain_covariance(made, codes, codes);
	for (size_t i = 0; i < plain->count; i++) {
		*mean += x[i] * (plain->y[i] - constant);
		*variance -= x[i] * k[i];
	}
}

__attribute__((unused)) static bool near(double a, double b, double tolerance) {
	return fabs(a - b) <= tolerance * (1 + fabs(a) + fabs(b));
}

#endif
