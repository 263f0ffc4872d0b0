/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cleveland 1979, section 2, of degree one, without the robust rounds: a size that is off bends its surroundings, and
 * its leave-one-out error shows it. */
#include <config.h>

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "src/base/stats.h"
#include "tuner/model/law/growth_impl.h"

static const double TINY = 1e-12;
/* The bandwidth extends a little beyond the furthest neighbour, whose weight would be 0 otherwise. */
static const double BEYOND = 1.15;
static const double DEVIATION_OF_MEAN = 1.2533; /* deviation of a normal error over its mean absolute value */

/* The neighbours [first, first + near) of x among ascending sizes, without `out` (SIZE_MAX: with all). */
static size_t neighbours(const struct growth_law *law, double x, size_t out, size_t *chosen) {
	size_t count = 0;
	bool taken[GROWTH_SIZES_MAX] = {false};
	for (size_t k = 0; k < law->near; k++) {
		size_t best = SIZE_MAX;
		for (size_t i = 0; i < law->count; i++)
			if (!taken[i] && i != out && (best == SIZE_MAX || fabs(law->x[i] - x) < fabs(law->x[best] - x)))
				best = i;
		if (best == SIZE_MAX)
			break;
		taken[best] = true;
		chosen[count++] = best;
	}
	return count;
}

static double line_at(const struct growth_law *law, double x, size_t out) {
	size_t chosen[GROWTH_SIZES_MAX], count = neighbours(law, x, out, chosen);
	double sum = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0;
	double reach = BEYOND * fabs(law->x[chosen[count - 1]] - x) + TINY, weight[GROWTH_SIZES_MAX];
	for (size_t k = 0; k < count; k++) {
		double u = fabs(law->x[chosen[k]] - x) / reach;
		weight[k] = pow(1 - u * u * u, 3);
		sum += weight[k];
		mean_x += weight[k] * (law->x[chosen[k]] - x);
		mean_y += weight[k] * law->y[chosen[k]];
	}
	mean_x /= sum;
	mean_y /= sum;
	for (size_t k = 0; k < count; k++) {
		double dx = law->x[chosen[k]] - x - mean_x;
		xx += weight[k] * dx * dx;
		xy += weight[k] * dx * (law->y[chosen[k]] - mean_y);
	}
	return mean_y - (xx > TINY ? xy / xx : 0) * mean_x;
}

double growth_local_at(const struct growth_law *law, double x) {
	return line_at(law, x, SIZE_MAX);
}

bool growth_local_fit(const struct growth_points *points, struct growth_law *law) {
	double sum = 0;
	law->kind = GROWTH_LOCAL;
	law->count = points->count;
	if (points->count < law->near + 2)
		return false;
	memcpy(law->x, points->x, points->count * sizeof *law->x);
	memcpy(law->y, points->y, points->count * sizeof *law->y);
	for (size_t i = 0; i < points->count; i++)
		sum += fabs(points->y[i] - line_at(law, points->x[i], i));
	law->sigma = DEVIATION_OF_MEAN * sum / (double)points->count;
	law->freedom = fmax(1, (double)points->count - 2 * (double)points->count / (double)law->near);
	return true;
}
