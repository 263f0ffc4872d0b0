/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files growth*.c only. */
#ifndef TUNER_MODEL_LAW_GROWTH_IMPL_H
#define TUNER_MODEL_LAW_GROWTH_IMPL_H
#include <stdbool.h>

#include "tuner/model/law/growth.h"

struct growth_points {
	size_t count;
	double x[GROWTH_SIZES_MAX], y[GROWTH_SIZES_MAX]; /* log n minus its middle, ascending; log t */
};

/* The terms of a broken line are 1, x, max(0, x - at[0]), max(0, x - at[1]); those of an overhead are the derivatives
 * of t = a + b exp(p x) by log a, log b and p. */
double growth_law_at(const struct growth_law *law, double x, double terms[GROWTH_TERMS_MAX]);

/* Fits the line with the breaks in law->at. False: the points do not determine it. */
bool growth_line_fit(const struct growth_points *points, struct growth_law *law);
/* Fits the line with law->breaks breaks at these candidates (ascending) that has the smallest robust spread. */
bool growth_breaks_fit(const struct growth_points *points, const double *candidates, size_t count,
                       struct growth_law *law);
bool growth_overhead_fit(const struct growth_points *points, struct growth_law *law);
/* Fits lines through law->near sizes each. growth_local.c */
double growth_local_at(const struct growth_law *law, double x);

#endif
