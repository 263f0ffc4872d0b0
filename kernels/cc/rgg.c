/* SPDX-License-Identifier: BSD-3-Clause */
/* A random geometric graph: points in the unit square, an edge where two are near each other. The radius of its own,
 * 0.55 sqrt(ln n / n), just about connects it: Holtgrewe, Sanders and Schulz, "Engineering a scalable high quality graph
 * partitioner", 2010 (the family rgg). The square is cut into cells no smaller than the radius; vertices are numbered
 * cell by cell, row by row. */
#include <config.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/cc/graph.h"

struct point {
	double x, y;
};

struct field {
	int32_t n, across; /* across * across cells, at most about n */
	double radius;
	struct point *points; /* in the order of the cells */
	int32_t *first;       /* of a cell */
};

static double radius_own(double n) {
	return n > 1 ? 0.55 * sqrt(log(n) / n) : 0;
}

static double rgg_degree(double n) {
	return 3.14159265358979 * n * radius_own(n) * radius_own(n);
}

static int32_t cell_of(const struct field *f, struct point p) {
	return (int32_t)(p.y * f->across) * f->across + (int32_t)(p.x * f->across);
}

/* Drawn twice from the same seed: to count, and to place. */
static void points_place(struct field *f, uint64_t seed) {
	size_t cells = (size_t)f->across * (size_t)f->across;
	for (int pass = 0; pass < 2; pass++) {
		uint64_t random = seed;
		for (int32_t i = 0; i < f->n; i++) {
			struct point p = {cc_random_unit(&random), 0};
			p.y = cc_random_unit(&random);
			int32_t at = f->first[cell_of(f, p) + 1]++;
			if (pass == 1)
				f->points[at] = p;
		}
		int32_t begin = 0;
		for (size_t c = 0; pass == 0 && c < cells; c++) {
			int32_t count = f->first[c + 1];
			f->first[c + 1] = begin;
			begin += count;
		}
	}
}

/* Vertex v with the vertices after it in one cell. */
static bool cell_join(struct cc_pairs *pairs, const struct field *f, int32_t v, int32_t x, int32_t y) {
	if (x < 0 || x >= f->across || y >= f->across)
		return true;
	int32_t cell = y * f->across + x;
	for (int32_t w = f->first[cell] > v ? f->first[cell] : v + 1; w < f->first[cell + 1]; w++) {
		double dx = f->points[v].x - f->points[w].x, dy = f->points[v].y - f->points[w].y;
		if (dx * dx + dy * dy <= f->radius * f->radius && !cc_pairs_add(pairs, v, w))
			return false;
	}
	return true;
}

static bool vertex_join(struct cc_pairs *pairs, const struct field *f, int32_t v) {
	int32_t cell = cell_of(f, f->points[v]), x = cell % f->across, y = cell / f->across;
	return cell_join(pairs, f, v, x, y) && cell_join(pairs, f, v, x + 1, y) &&
	       cell_join(pairs, f, v, x - 1, y + 1) && cell_join(pairs, f, v, x, y + 1) &&
	       cell_join(pairs, f, v, x + 1, y + 1);
}

static int32_t cells_across(int32_t n, double radius) {
	double most = floor(sqrt(n)), fit = radius > 0 ? floor(1 / radius) : most;
	return (int32_t)fmax(1, fmin(most, fit));
}

static bool rgg_make(struct cc_pairs *pairs, int32_t n, int degree, uint64_t seed) {
	double radius = degree > 0 ? sqrt(degree / (3.14159265358979 * n)) : radius_own(n);
	struct field f = {.n = n, .radius = radius, .across = cells_across(n, radius)};
	f.points = calloc((size_t)n, sizeof *f.points);
	f.first = calloc((size_t)f.across * (size_t)f.across + 1, sizeof *f.first);
	bool made = f.points && f.first;
	if (made)
		points_place(&f, seed);
	pairs->n = n;
	for (int32_t v = 0; made && v < n; v++)
		made = vertex_join(pairs, &f, v);
	free(f.points);
	free(f.first);
	return made;
}

const struct cc_generator cc_rgg = {
	.name = "rgg",
	.summary = "random geometric graph: near points of the unit square",
	.make = rgg_make,
	.degree = rgg_degree,
};
