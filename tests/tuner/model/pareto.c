/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/model/pareto.h"

#include <math.h>

#include "base/rng.h"
#include "tests/tap.h"

enum { POINTS = 40, CASES = 2000 };
typedef double point[2];

/* Draws from few values, so that many are equal; some are NAN. */
static void draw(point *points, size_t count, struct rng *rng) {
	uint64_t values = 2 + rng_below(rng, 30);
	for (size_t i = 0; i < count; i++)
		for (int k = 0; k < 2; k++)
			points[i][k] = rng_below(rng, 20) ? 1 + (double)rng_below(rng, values) : rng_below(rng, 3) ? NAN : INFINITY;
}

static bool dominates(const point a, const point b) {
	return a[0] <= b[0] && a[1] <= b[1] && (a[0] < b[0] || a[1] < b[1]);
}

static bool belongs(const point *points, size_t count, size_t i) {
	if (isnan(points[i][0]) || isnan(points[i][1]))
		return false;
	for (size_t j = 0; j < count; j++)
		if (dominates(points[j], points[i]) || (j < i && points[j][0] == points[i][0] && points[j][1] == points[i][1]))
			return false;
	return true;
}

static bool front_agrees(const point *points, size_t count) {
	size_t front[POINTS], kept = (size_t)pareto_front(points, count, front), expected = 0;
	bool in[POINTS] = {false};
	for (size_t i = 0; i < kept; i++) {
		in[front[i]] = true;
		if (i > 0 && !(points[front[i - 1]][0] < points[front[i]][0]))
			return false;
	}
	for (size_t i = 0; i < count; i++) {
		expected += belongs(points, count, i);
		if (in[i] != belongs(points, count, i))
			return false;
	}
	return expected == kept;
}

/* No remaining point is as good as another up to noise; without noise nothing is dropped. */
static bool thin_agrees(const point *points, size_t count, double noise) {
	size_t front[POINTS], kept = (size_t)pareto_front(points, count, front), all = kept;
	kept = (size_t)pareto_thin(points, front, kept, noise);
	for (size_t i = 0; i < kept; i++)
		for (size_t j = 0; j < kept; j++) {
			const double *a = points[front[i]], *b = points[front[j]];
			if (i != j && fabs(log(a[0] / b[0])) < log1p(noise) && fabs(log(a[1] / b[1])) < log1p(noise))
				return false;
		}
	return (kept > 0) == (all > 0) && kept <= all && (noise > 0 || kept == all);
}

int main(void) {
	point points[POINTS];
	struct rng rng;
	bool agrees = true, thins = true, keeps = true;
	rng_seed(&rng, 3);
	for (int i = 0; i < CASES; i++) {
		size_t count = rng_below(&rng, POINTS + 1);
		draw(points, count, &rng);
		agrees &= front_agrees((const point *)points, count);
		thins &= thin_agrees((const point *)points, count, 0.1);
		keeps &= thin_agrees((const point *)points, count, 0);
	}
	ok(agrees, "the front is the points that no other dominates, in order, equal ones once, without NAN");
	ok(thins, "thinned, no two are the same up to noise");
	ok(keeps, "nothing is thinned without noise");
	static const point by_hand[] = {{1, 10}, {1.005, 5}, {2, 4.98}, {3, 2}};
	size_t front[4], kept = (size_t)pareto_front(by_hand, 4, front);
	ok(kept == 4, "all four are on the front");
	kept = (size_t)pareto_thin(by_hand, front, kept, 0.01);
	ok(kept == 2 && front[0] == 1 && front[1] == 3, "a point that wins only by noise and loses much is dropped");
	ok(pareto_front(by_hand, 0, front) == 0 && pareto_thin(by_hand, front, 0, 0.01) == 0, "no points give no front");
	return tap_done();
}
