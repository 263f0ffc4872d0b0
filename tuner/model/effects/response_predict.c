/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many predictions at once, and how they hang together (Rasmussen and Williams 2006, equations 2.23 and 2.24). */
#include <config.h>

#include <gsl/gsl_blas.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "tuner/model/gp/impl.h"
#include "tuner/model/effects/response_impl.h"

struct asked {
	const struct gp *gp;
	struct gp_kernel kernel;
	uint16_t *codes; /* count x dims */
	size_t count, values;
	double *sum, *product, *alike;
};

/* How alike a configuration and each of the asked are in a dimension; from a table where that saves work. */
static void dim_fill(struct asked *asked, size_t d, const uint16_t *own) {
	const struct gp_axis *axis = &asked->gp->axis[d];
	size_t dims = asked->gp->dims;
	double length = asked->kernel.length[d];
	bool table = axis->values < asked->count;
	for (size_t v = 0; table && v < axis->values; v++)
		asked->alike[v] = gp_matern(gp_distance(axis, own[d], (unsigned)v) / length, NULL);
	for (size_t c = 0; c < asked->count; c++) {
		unsigned code = asked->codes[c * dims + d];
		double m = table ? asked->alike[code] : gp_matern(gp_distance(axis, own[d], code) / length, NULL);
		asked->sum[c] += m;
		asked->product[c] *= m;
	}
}

static void row_fill(struct asked *asked, const uint16_t *own, double *row) {
	const struct gp *gp = asked->gp;
	const struct gp_kernel *kernel = &asked->kernel;
	for (size_t c = 0; c < asked->count; c++) {
		asked->sum[c] = 0;
		asked->product[c] = 1;
	}
	for (size_t d = 0; d < gp->dims; d++)
		dim_fill(asked, d, own);
	for (size_t c = 0; c < asked->count; c++)
		row[c] =
			kernel->s2 * (kernel->share * asked->sum[c] / (double)gp->dims + (1 - kernel->share) * asked->product[c]) +
			gp_trend_covariance(gp, own, asked->codes + c * gp->dims);
}

/* L^-1 k(X, asked): an observation a row. */
static gsl_matrix *solved_new(struct asked *asked) {
	const struct gp *gp = asked->gp;
	gsl_matrix *solved = gsl_matrix_alloc(gp->count, asked->count);
	gsl_matrix_const_view lower = gsl_matrix_const_submatrix(gp->lower, 0, 0, gp->count, gp->count);
	for (size_t i = 0; i < gp->count; i++)
		row_fill(asked, gp->codes + i * gp->dims, gsl_matrix_ptr(solved, i, 0));
	gsl_blas_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1, &lower.matrix, solved);
	return solved;
}

static void mean_make(const struct asked *asked, const gsl_matrix *solved, const struct response *r, double *mean) {
	const struct gp *gp = asked->gp;
	gsl_vector_view view = gsl_vector_view_array(mean, asked->count);
	gsl_vector_const_view white = gsl_vector_const_view_array(gp->white, gp->count);
	gsl_blas_dgemv(CblasTrans, r->scale, solved, &white.vector, 0, &view.vector);
	for (size_t c = 0; c < asked->count; c++)
		mean[c] += r->centre + r->scale * (gp->mean + gp_trend(gp, asked->codes + c * gp->dims));
}

static void variance_make(const struct asked *asked, const gsl_matrix *solved, double scale, double *variance) {
	for (size_t c = 0; c < asked->count; c++) {
		const uint16_t *own = asked->codes + c * asked->gp->dims;
		variance[c] = asked->kernel.s2 + gp_trend_covariance(asked->gp, own, own);
	}
	for (size_t i = 0; i < solved->size1; i++) {
		const double *row = gsl_matrix_const_ptr(solved, i, 0);
		for (size_t c = 0; c < asked->count; c++)
			variance[c] -= row[c] * row[c];
	}
	for (size_t c = 0; c < asked->count; c++)
		variance[c] = fmax(variance[c], 1e-10) * scale * scale;
}

static void covariance_make(struct asked *asked, const gsl_matrix *solved, double scale, double *covariance) {
	size_t count = asked->count, dims = asked->gp->dims;
	gsl_matrix_view view = gsl_matrix_view_array(covariance, count, count);
	for (size_t c = 0; c < count; c++)
		row_fill(asked, asked->codes + c * dims, covariance + c * count);
	gsl_blas_dsyrk(CblasLower, CblasTrans, -scale * scale, solved, scale * scale, &view.matrix);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++)
			covariance[j * count + i] = covariance[i * count + j];
}

void response_predict(const struct response *response, const int *places, size_t count, double *mean, double *variance,
                      double *covariance) {
	const struct gp *gp = response->gp;
	struct asked asked = {.gp = gp, .count = count};
	if (count == 0)
		return;
	gp_kernel_of(gp, gp->theta, &asked.kernel);
	asked.codes = mem_alloc(count * gp->dims, sizeof *asked.codes);
	asked.sum = mem_alloc(count, sizeof *asked.sum);
	asked.product = mem_alloc(count, sizeof *asked.product);
	asked.alike = mem_alloc(count, sizeof *asked.alike);
	for (size_t c = 0; c < count; c++)
		response_codes(&response->data, places + c * response->data.params, asked.codes + c * gp->dims);
	gsl_matrix *solved = solved_new(&asked);
	if (mean)
		mean_make(&asked, solved, response, mean);
	if (variance)
		variance_make(&asked, solved, response->scale, variance);
	if (covariance)
		covariance_make(&asked, solved, response->scale, covariance);
	gsl_matrix_free(solved);
	free(asked.codes);
	free(asked.sum);
	free(asked.product);
	free(asked.alike);
}
