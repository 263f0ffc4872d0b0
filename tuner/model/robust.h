/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Robust linear regression with Tukey's bisquare (Holland and Welsch, Robust regression using iteratively reweighted
 * least-squares, 1977): gsl_multifit_robust on plain arrays. */
#ifndef TUNER_MODEL_ROBUST_H
#define TUNER_MODEL_ROBUST_H
#include <stddef.h>

struct robust {
	size_t rows, columns;
	double *coefficient;       /* columns */
	double *covariance;        /* columns x columns */
	double *residual, *weight; /* rows; weight 0: the row is an outlier */
	double sigma, r2;          /* scale of the residuals; coefficient of determination */
};

/* x: rows x columns; rows > columns. -1: there is no solution, and nothing to clear. */
int robust_fit(struct robust *robust, const double *x, const double *y, size_t rows, size_t columns);
void robust_clear(struct robust *robust);

#endif
