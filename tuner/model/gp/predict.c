/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers of a conditioned process: predictions (Rasmussen and Williams 2006, equations 2.25 and 2.26), how
 * they vary together (2.24), and leave-one-out predictions (5.12). */
#include <config.h>

#include <gsl/gsl_blas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "tuner/model/gp/impl.h"

static const double VARIANCE_MIN = 1e-10; /* rounding may leave a negative variance */

void gp_predict(const struct gp *gp, const uint16_t *codes, double *mean, double *variance) {
	struct gp_kernel kernel;
	double *x = mem_alloc(gp->count + 1, sizeof *x);
	gp_kernel_of(gp, gp->theta, &kernel);
	for (size_t i = 0; i < gp->count; i++)
		x[i] = gp_covariance(gp, &kernel, codes, gp->codes + i * gp->dims);
	gp_solve(gp, gp->count, x);
	*mean = gp->mean + gp_trend(gp, codes) + gp_dot(x, gp->white, gp->count);
	*variance = fmax(gp_covariance(gp, &kernel, codes, codes) - gp_dot(x, x, gp->count), VARIANCE_MIN);
	free(x);
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

/* With target = mean + noise, the noise is its variance times the weights. */
void gp_smooth(const struct gp *gp, double *mean) {
	if (gp->count == 0)
		return;
	double *weights = weights_new(gp);
	for (size_t i = 0; i < gp->count; i++)
		mean[i] = gp->target[i] - (gp_noise(gp) + GP_JITTER + gp->variance[i]) * weights[i];
	free(weights);
}
