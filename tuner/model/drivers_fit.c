/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/stats.h"
#include "tuner/model/drivers_impl.h"
#include "tuner/model/paired.h"
#include "tuner/model/robust.h"

static const double SIGNIFICANT = 0.05;

/* Median and deviation: of the middle, or of all where the middle doesn't vary. */
struct unit {
	double middle, deviation;
};

static struct unit unit_of(const double *x, size_t count) {
	double mean = stats_mean(x, count), square = 0, mad = stats_mad(x, count);
	for (size_t i = 0; i < count; i++)
		square += (x[i] - mean) * (x[i] - mean) / (double)count;
	double deviation = mad > 0.05 * sqrt(square) ? mad : sqrt(square);
	return (struct unit){.middle = stats_median(x, count), .deviation = deviation > 0 ? deviation : 1};
}

/* Rows of 1 and the groups from `first` on, standardised. */
static double *design_new(const struct drivers *drivers, const struct drivers_clean *clean, size_t first, size_t count) {
	size_t columns = count + 1;
	double *x = mem_alloc(clean->rows * columns, sizeof *x);
	for (size_t i = 0; i < clean->rows; i++)
		x[i * columns] = 1;
	for (size_t g = 0; g < count; g++) {
		const double *own = clean->x + drivers->driver[first + g].representative * clean->rows;
		struct unit unit = unit_of(own, clean->rows);
		for (size_t i = 0; i < clean->rows; i++)
			x[i * columns + g + 1] = (own[i] - unit.middle) / unit.deviation;
	}
	return x;
}

static void driver_set(struct driver *driver, const struct drivers_clean *clean, const struct robust *robust, size_t at,
                       double y_deviation) {
	double deviation = unit_of(clean->x + driver->representative * clean->rows, clean->rows).deviation;
	double freedom = (double)(robust->rows - robust->columns);
	double error = sqrt(fmax(robust->covariance[at * robust->columns + at], 0));
	double reach = gsl_cdf_tdist_Qinv(0.025, freedom) * error;
	driver->coefficient = robust->coefficient[at];
	driver->ci[0] = driver->coefficient - reach;
	driver->ci[1] = driver->coefficient + reach;
	driver->slope = driver->coefficient * y_deviation / deviation;
	driver->p = error > 0 ? 2 * gsl_cdf_tdist_Q(fabs(driver->coefficient) / error, freedom) : 1;
}

/* The groups from `first` on in one regression. */
static int fit(struct drivers *drivers, const struct drivers_clean *clean, size_t first, size_t count) {
	struct unit unit = unit_of(clean->y, clean->rows);
	struct robust robust;
	double *x = design_new(drivers, clean, first, count), *y = mem_alloc(clean->rows, sizeof *y);
	for (size_t i = 0; i < clean->rows; i++)
		y[i] = (clean->y[i] - unit.middle) / unit.deviation;
	int failed = robust_fit(&robust, x, y, clean->rows, count + 1);
	if (!failed) {
		for (size_t g = 0; g < count; g++)
			driver_set(&drivers->driver[first + g], clean, &robust, g + 1, unit.deviation);
		drivers->r2 = robust.r2;
		robust_clear(&robust);
	}
	free(x);
	free(y);
	return failed;
}

static void adjust(struct drivers *drivers) {
	double *p = mem_alloc(drivers->count, sizeof *p), *adjusted = mem_alloc(drivers->count, sizeof *adjusted);
	for (size_t g = 0; g < drivers->count; g++)
		p[g] = drivers->driver[g].p;
	paired_holm(p, drivers->count, adjusted);
	for (size_t g = 0; g < drivers->count; g++) {
		drivers->driver[g].adjusted = adjusted[g];
		drivers->driver[g].significant = adjusted[g] < SIGNIFICANT;
	}
	free(p);
	free(adjusted);
}

int drivers_fit(struct drivers *drivers, const struct drivers_clean *clean) {
	int failed = 0;
	if (drivers->method == DRIVERS_JOINT)
		failed = fit(drivers, clean, 0, drivers->count);
	for (size_t g = 0; drivers->method == DRIVERS_ONE_BY_ONE && g < drivers->count; g++)
		failed |= fit(drivers, clean, g, 1);
	if (failed)
		return -1;
	if (drivers->method == DRIVERS_ONE_BY_ONE)
		drivers->r2 = NAN;
	adjust(drivers);
	return 0;
}
