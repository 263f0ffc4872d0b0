/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/model/robust.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"

static bool all_finite(const double *x, size_t count) {
	for (size_t i = 0; i < count; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

static bool is_sound(const struct robust *robust) {
	return all_finite(robust->coefficient, robust->columns) &&
	       all_finite(robust->covariance, robust->columns * robust->columns) &&
	       all_finite(robust->residual, robust->rows) && all_finite(robust->weight, robust->rows);
}

static int fit(struct robust *robust, const double *x, const double *y) {
	size_t rows = robust->rows, columns = robust->columns;
	gsl_multifit_robust_workspace *space = gsl_multifit_robust_alloc(gsl_multifit_robust_bisquare, rows, columns);
	gsl_matrix_const_view design = gsl_matrix_const_view_array(x, rows, columns);
	gsl_vector_const_view target = gsl_vector_const_view_array(y, rows);
	gsl_vector_view coefficient = gsl_vector_view_array(robust->coefficient, columns);
	gsl_matrix_view covariance = gsl_matrix_view_array(robust->covariance, columns, columns);
	int status = gsl_multifit_robust(&design.matrix, &target.vector, &coefficient.vector, &covariance.matrix, space);
	gsl_multifit_robust_stats stats = gsl_multifit_robust_statistics(space);
	if (status == GSL_SUCCESS || status == GSL_EMAXITER) { /* the last of many steps is good enough */
		memcpy(robust->residual, stats.r->data, rows * sizeof *robust->residual);
		memcpy(robust->weight, stats.weights->data, rows * sizeof *robust->weight);
		robust->sigma = stats.sigma;
		robust->r2 = stats.Rsq;
		status = GSL_SUCCESS;
	}
	gsl_multifit_robust_free(space);
	return status;
}

int robust_fit(struct robust *robust, const double *x, const double *y, size_t rows, size_t columns) {
	if (columns == 0 || rows <= columns || !all_finite(x, rows * columns) || !all_finite(y, rows))
		return -1;
	gsl_error_handler_t *handler = gsl_set_error_handler_off(); /* GSL's own handler aborts */
	*robust = (struct robust){.rows = rows, .columns = columns};
	robust->coefficient = mem_alloc(columns, sizeof *robust->coefficient);
	robust->covariance = mem_alloc(columns * columns, sizeof *robust->covariance);
	robust->residual = mem_alloc(rows, sizeof *robust->residual);
	robust->weight = mem_alloc(rows, sizeof *robust->weight);
	int status = fit(robust, x, y);
	gsl_set_error_handler(handler);
	if (status == GSL_SUCCESS && is_sound(robust))
		return 0;
	robust_clear(robust);
	return -1;
}

void robust_clear(struct robust *robust) {
	free(robust->coefficient);
	free(robust->covariance);
	free(robust->residual);
	free(robust->weight);
	*robust = (struct robust){0};
}
