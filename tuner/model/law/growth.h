/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a cost grows with the size of the problem: a power law, one with up to two breakpoints (continuous, so a broken
 * line in logarithms), or a constant overhead with a power law on top, or, where the cost
 * follows none of these, power laws from place to place: a line through the logarithms of the nearest sizes with
 * tricube weights (Cleveland, Robust Locally Weighted Regression and Smoothing Scatterplots, 1979). Which of them is
 * decided by cross-validation:
 * each size is predicted from all others, and a law with more parameters must do clearly better. The fit is robust:
 * Huber's weights (Huber, Robust estimation of a location parameter, 1964). */
#ifndef TUNER_MODEL_LAW_GROWTH_H
#define TUNER_MODEL_LAW_GROWTH_H
#include <stddef.h>

#include "src/base/err.h"

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
	size_t terms;                                   /* coefficients */
	double coef[GROWTH_TERMS_MAX];                  /* of the terms in growth_impl.h */
	double cov[GROWTH_TERMS_MAX][GROWTH_TERMS_MAX]; /* of the coefficients, in units of sigma^2 */
	double sigma, freedom;                          /* deviation of log t, and its degrees of freedom */
	size_t near, count;                             /* GROWTH_LOCAL: sizes that a line goes through, and all of them */
	double x[GROWTH_SIZES_MAX], y[GROWTH_SIZES_MAX];
};

/* t = overhead + factor n^exponent from one size to another. */
struct growth_piece {
	double from, to, overhead, factor, exponent;
};

struct growth {
	struct growth_law law;
	size_t count;               /* sizes */
	double n[GROWTH_SIZES_MAX]; /* ascending */
	double t[GROWTH_SIZES_MAX];
	double predicted[GROWTH_SIZES_MAX]; /* from all other sizes, the choice of the law included */
	double error[GROWTH_SIZES_MAX];     /* |predicted / t - 1| */
	double median_error, worst_error;   /* of those */
};

/* n and t in any order, all above 0; of one that is there more than once the geometric mean is taken. places: where a
 * break is likely (a working set leaves a cache), beside the middles between sizes; may be NULL. ERR_USAGE says what
 * these data can't carry. */
int growth_fit(const double *n, const double *t, size_t count, const double *places, size_t place_count,
               struct growth *growth, struct err *err);
/* The cost at a size, and the interval in which a measurement there falls with 95 %. */
double growth_predict(const struct growth *growth, double n, double ci[2]);
/* d log t / d log n at a size. */
double growth_exponent(const struct growth *growth, double n);
/* The law from the smallest size to the largest; a local one is cut at its sizes, of many at some of them. Room for
 * GROWTH_PIECES_MAX; how many. */
size_t growth_pieces(const struct growth *growth, struct growth_piece *pieces);

#endif
