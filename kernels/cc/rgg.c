/* SPDX-License-Identifier: BSD-3-Clause */
/* A random geometric graph: points in the unit square, an edge where two are near each other. The radius of its own,
 * 0.55 sqrt(ln n / n), just about connects it: Holtgrewe, Sanders and Schulz, "Engineering a scalable high quality
 * graph partitioner", 2010 (the family rgg). The square is cut into cells no smaller than the radius; vertices are
 * numbered cell by cell, row by row. */
#include <math.h>
#include <stdlib.h>

#include "kernels/cc/cc.h"

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

static double unit_at(uint64_t seed, uint64_t i) {
	return (double)(kernel_random_at(seed, i) >> 11) * 0x1p-53;
}

/* Places the points, or only counts them, whose cells are in rows `from` to `to`: others draw and drop them. */
static void strip_place(struct field *f, uint64_t seed, int32_t from, int32_t to, bool count) {
	for (int32_t i = 0; i < f->n; i++) {
		double y = unit_at(seed, 2 * (uint64_t)i + 1);
		int32_t row = (int32_t)(y * f->across);
		if (row < from || row >= to)
			continue;
		struct point p = {unit_at(seed, 2 * (uint64_t)i), y};
		int32_t at = f->first[cell_of(f, p) + 1]++;
		if (!count)
			f->points[at] = p;
	}
}

static void points_place(struct field *f, uint64_t seed) {
	size_t cells = (size_t)f->across * (size_t)f->across;
	int64_t strips = cc_team((size_t)f->n);
	for (int pass = 0; pass < 2; pass++) {
#pragma omp parallel for num_threads((int)strips) schedule(dynamic)
		for (int64_t s = 0; s < strips; s++)
			strip_place(f, seed, (int32_t)(f->across * s / strips), (int32_t)(f->across * (s + 1) / strips), pass == 0);
		int32_t begin = 0;
		for (size_t c = 0; pass == 0 && c < cells; c++) {
			int32_t count = f->first[c + 1];
			f->first[c + 1] = begin;
			begin += count;
		}
	}
}

/* Vertex v with the vertices after it in one cell. */
static size_t cell_join(const struct field *f, int32_t v, int32_t x, int32_t y, int32_t (*pair)[2]) {
	size_t count = 0;
	if (x < 0 || x >= f->across || y >= f->across)
		return 0;
	int32_t cell = y * f->across + x;
	for (int32_t w = f->first[cell] > v ? f->first[cell] : v + 1; w < f->first[cell + 1]; w++) {
		double dx = f->points[v].x - f->points[w].x, dy = f->points[v].y - f->points[w].y;
		if (dx * dx + dy * dy > f->radius * f->radius)
			continue;
		if (pair)
			pair[count][0] = v, pair[count][1] = w;
		count++;
	}
	return count;
}

static size_t vertex_join(const void *what, int32_t v, int32_t (*pair)[2]) {
	static const int moves[][2] = {{0, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}};
	const struct field *f = what;
	int32_t cell = cell_of(f, f->points[v]), x = cell % f->across, y = cell / f->across;
	size_t count = 0;
	for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
		count += cell_join(f, v, x + moves[i][0], y + moves[i][1], pair ? pair + count : NULL);
	return count;
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
	made = made && cc_pairs_join(pairs, vertex_join, &f);
	free(f.points);
	free(f.first);
	return made;
}

const struct cc_generator cc_rgg = {.name = "rgg", .make = rgg_make, .degree = rgg_degree};
