/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "tuner/model/gp/blas.h"
#include "tuner/model/gp/impl.h"

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

void gp_solve(const struct gp *gp, size_t count, double *x) {
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
	double *unit = mem_alloc(gp->count + 1, sizeof *unit);
	for (size_t i = 0; i < gp->count; i++) {
		unit[i] = 1;
		gp->white[i] = gp->target[i] - gp_trend(gp, gp->codes + i * gp->dims);
	}
	gp_solve(gp, gp->count, unit);
	gp_solve(gp, gp->count, gp->white);
	gp->mean = gp_dot(unit, gp->white, gp->count) / (gp_dot(unit, unit, gp->count) + GP_MEAN_DOUBT);
	for (size_t i = 0; i < gp->count; i++)
		gp->white[i] -= gp->mean * unit[i];
	free(unit);
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
