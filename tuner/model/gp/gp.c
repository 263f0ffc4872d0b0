/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "tuner/model/gp/impl.h"

enum { FIRST_ROOM = 64 };
static const double TINY = 1e-10;
static const double SCALE_FIRST = -1.2, NOISE_FIRST = -9, SHARE_FIRST = 1.5;

/* Of OpenBLAS, where that is the CBLAS. */
void openblas_set_num_threads(int count) __attribute__((weak));
int blas_thread_shutdown_(void) __attribute__((weak));

/* Matrices are small, and searches run beside each other: threads would only wait for each other. OpenBLAS starts one a
 * core as it is loaded, and these spin for a while before they sleep: they end at once. */
__attribute__((constructor)) static void blas_alone(void) {
	if (openblas_set_num_threads)
		openblas_set_num_threads(1);
	if (blas_thread_shutdown_)
		blas_thread_shutdown_();
}

/* From the beginning: models that put the handler back do so beside others that still compute, and GSL's own aborts. */
__attribute__((constructor)) static void gsl_alone(void) {
	gsl_set_error_handler_off();
}

struct gp *gp_new(const struct gp_dim *dims, size_t count) {
	struct gp *gp = mem_alloc(1, sizeof *gp);
	gsl_set_error_handler_off(); /* what GSL refuses is decided here, not by abort() */
	gp->dims = count;
	gp->axis = mem_alloc(count, sizeof *gp->axis);
	gp->theta = mem_alloc(count + GP_SHAPES, sizeof *gp->theta);
	for (size_t d = 0; d < count; d++) {
		struct gp_axis *axis = &gp->axis[d];
		*axis = (struct gp_axis){.values = dims[d].values,
		                         .prior = log(dims[d].length),
		                         .trend = dims[d].trend,
		                         .slope = dims[d].slope,
		                         .slope_variance = dims[d].slope_deviation * dims[d].slope_deviation};
		if (dims[d].at) {
			axis->at = mem_alloc(axis->values, sizeof *axis->at);
			memcpy(axis->at, dims[d].at, axis->values * sizeof *axis->at);
		}
		gp->theta[d] = axis->prior;
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
	for (size_t d = 0; d < gp->dims; d++)
		free(gp->axis[d].at);
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

static void solve(const struct gp *gp, size_t count, double *x) {
	if (count == 0)
		return;
	gsl_matrix_const_view lower = gsl_matrix_const_submatrix(gp->lower, 0, 0, count, count);
	gsl_vector_view view = gsl_vector_view_array(x, count);
	gsl_blas_dtrsv(CblasLower, CblasNoTrans, CblasNonUnit, &lower.matrix, &view.vector);
}

static double between(const struct gp *gp, const struct gp_kernel *kernel, const uint16_t *a, const uint16_t *b) {
	return gp_covariance(gp, kernel, a, b) + gp_trend_covariance(gp, a, b);
}

static void factor_row(struct gp *gp, const struct gp_kernel *kernel, size_t row) {
	const uint16_t *own = gp->codes + row * gp->dims;
	double *x = gsl_matrix_ptr(gp->lower, row, 0);
	for (size_t i = 0; i < row; i++)
		x[i] = between(gp, kernel, own, gp->codes + i * gp->dims);
	solve(gp, row, x);
	double rest = between(gp, kernel, own, own) + kernel->noise + GP_JITTER + gp->variance[row] - gp_dot(x, x, row);
	x[row] = sqrt(fmax(rest, TINY));
}

void gp_condition(struct gp *gp) {
	struct gp_kernel kernel;
	gp_kernel_of(gp, gp->theta, &kernel);
	for (; gp->solved < gp->count; gp->solved++)
		factor_row(gp, &kernel, gp->solved);
	double *unit = mem_alloc(gp->count + 1, sizeof *unit);
	for (size_t i = 0; i < gp->count; i++) {
		unit[i] = 1;
		gp->white[i] = gp->target[i] - gp_trend(gp, gp->codes + i * gp->dims);
	}
	solve(gp, gp->count, unit);
	solve(gp, gp->count, gp->white);
	gp->mean = gp_dot(unit, gp->white, gp->count) / (gp_dot(unit, unit, gp->count) + GP_MEAN_DOUBT);
	for (size_t i = 0; i < gp->count; i++)
		gp->white[i] -= gp->mean * unit[i];
	free(unit);
}

void gp_predict(const struct gp *gp, const uint16_t *codes, double *mean, double *variance) {
	struct gp_kernel kernel;
	double *x = mem_alloc(gp->count + 1, sizeof *x);
	gp_kernel_of(gp, gp->theta, &kernel);
	for (size_t i = 0; i < gp->count; i++)
		x[i] = between(gp, &kernel, codes, gp->codes + i * gp->dims);
	solve(gp, gp->count, x);
	*mean = gp->mean + gp_trend(gp, codes) + gp_dot(x, gp->white, gp->count);
	*variance = fmax(between(gp, &kernel, codes, codes) - gp_dot(x, x, gp->count), TINY);
	free(x);
}

/* Row i of L^-1 by those before it: - l' L^-1 / L_ii. */
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
	double *weights = weights_new(gp);
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
	free(weights);
}

/* Of target = mean + noise, the noise is its variance times the weights. */
void gp_smooth(const struct gp *gp, double *mean) {
	if (gp->count == 0)
		return;
	double *weights = weights_new(gp);
	for (size_t i = 0; i < gp->count; i++)
		mean[i] = gp->target[i] - (gp_noise(gp) + GP_JITTER + gp->variance[i]) * weights[i];
	free(weights);
}

double gp_likelihood(const struct gp *gp) {
	return gp->likelihood;
}

double gp_noise(const struct gp *gp) {
	return exp(gp->theta[gp->dims + GP_NOISE]);
}

double gp_relevance(const struct gp *gp, size_t dim) {
	return 1 - gp_matern(exp(-gp->theta[dim]), NULL);
}
