/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/stats.h"
#include "tuner/model/effects/drivers_impl.h"
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

static void ranks_fill(const double *x, size_t count, double *rank) {
	size_t *order = mem_alloc(count, sizeof *order);
	gsl_sort_index(order, x, 1, count);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && x[order[end]] == x[order[i]]; end++)
			;
		for (size_t k = i; k < end; k++)
			rank[order[k]] = 0.5 * (double)(i + end - 1);
	}
	free(order);
}

/* Rows of 1 and the groups from `first` on, standardised. */
static double *design_new(const struct drivers *drivers, const struct drivers_clean *clean, size_t first,
                          size_t count) {
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

/* p by the same regression on ranks (Conover and Iman 1981), which knows no far-out counters: the bisquare only guards
 * against far-out times. */
static void ranks_check(struct drivers *drivers, const struct drivers_clean *clean, size_t first, size_t count) {
	size_t rows = clean->rows, columns = count + 1;
	gsl_matrix *x = gsl_matrix_alloc(rows, columns), *covariance = gsl_matrix_alloc(columns, columns);
	gsl_vector *y = gsl_vector_alloc(rows), *coefficient = gsl_vector_alloc(columns);
	gsl_multifit_linear_workspace *space = gsl_multifit_linear_alloc(rows, columns);
	double *rank = mem_alloc(rows, sizeof *rank), squares;
	ranks_fill(clean->y, rows, y->data);
	for (size_t g = 0; g < columns; g++) {
		if (g)
			ranks_fill(clean->x + drivers->driver[first + g - 1].representative * rows, rows, rank);
		for (size_t i = 0; i < rows; i++)
			gsl_matrix_set(x, i, g, g ? rank[i] : 1);
	}
	int failed = gsl_multifit_linear(x, y, coefficient, covariance, &squares, space);
	for (size_t g = 1; g < columns; g++) {
		double z = fabs(gsl_vector_get(coefficient, g)) / sqrt(gsl_matrix_get(covariance, g, g));
		double p = failed || isnan(z) ? 1 : 2 * gsl_cdf_tdist_Q(z, (double)(rows - columns));
		drivers->driver[first + g - 1].p = fmax(drivers->driver[first + g - 1].p, p);
	}
	free(rank);
	gsl_multifit_linear_free(space);
	gsl_vector_free(y);
	gsl_vector_free(coefficient);
	gsl_matrix_free(x);
	gsl_matrix_free(covariance);
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
		ranks_check(drivers, clean, first, count);
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
	gsl_error_handler_t *handler = gsl_set_error_handler_off(); /* it would end the process */
	int failed = 0;
	if (drivers->method == DRIVERS_JOINT)
		failed = fit(drivers, clean, 0, drivers->count);
	for (size_t g = 0; drivers->method == DRIVERS_ONE_BY_ONE && g < drivers->count; g++)
		failed |= fit(drivers, clean, g, 1);
	gsl_set_error_handler(handler);
	if (failed)
		return -1;
	if (drivers->method == DRIVERS_ONE_BY_ONE)
		drivers->r2 = NAN;
	adjust(drivers);
	return 0;
}
