/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The covariance function of gp.h. */
#include <config.h>

#include <math.h>

#include "src/base/mem.h"
#include "tuner/model/gp/impl.h"

enum { TABLED_MIN = 64 }; /* fewer values are always tabulated */

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

static size_t triangle(size_t rows) {
	return rows * (rows + 1) / 2;
}

static void axis_tabulate(const struct gp_axis *axis, double length) {
	double *alike = axis->alike;
	for (unsigned a = 0; a < axis->values; a++)
		for (unsigned b = 0; b <= a; b++)
			*alike++ = gp_matern(gp_distance(axis, a, b) / length, NULL);
}

void gp_correlations_make(struct gp *gp) {
	for (size_t d = 0; d < gp->dims; d++) {
		struct gp_axis *axis = &gp->axis[d];
		if (axis->alike_version == gp->version || (axis->values > TABLED_MIN && axis->values > gp->count))
			continue;
		if (!axis->alike)
			axis->alike = mem_alloc(triangle(axis->values), sizeof *axis->alike);
		axis_tabulate(axis, exp(gp->theta[d]));
		axis->alike_version = gp->version;
	}
}

double gp_correlation(const struct gp *gp, const struct gp_kernel *kernel, size_t dim, unsigned a, unsigned b) {
	const struct gp_axis *axis = &gp->axis[dim];
	if (axis->alike_version == gp->version)
		return axis->alike[a > b ? triangle(a) + b : triangle(b) + a];
	return gp_matern(gp_distance(axis, a, b) / kernel->length[dim], NULL);
}

double gp_covariance(const struct gp *gp, const struct gp_kernel *kernel, const uint16_t *a, const uint16_t *b) {
	double sum = 0, product = 1;
	for (size_t d = 0; d < gp->dims; d++) {
		double m = gp_correlation(gp, kernel, d, a[d], b[d]);
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
	for (size_t d = 0; gp->trends && d < gp->dims; d++)
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
