/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The robust regression of log time on groups of counters, and its check by ranks (drivers.h). */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>

#include "base/mem.h"
#include "base/stats.h"
#include "tuner/model/effects/effects_impl.h"
#include "tuner/model/paired.h"
#include "tuner/model/robust.h"

static const double SIGNIFICANT = 0.05;

/* The unit of a column: the median absolute deviation, or the standard deviation if most values are equal. */
static double deviation_of(const double *x, size_t count) {
	double mean = stats_mean(x, count), square = 0, mad = stats_mad(x, count);
	for (size_t i = 0; i < count; i++)
		square += (x[i] - mean) * (x[i] - mean) / (double)count;
	double deviation = mad > 0.05 * sqrt(square) ? mad : sqrt(square);
	return deviation > 0 ? deviation : 1;
}

/* Ties share their mean rank. */
static void rank(const double *x, size_t count, double *to, size_t step) {
	mem_auto size_t *order = mem_alloc(count, sizeof *order);
	gsl_sort_index(order, x, 1, count);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && x[order[end]] == x[order[i]]; end++)
			;
		for (size_t k = i; k < end; k++)
			to[order[k] * step] = 0.5 * (double)(i + end - 1);
	}
}

static void standardise(const double *x, size_t count, double *to, size_t step) {
	double middle = stats_median(x, count), deviation = deviation_of(x, count);
	for (size_t i = 0; i < count; i++)
		to[i * step] = (x[i] - middle) / deviation;
}

/* Regresses the time on a constant and the groups from `first` on, all transformed. */
static int regress(struct robust *robust, const struct drivers *drivers, const struct drivers_clean *clean,
                   size_t first, size_t count, void (*transform)(const double *, size_t, double *, size_t)) {
	size_t rows = clean->rows, columns = count + 1;
	mem_auto double *x = mem_alloc(rows * columns, sizeof *x), *y = mem_alloc(rows, sizeof *y);
	for (size_t i = 0; i < rows; i++)
		x[i * columns] = 1;
	for (size_t g = 0; g < count; g++)
		transform(clean->x + drivers->driver[first + g].representative * rows, rows, x + g + 1, columns);
	transform(clean->y, rows, y, 1);
	return robust_fit(robust, x, y, rows, columns);
}

static double error_of(const struct robust *robust, size_t at) {
	return sqrt(fmax(robust->covariance[at * robust->columns + at], 0));
}

static double p_of(const struct robust *robust, size_t at) {
	double error = error_of(robust, at), freedom = (double)(robust->rows - robust->columns);
	return error > 0 ? 2 * gsl_cdf_tdist_Q(fabs(robust->coefficient[at]) / error, freedom) : 1;
}

static void driver_set(struct driver *driver, const struct drivers_clean *clean, const struct robust *robust,
                       size_t at) {
	double reach = gsl_cdf_tdist_Qinv(0.025, (double)(robust->rows - robust->columns)) * error_of(robust, at);
	double own = deviation_of(clean->x + driver->representative * clean->rows, clean->rows);
	driver->coefficient = robust->coefficient[at];
	driver->ci[0] = driver->coefficient - reach;
	driver->ci[1] = driver->coefficient + reach;
	driver->slope = driver->coefficient * deviation_of(clean->y, clean->rows) / own;
	driver->p = p_of(robust, at);
}

/* Fits the groups from `first` on in one regression. The same regression on ranks (Conover and Iman, Rank
 * transformations as a bridge between parametric and nonparametric statistics, 1981) has to agree, because far-out
 * counters cannot bend it; the bisquare only guards against far-out times. */
static int fit(struct drivers *drivers, const struct drivers_clean *clean, size_t first, size_t count) {
	struct robust robust, ranks;
	if (regress(&robust, drivers, clean, first, count, standardise))
		return -1;
	bool ranked = regress(&ranks, drivers, clean, first, count, rank) == 0;
	for (size_t g = 0; g < count; g++) {
		struct driver *driver = &drivers->driver[first + g];
		driver_set(driver, clean, &robust, g + 1);
		driver->p = ranked ? fmax(driver->p, p_of(&ranks, g + 1)) : 1;
	}
	drivers->r2 = robust.r2;
	robust_clear(&robust);
	if (ranked)
		robust_clear(&ranks);
	return 0;
}

static void adjust(struct drivers *drivers) {
	mem_auto double *p = mem_alloc(drivers->count, sizeof *p), *adjusted = mem_alloc(drivers->count, sizeof *adjusted);
	for (size_t g = 0; g < drivers->count; g++)
		p[g] = drivers->driver[g].p;
	paired_holm(p, drivers->count, adjusted);
	for (size_t g = 0; g < drivers->count; g++) {
		drivers->driver[g].adjusted = adjusted[g];
		drivers->driver[g].significant = adjusted[g] < SIGNIFICANT;
	}
}

int drivers_fit(struct drivers *drivers, const struct drivers_clean *clean) {
	bool joint = drivers->method == DRIVERS_JOINT;
	int failed = joint ? fit(drivers, clean, 0, drivers->count) : 0;
	for (size_t g = 0; !joint && g < drivers->count; g++)
		failed |= fit(drivers, clean, g, 1);
	if (failed)
		return -1;
	drivers->r2 = joint ? drivers->r2 : NAN;
	adjust(drivers);
	return 0;
}
