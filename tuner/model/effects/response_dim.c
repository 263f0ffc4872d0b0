/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/model/effects/response_impl.h"

/* As in strategy/coding.c: the length that is expected, and from which range on ratios count. */
static const double LENGTH = 1.35, WIDE = 4;

struct gp_dim response_dim(const double *numbers, size_t levels, double *at) {
	struct gp_dim dim = {.values = levels + 1, .at = numbers ? at : NULL, .length = LENGTH};
	double least = INFINITY, most = -INFINITY;
	for (size_t v = 0; numbers && v < levels; v++) {
		least = fmin(least, numbers[v]);
		most = fmax(most, numbers[v]);
	}
	bool ratios = least > 0 && most >= WIDE * least;
	double range = ratios ? log(most) - log(least) : 0.5 * most - 0.5 * least; /* no overflow */
	for (size_t v = 0; numbers && v < levels; v++) {
		double from = ratios ? log(numbers[v]) - log(least) : 0.5 * numbers[v] - 0.5 * least;
		at[v] = range > 0 ? from / range : 0;
	}
	at[levels] = NAN;
	return dim;
}
