/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Robust linear regression: gsl_multifit_robust with Tukey's bisquare (Holland and Welsch 1977), in plain arrays. */
#ifndef TUNER_MODEL_ROBUST_H
#define TUNER_MODEL_ROBUST_H
#include <stddef.h>

struct robust {
	size_t rows, columns;
	double *coefficient;       /* columns */
	double *covariance;        /* columns x columns */
	double *residual, *weight; /* rows; weight 0: set aside */
	double sigma, r2;          /* the scale of the residuals */
};

/* x: rows x columns; rows > columns. -1: it has no answer, and nothing to clear. */
int robust_fit(struct robust *robust, const double *x, const double *y, size_t rows, size_t columns);
void robust_clear(struct robust *robust);

#endif
