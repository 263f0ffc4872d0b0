/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Coding of a parameter's values. A search (tuner/surrogate/coding.h) and `explain` (response.h) see the same values in
 * the same way because both make their dimensions here. */
#include <config.h>

#include <math.h>

#include "tuner/model/gp/gp.h"

/* Both were chosen with the procedure of doc/lab/search.md: the expected length, of a range of 1, and the range from
 * which on numbers are compared by their ratios. Block sizes and thread counts often double from one value to the next;
 * by their differences all but the largest would be almost equal. */
static const double LENGTH = 1.35, WIDE = 4;

static void range_of(const double *x, size_t count, double range[2]) {
	range[0] = INFINITY;
	range[1] = -INFINITY;
	for (size_t i = 0; i < count; i++) {
		range[0] = fmin(range[0], x[i]);
		range[1] = fmax(range[1], x[i]);
	}
}

struct gp_dim gp_dim_of(const double *numbers, size_t values, double *at) {
	struct gp_dim dim = {.values = values + 1, .at = numbers ? at : NULL, .length = LENGTH};
	double range[2];
	at[values] = NAN;
	if (!numbers)
		return dim;
	range_of(numbers, values, range);
	bool ratios = range[0] > 0 && range[1] >= WIDE * range[0];
	for (size_t v = 0; v < values; v++) /* halves, because the difference of finite numbers may be infinite */
		at[v] = ratios ? log2(numbers[v]) : 0.5 * numbers[v];
	range_of(at, values, range);
	for (size_t v = 0; v < values; v++)
		at[v] = range[1] > range[0] ? (at[v] - range[0]) / (range[1] - range[0]) : 0;
	return dim;
}
