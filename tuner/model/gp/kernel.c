/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The covariance function of gp.h. */
#include <config.h>

#include <math.h>

#include "tuner/model/gp/impl.h"

static double place(const struct gp_axis *axis, unsigned code) {
	return axis->at ? axis->at[code] : NAN;
}

double gp_distance(const struct gp_axis *axis, unsigned a, unsigned b) {
	double x = place(axis, a), y = place(axis, b);
	if (a == b)
		return 0;
	return isnan(x) || isnan(y) ? 1 : fabs(x - y);
}

double gp_matern(double z, double *slope) {
	double r = sqrt(5) * z, e = exp(-r);
	if (slope)
		*slope = 5.0 / 3 * z * z * (1 + r) * e;
	return (1 + r + r * r / 3) * e;
}

void gp_kernel_of(const struct gp *gp, const double *theta, struct gp_kernel *kernel) {
	const double *shape = theta + gp->dims;
	for (size_t d = 0; d < gp->dims; d++)
		kernel->length[d] = exp(theta[d]);
	kernel->s2 = exp(shape[GP_SCALE]);
	kernel->noise = exp(shape[GP_NOISE]);
	kernel->share = gp->dims ? 1 / (1 + exp(-shape[GP_SHARE])) : 0; /* a space of one configuration has no dimension */
}

double gp_covariance(const struct gp *gp, const struct gp_kernel *kernel, const uint16_t *a, const uint16_t *b) {
	double sum = 0, product = 1;
	for (size_t d = 0; d < gp->dims; d++) {
		double m = gp_matern(gp_distance(&gp->axis[d], a[d], b[d]) / kernel->length[d], NULL);
		sum += m;
		product *= m;
	}
	return kernel->s2 * (kernel->share * sum / fmax((double)gp->dims, 1) + (1 - kernel->share) * product) +
	       gp_trend_covariance(gp, a, b);
}

double gp_trend(const struct gp *gp, const uint16_t *codes) {
	double sum = 0;
	for (size_t d = 0; d < gp->dims; d++)
		if (gp->axis[d].trend)
			sum += gp->axis[d].slope * place(&gp->axis[d], codes[d]);
	return sum;
}

double gp_trend_covariance(const struct gp *gp, const uint16_t *a, const uint16_t *b) {
	double sum = 0;
	for (size_t d = 0; d < gp->dims; d++)
		if (gp->axis[d].trend)
			sum += gp->axis[d].slope_variance * place(&gp->axis[d], a[d]) * place(&gp->axis[d], b[d]);
	return sum;
}

double gp_dot(const double *a, const double *b, size_t count) {
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}
