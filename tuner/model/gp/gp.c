/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>

#include "base/mem.h"
#include "tuner/model/gp/impl.h"

/* The covariance function of gp.h. */

enum { TABLED_MIN = 64 }; /* fewer values are always tabulated */

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

/* Tabulates the correlations at the current theta where that takes less time than computing them for each pair of
 * observations. */
static void gp_correlations_make(struct gp *gp) {
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

/* The prior covariance of two configurations, trends included. */
static double gp_covariance(const struct gp *gp, const struct gp_kernel *kernel, const uint16_t *a, const uint16_t *b) {
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
			sum += gp->axis[d].slope * gp_place(&gp->axis[d], codes[d]);
	return sum;
}

enum { FIRST_ROOM = 64, WHOLE_MIN = 32 };
static const double TINY = 1e-10;
static const double SCALE_FIRST = -1.2, NOISE_FIRST = -9, SHARE_FIRST = 1.5;

/* Switched off from the start, because a model that restored the handler would do so while other threads still compute,
 * and GSL's own handler aborts. */
__attribute__((constructor)) static void gsl_alone(void) {
	gsl_set_error_handler_off();
}

struct gp *gp_new(const struct gp_dim *dims, size_t count) {
	struct gp *gp = mem_alloc(1, sizeof *gp);
	blas_load();
	gsl_set_error_handler_off(); /* errors are handled here, not by abort() */
	gp->dims = count;
	gp->axis = mem_alloc(count, sizeof *gp->axis);
	gp->theta = mem_alloc(count + GP_SHAPES, sizeof *gp->theta);
	for (size_t d = 0; d < count; d++) {
		struct gp_axis *axis = &gp->axis[d];
		*axis = (struct gp_axis){.values = dims[d].values,
		                         .prior = log(dims[d].length),
		                         .doubt = dims[d].doubt > 0 ? dims[d].doubt : GP_DOUBT,
		                         .trend = dims[d].trend,
		                         .slope = dims[d].slope,
		                         .slope_variance = dims[d].slope_deviation * dims[d].slope_deviation};
		if (dims[d].at) {
			axis->at = mem_alloc(axis->values, sizeof *axis->at);
			memcpy(axis->at, dims[d].at, axis->values * sizeof *axis->at);
		}
		gp->theta[d] = axis->prior;
		gp->trends += axis->trend;
	}
	gp->theta[count + GP_SCALE] = SCALE_FIRST;
	gp->theta[count + GP_NOISE] = NOISE_FIRST;
	gp->theta[count + GP_SHARE] = SHARE_FIRST;
	gp->likelihood = -INFINITY;
	gp->version = 1;
	return gp;
}

void gp_free(struct gp *gp) {
	if (!gp)
		return;
	for (size_t d = 0; d < gp->dims; d++) {
		free(gp->axis[d].at);
		free(gp->axis[d].alike);
	}
	gsl_matrix_free(gp->lower);
	gsl_matrix_free(gp->inverse);
	free(gp->axis);
	free(gp->theta);
	free(gp->codes);
	free(gp->variance);
	free(gp->serial);
	free(gp->target);
	free(gp->white);
	free(gp);
}

static void grow(struct gp *gp) {
	size_t room = gp->room ? 2 * gp->room : FIRST_ROOM;
	gsl_matrix *lower = gsl_matrix_calloc(room, room);
	for (size_t i = 0; i < gp->solved; i++)
		for (size_t j = 0; j <= i; j++)
			gsl_matrix_set(lower, i, j, gsl_matrix_get(gp->lower, i, j));
	gsl_matrix_free(gp->lower);
	gp->lower = lower;
	gp->codes = mem_grow(gp->codes, room * gp->dims, sizeof *gp->codes);
	gp->variance = mem_grow(gp->variance, room, sizeof *gp->variance);
	gp->serial = mem_grow(gp->serial, room, sizeof *gp->serial);
	gp->target = mem_grow(gp->target, room, sizeof *gp->target);
	gp->white = mem_grow(gp->white, room, sizeof *gp->white);
	gp->room = room;
}

void gp_add(struct gp *gp, const uint16_t *codes, double variance) {
	if (gp->count == gp->room)
		grow(gp);
	memcpy(gp->codes + gp->count * gp->dims, codes, gp->dims * sizeof *codes);
	gp->variance[gp->count] = variance;
	gp->serial[gp->count] = ++gp->given;
	gp->target[gp->count++] = 0;
}

void gp_truncate(struct gp *gp, size_t count) {
	gp->count = count < gp->count ? count : gp->count;
	gp->solved = gp->solved < gp->count ? gp->solved : gp->count;
	gp->inverted = gp->inverted < gp->solved ? gp->inverted : gp->solved;
}

size_t gp_count(const struct gp *gp) {
	return gp->count;
}

void gp_target(struct gp *gp, const double *y) {
	if (gp->count)
		memcpy(gp->target, y, gp->count * sizeof *y);
}

/* x becomes L^-1 x, with the factor of the first `count` observations. */
static void gp_solve(const struct gp *gp, size_t count, double *x) {
	if (count == 0)
		return;
	gsl_matrix_const_view lower = gsl_matrix_const_submatrix(gp->lower, 0, 0, count, count);
	gsl_vector_view view = gsl_vector_view_array(x, count);
	gsl_blas_dtrsv(CblasLower, CblasNoTrans, CblasNonUnit, &lower.matrix, &view.vector);
}

static void factor_row(struct gp *gp, const struct gp_kernel *kernel, size_t row) {
	const uint16_t *own = gp->codes + row * gp->dims;
	double *x = gsl_matrix_ptr(gp->lower, row, 0);
	for (size_t i = 0; i < row; i++)
		x[i] = gp_covariance(gp, kernel, own, gp->codes + i * gp->dims);
	gp_solve(gp, row, x);
	double rest =
		gp_covariance(gp, kernel, own, own) + kernel->noise + GP_JITTER + gp->variance[row] - gp_dot(x, x, row);
	x[row] = sqrt(fmax(rest, TINY));
}

/* All rows at once take less time than one by one. */
static void factor(struct gp *gp, const struct gp_kernel *kernel) {
	gsl_matrix_view all = gsl_matrix_submatrix(gp->lower, 0, 0, gp->count, gp->count);
	for (size_t i = 0; i < gp->count; i++) {
		const uint16_t *own = gp->codes + i * gp->dims;
		double *x = gsl_matrix_ptr(gp->lower, i, 0);
		for (size_t j = 0; j <= i; j++)
			x[j] = gp_covariance(gp, kernel, own, gp->codes + j * gp->dims);
		x[i] += kernel->noise + GP_JITTER + gp->variance[i];
	}
	gp->solved = gsl_linalg_cholesky_decomp1(&all.matrix) == 0 ? gp->count : 0;
}

void gp_condition(struct gp *gp) {
	struct gp_kernel kernel;
	gp_kernel_of(gp, gp->theta, &kernel);
	gp_correlations_make(gp);
	if (gp->solved == 0 && gp->count >= WHOLE_MIN)
		factor(gp, &kernel);
	for (; gp->solved < gp->count; gp->solved++)
		factor_row(gp, &kernel, gp->solved);
	mem_auto double *unit = mem_alloc(gp->count + 1, sizeof *unit);
	for (size_t i = 0; i < gp->count; i++) {
		unit[i] = 1;
		gp->white[i] = gp->target[i] - gp_trend(gp, gp->codes + i * gp->dims);
	}
	gp_solve(gp, gp->count, unit);
	gp_solve(gp, gp->count, gp->white);
	gp->mean = gp_dot(unit, gp->white, gp->count) / (gp_dot(unit, unit, gp->count) + GP_MEAN_DOUBT);
	for (size_t i = 0; i < gp->count; i++)
		gp->white[i] -= gp->mean * unit[i];
}

double gp_length(const struct gp *gp, size_t dim) {
	return exp(gp->theta[dim]);
}

double gp_likelihood(const struct gp *gp) {
	return gp->likelihood;
}

double gp_noise(const struct gp *gp) {
	return exp(gp->theta[gp->dims + GP_NOISE]);
}

/* Answers of a conditioned process: predictions (Rasmussen and Williams 2006, equations 2.25 and 2.26), how
 * they vary together (2.24), and leave-one-out predictions (5.12). */

static const double VARIANCE_MIN = 1e-10; /* rounding may leave a negative variance */

void gp_predict(const struct gp *gp, const uint16_t *codes, double *mean, double *variance) {
	struct gp_kernel kernel;
	mem_auto double *x = mem_alloc(gp->count + 1, sizeof *x);
	gp_kernel_of(gp, gp->theta, &kernel);
	for (size_t i = 0; i < gp->count; i++)
		x[i] = gp_covariance(gp, &kernel, codes, gp->codes + i * gp->dims);
	gp_solve(gp, gp->count, x);
	*mean = gp->mean + gp_trend(gp, codes) + gp_dot(x, gp->white, gp->count);
	*variance = fmax(gp_covariance(gp, &kernel, codes, codes) - gp_dot(x, x, gp->count), VARIANCE_MIN);
}

void gp_covariances(const struct gp *gp, const uint16_t *codes, size_t count, double *covariance) {
	struct gp_kernel kernel;
	gsl_matrix *solved = gsl_matrix_alloc(gp->count, count);
	gsl_matrix_view view = gsl_matrix_view_array(covariance, count, count);
	gsl_matrix_const_view lower = gsl_matrix_const_submatrix(gp->lower, 0, 0, gp->count, gp->count);
	gp_kernel_of(gp, gp->theta, &kernel);
	for (size_t c = 0; c < count; c++) {
		const uint16_t *own = codes + c * gp->dims;
		for (size_t i = 0; i < gp->count; i++)
			gsl_matrix_set(solved, i, c, gp_covariance(gp, &kernel, own, gp->codes + i * gp->dims));
		for (size_t i = 0; i <= c; i++)
			covariance[c * count + i] = gp_covariance(gp, &kernel, own, codes + i * gp->dims);
	}
	gsl_blas_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1, &lower.matrix, solved);
	gsl_blas_dsyrk(CblasLower, CblasTrans, -1, solved, 1, &view.matrix);
	for (size_t c = 0; c < count; c++)
		for (size_t i = 0; i < c; i++)
			covariance[i * count + c] = covariance[c * count + i];
	gsl_matrix_free(solved);
}

/* Row i of L^-1 follows from those before it: - l' L^-1 / L_ii. */
static void inverse_row(struct gp *gp, size_t row) {
	double *x = gsl_matrix_ptr(gp->inverse, row, 0), own = 1 / gsl_matrix_get(gp->lower, row, row);
	memcpy(x, gsl_matrix_const_ptr(gp->lower, row, 0), row * sizeof *x);
	if (row > 0) {
		gsl_matrix_const_view before = gsl_matrix_const_submatrix(gp->inverse, 0, 0, row, row);
		gsl_vector_view view = gsl_vector_view_array(x, row);
		gsl_blas_dtrmv(CblasLower, CblasTrans, CblasNonUnit, &before.matrix, &view.vector);
	}
	for (size_t j = 0; j < row; j++)
		x[j] *= -own;
	x[row] = own;
}

static void inverse_update(struct gp *gp) {
	if (!gp->inverse || gp->inverse->size1 < gp->room) {
		gsl_matrix_free(gp->inverse);
		gp->inverse = gsl_matrix_calloc(gp->room, gp->room);
		gp->inverted = 0;
	}
	for (; gp->inverted < gp->count; gp->inverted++)
		inverse_row(gp, gp->inverted);
}

/* K^-1 (target - mean) */
static double *weights_new(const struct gp *gp) {
	double *weights = mem_alloc(gp->count, sizeof *weights);
	gsl_matrix_const_view lower = gsl_matrix_const_submatrix(gp->lower, 0, 0, gp->count, gp->count);
	gsl_vector_view view = gsl_vector_view_array(weights, gp->count);
	memcpy(weights, gp->white, gp->count * sizeof *weights);
	gsl_blas_dtrsv(CblasLower, CblasTrans, CblasNonUnit, &lower.matrix, &view.vector);
	return weights;
}

/* The diagonal of K^-1 is that of L^-T L^-1. */
void gp_leave_one_out(struct gp *gp, double *mean, double *variance) {
	if (gp->count == 0)
		return;
	mem_auto double *weights = weights_new(gp);
	inverse_update(gp);
	memset(variance, 0, gp->count * sizeof *variance);
	for (size_t i = 0; i < gp->count; i++) {
		const double *row = gsl_matrix_const_ptr(gp->inverse, i, 0);
		for (size_t j = 0; j <= i; j++)
			variance[j] += row[j] * row[j];
	}
	for (size_t i = 0; i < gp->count; i++) {
		variance[i] = 1 / variance[i];
		mean[i] = gp->target[i] - weights[i] * variance[i];
	}
}

/* With target = mean + noise, the noise is its variance times the weights. */
void gp_smooth(const struct gp *gp, double *mean) {
	if (gp->count == 0)
		return;
	mem_auto double *weights = weights_new(gp);
	for (size_t i = 0; i < gp->count; i++)
		mean[i] = gp->target[i] - (gp_noise(gp) + GP_JITTER + gp->variance[i]) * weights[i];
}

/* Coding of a parameter's values. A search (tuner/surrogate/coding.c) and `explain` (response.h) see the same values in
 * the same way because both make their dimensions here. */

/* Both were chosen with the procedure of doc/lab/search.md: the expected length, of a range of 1, and the range from
 * which on numbers are compared by their ratios. Block sizes and thread counts often double from one value to the next;
 * by their differences all but the largest would be almost equal. */
static const double LENGTH = 1.35, WIDE = 4;

static void range_of(const double *x, size_t count, double range[2]) {
	range[0] = INFINITY;
	range[1] = -INFINITY;
	for (size_t i = 0; i < count; i++) {
		range[0] = fmin(range[0], x[i]);
		range[1] = fmax(range[1], x[i]);
	}
}

struct gp_dim gp_dim_of(const double *numbers, size_t values, double *at) {
	struct gp_dim dim = {.values = values + 1, .at = numbers ? at : NULL, .length = LENGTH};
	double range[2];
	at[values] = NAN;
	if (!numbers)
		return dim;
	range_of(numbers, values, range);
	bool ratios = range[0] > 0 && range[1] >= WIDE * range[0];
	for (size_t v = 0; v < values; v++) /* halves, because the difference of finite numbers may be infinite */
		at[v] = ratios ? log2(numbers[v]) : 0.5 * numbers[v];
	range_of(at, values, range);
	for (size_t v = 0; v < values; v++)
		at[v] = range[1] > range[0] ? (at[v] - range[0]) / (range[1] - range[0]) : 0;
	return dim;
}
