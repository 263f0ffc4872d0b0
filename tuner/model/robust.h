/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Robust linear regression with Tukey's bisquare (Holland and Welsch, Robust regression using iteratively reweighted
 * least-squares, Communications in Statistics A 6(9), 1977): gsl_multifit_robust on plain arrays.
 *
 * The coefficients c minimise the sum of rho(r_i / (4.685 s sqrt(1 - h_i))), r = y - X c, where h_i is the leverage of
 * row i and s = MAD / 0.6745 the scale of the residuals. A row weighs (1 - u^2)^2 where u is the argument of rho, and
 * nothing beyond |u| = 1. With 4.685 the estimate has 95 % of the efficiency of least squares if the errors are normal.
 * Each step is a weighted least squares fit; the covariance is that of Street, Carroll and Ruppert (A note on computing
 * robust regression estimates via iteratively reweighted least squares, The American Statistician 42(2), 1988). */
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
