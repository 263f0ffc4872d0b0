/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files growth*.c only. */
#ifndef TUNER_MODEL_LAW_GROWTH_IMPL_H
#define TUNER_MODEL_LAW_GROWTH_IMPL_H
#include <stdbool.h>

#include "tuner/model/law/growth.h"

struct growth_points {
	size_t count;
	double x[GROWTH_SIZES_MAX], y[GROWTH_SIZES_MAX]; /* log n less the middle, ascending; log t */
};

/* Terms of a broken line: 1, x, max(0, x - at[0]), max(0, x - at[1]). Of an overhead: log a, log b, p in
 * t = a + b exp(p x), whose derivatives these are. */
double growth_law_at(const struct growth_law *law, double x, double terms[GROWTH_TERMS_MAX]);

/* Huber's weights of residuals that `terms` coefficients were fitted to. Is any of them below 1? */
bool growth_weights(const double *residual, size_t count, size_t terms, double *weight);
/* sigma and freedom from residuals and weights; each break costs a degree for its place, too. */
void growth_spread(struct growth_law *law, const double *residual, const double *weight, size_t count);

/* The line with the breaks that law->at has. false: the points don't determine it. */
bool growth_line_fit(const struct growth_points *points, struct growth_law *law);
/* The best line with law->breaks breaks out of these places (ascending): the one with the least robust spread. */
bool growth_breaks_fit(const struct growth_points *points, const double *places, size_t count, struct growth_law *law);
bool growth_overhead_fit(const struct growth_points *points, struct growth_law *law);
/* Through law->near sizes each. growth_local.c */
bool growth_local_fit(const struct growth_points *points, struct growth_law *law);
double growth_local_at(const struct growth_law *law, double x, double *slope);

#endif
