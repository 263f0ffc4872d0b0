/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/model/pareto.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int by_first(const void *a, const void *b, void *ctx) {
	const double(*points)[2] = ctx;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	for (int k = 0; k < 2; k++)
		if (points[i][k] != points[j][k])
			return points[i][k] < points[j][k] ? -1 : 1;
	return (i > j) - (i < j);
}

/* Sorted by the first value, each point must be better in the second than all points before it (Kung, Luccio,
 * Preparata, On finding the maxima of a set of vectors, 1975). */
int pareto_front(const double (*points)[2], size_t count, size_t *front) {
	size_t sorted = 0, kept = 0;
	for (size_t i = 0; i < count; i++)
		if (!isnan(points[i][0]) && !isnan(points[i][1]))
			front[sorted++] = i;
	if (sorted)
		qsort_r(front, sorted, sizeof *front, by_first, (void *)points);
	for (size_t i = 0; i < sorted; i++)
		if (kept == 0 || points[front[i]][1] < points[front[kept - 1]][1])
			front[kept++] = front[i];
	return (int)kept;
}

/* Is `by` within the noise in both values and better in one, or equal and earlier? */
static bool beaten(const double point[2], const double by[2], double noise, bool later) {
	bool better = false;
	for (int k = 0; k < 2; k++) {
		if (by[k] > point[k] * (1 + noise))
			return false;
		better = better || by[k] * (1 + noise) < point[k];
	}
	return better || later;
}

int pareto_thin(const double (*points)[2], size_t *front, size_t count, double noise) {
	for (size_t i = 0; i < count;) {
		size_t j = 0;
		while (j < count && (j == i || !beaten(points[front[i]], points[front[j]], noise, j < i)))
			j++;
		if (j == count) {
			i++;
			continue;
		}
		memmove(front + i, front + i + 1, (--count - i) * sizeof *front);
	}
	return (int)count;
}
