/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a cost grows with the size of the problem: a power law, one with up to two breakpoints (continuous, so that it is
 * a broken line in logarithms), a constant overhead plus a power law, or, if none of these fits, a local law: lines
 * through the logarithms of the nearest sizes with tricube weights (Cleveland, Robust locally weighted regression and
 * smoothing scatterplots, 1979). Cross-validation chooses: each size is predicted from all others, and a law with more
 * parameters must predict clearly better, because it always fits better. Fits are robust by Huber's weights (Huber,
 * Robust estimation of a location parameter, 1964). */
#ifndef TUNER_MODEL_LAW_GROWTH_H
#define TUNER_MODEL_LAW_GROWTH_H
#include <stddef.h>

#include "base/err.h"

enum {
	GROWTH_SIZES_MAX = 64,
	GROWTH_SIZES_MIN = 3,
	GROWTH_BREAKS_MAX = 2,
	GROWTH_TERMS_MAX = 4,
	GROWTH_PIECES_MAX = 32
};

enum growth_kind { GROWTH_POWER, GROWTH_OVERHEAD, GROWTH_BROKEN, GROWTH_LOCAL };
const char *growth_word(enum growth_kind kind);

struct growth_law {
	enum growth_kind kind;
	size_t breaks;                                  /* GROWTH_BROKEN: 1 or 2 */
	double at[GROWTH_BREAKS_MAX];                   /* ascending, in logarithms */
	size_t terms;                                   /* number of coefficients */
	double coef[GROWTH_TERMS_MAX];                  /* of the terms in law_impl.h */
	double cov[GROWTH_TERMS_MAX][GROWTH_TERMS_MAX]; /* of the coefficients, in units of sigma^2 */
	double sigma, freedom;                          /* deviation of log t, and its degrees of freedom */
	size_t near, count;                             /* GROWTH_LOCAL: number of sizes under a line, and of all sizes */
	double x[GROWTH_SIZES_MAX], y[GROWTH_SIZES_MAX];
};

/* t = overhead + factor n^exponent between two sizes. */
struct growth_piece {
	double from, to, overhead, factor, exponent;
};

struct growth {
	struct growth_law law;
	size_t count;               /* number of sizes */
	double n[GROWTH_SIZES_MAX]; /* ascending */
	double t[GROWTH_SIZES_MAX];
	double predicted[GROWTH_SIZES_MAX]; /* by all other sizes, the choice of the law included */
	double error[GROWTH_SIZES_MAX];     /* |predicted / t - 1| */
	double median_error, worst_error;   /* of the errors */
};

/* Fits n and t, which may be in any order and must be above 0; of equal sizes the geometric mean counts. breaks: sizes
 * where a break is likely (a working set leaves a cache), which are candidates beside the midpoints between sizes; may
 * be NULL. ERR_USAGE says why the data do not suffice. */
int growth_fit(const double *n, const double *t, size_t count, const double *breaks, size_t break_count,
               struct growth *growth, struct err *err);
/* The cost at a size, and the interval that contains a measurement there with 95 %. */
double growth_predict(const struct growth *growth, double n, double ci[2]);
/* Describes the law from the smallest size to the largest; a local law is cut at its sizes, or at some of them if they
 * are many. Room for GROWTH_PIECES_MAX; returns the number. */
size_t growth_pieces(const struct growth *growth, struct growth_piece *pieces);
#endif
