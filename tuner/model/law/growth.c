/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/stats.h"
#include "tuner/model/law/growth_impl.h"

enum { PLACES_MAX = 32, FOLDS_MAX = 16, EASY = 12 /* sizes up to which every pair of breaks is tried */ };
static const double SPAN_MIN = 1.25; /* largest size over smallest */
/* How much better a law with more parameters must predict; and one from place to place, which has none of its own. */
static const double CLEARLY = 0.8, EXACT = 1e-9, LOCALLY = 0.95;
static const double LEVEL = 0.95;

/* In the order of their parameters. */
static const struct shape {
	enum growth_kind kind;
	size_t breaks, sizes_min, near;
} shapes[] = {{GROWTH_POWER, 0, 3, 0},  {GROWTH_OVERHEAD, 0, 5, 0}, {GROWTH_BROKEN, 1, 5, 0},
              {GROWTH_BROKEN, 2, 8, 0}, {GROWTH_LOCAL, 0, 8, 4},    {GROWTH_LOCAL, 0, 8, 5}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

struct places {
	size_t count;
	double x[PLACES_MAX];
};

const char *growth_word(enum growth_kind kind) {
	static const char *const words[] = {"power law", "overhead and power law", "power laws with breaks",
	                                    "power laws from place to place"};
	return words[kind];
}

static int by_size(const void *a, const void *b) {
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static bool shape_fit(const struct shape *shape, const struct growth_points *points, const struct places *places,
                      struct growth_law *law) {
	*law = (struct growth_law){.breaks = shape->breaks, .near = shape->near};
	if (points->count + 1 < shape->sizes_min) /* + 1: in a fold one is missing */
		return false;
	if (shape->kind == GROWTH_OVERHEAD)
		return growth_overhead_fit(points, law);
	if (shape->kind == GROWTH_LOCAL)
		return growth_local_fit(points, law);
	return shape->breaks ? growth_breaks_fit(points, places->x, places->count, law) : growth_line_fit(points, law);
}

static struct growth_points without(const struct growth_points *points, size_t out) {
	struct growth_points rest = {0};
	for (size_t i = 0; i < points->count; i++) {
		if (i == out)
			continue;
		rest.x[rest.count] = points->x[i];
		rest.y[rest.count++] = points->y[i];
	}
	return rest;
}

/* The mean distance of log t from what the other sizes say; of many sizes some are left out in turn. A law that a fold
 * can't carry is none. */
static double score(const struct shape *shape, const struct growth_points *points, const struct places *places) {
	double sum = 0, terms[GROWTH_TERMS_MAX];
	size_t step = (points->count + FOLDS_MAX - 1) / FOLDS_MAX, folds = 0;
	if (points->count < shape->sizes_min)
		return INFINITY;
	for (size_t out = 0; out < points->count; out += step, folds++) {
		struct growth_points rest = without(points, out);
		struct growth_law law;
		if (!shape_fit(shape, &rest, places, &law))
			return INFINITY;
		sum += fabs(growth_law_at(&law, points->x[out], terms) - points->y[out]);
	}
	return sum / (double)folds;
}

static bool choose(const struct growth_points *points, const struct places *places, struct growth_law *law) {
	double best = INFINITY;
	bool found = false;
	for (size_t i = 0; i < SHAPES; i++) {
		struct growth_law one;
		double off = points->count > 2 ? score(&shapes[i], points, places) : INFINITY;
		if (found && !(off < (shapes[i].near ? LOCALLY : CLEARLY) * best && best > EXACT))
			continue;
		if (!shape_fit(&shapes[i], points, places, &one))
			continue;
		found = true;
		best = fmin(best, off);
		*law = one;
		/* The few degrees of freedom of a fit may flatter it: what is left out is predicted no better than this. */
		law->sigma = isfinite(off) ? fmax(law->sigma, off) : law->sigma;
	}
	return found;
}

static void place_add(struct places *places, double x) {
	if (places->count < PLACES_MAX)
		places->x[places->count++] = x;
}

/* With many sizes only every second or third midpoint, because a break is not known better than that anyway. */
static struct places places_make(const struct growth_points *points, const double *given, size_t count, double shift) {
	struct places places = {0};
	size_t step = (points->count + EASY - 1) / EASY;
	for (size_t i = 0; i < count; i++)
		if (given[i] > 0 && log(given[i]) - shift > points->x[0] &&
		    log(given[i]) - shift < points->x[points->count - 1])
			place_add(&places, log(given[i]) - shift);
	for (size_t i = 1; i < points->count; i += step)
		place_add(&places, (points->x[i - 1] + points->x[i]) / 2);
	qsort(places.x, places.count, sizeof *places.x, by_size);
	return places;
}

/* Sorts, and merges what is there more than once. */
static int points_take(const double *n, const double *t, size_t count, struct growth *growth, struct err *err) {
	double pairs[GROWTH_SIZES_MAX][2];
	size_t merged = 0;
	if (count > GROWTH_SIZES_MAX)
		return err_set(err, ERR_USAGE, NULL, "%zu sizes are too many: %d at most", count, GROWTH_SIZES_MAX);
	for (size_t i = 0; i < count; i++) {
		if (!(n[i] > 0 && t[i] > 0 && isfinite(n[i]) && isfinite(t[i])))
			return err_set(err, ERR_USAGE, NULL, "a size or cost must be above 0");
		pairs[i][0] = n[i];
		pairs[i][1] = log(t[i]);
	}
	if (count)
		qsort(pairs, count, sizeof *pairs, by_size);
	for (size_t i = 0, same; i < count; i += same) {
		double sum = 0;
		for (same = 0; i + same < count && pairs[i + same][0] == pairs[i][0]; same++)
			sum += pairs[i + same][1];
		growth->n[merged] = pairs[i][0];
		growth->t[merged++] = exp(sum / (double)same);
	}
	growth->count = merged;
	return 0;
}

static int data_check(const struct growth *growth, struct err *err) {
	size_t count = growth->count;
	if (count < GROWTH_SIZES_MIN)
		return err_set(err, ERR_USAGE, "measure it at more sizes: sweetspot tune KERNEL --sizes NAME=A..B",
		               "%zu size%s can't carry a law: it takes %d", count, count == 1 ? "" : "s", GROWTH_SIZES_MIN);
	if (growth->n[count - 1] / growth->n[0] < SPAN_MIN)
		return err_set(err, ERR_USAGE, "measure it at sizes further apart",
		               "the sizes are too near to each other to carry a law: the largest is %.2f times the smallest",
		               growth->n[count - 1] / growth->n[0]);
	return 0;
}

static double middle(const struct growth *growth) {
	double sum = 0;
	for (size_t i = 0; i < growth->count; i++)
		sum += log(growth->n[i]);
	return sum / (double)growth->count;
}

static void leave_one_out(struct growth *growth, const struct growth_points *points, const struct places *places) {
	double terms[GROWTH_TERMS_MAX];
	for (size_t out = 0; out < points->count; out++) {
		struct growth_points rest = without(points, out);
		struct growth_law law;
		growth->predicted[out] = choose(&rest, places, &law) ? exp(growth_law_at(&law, points->x[out], terms)) : NAN;
		growth->error[out] = fabs(growth->predicted[out] / growth->t[out] - 1);
		growth->worst_error = fmax(growth->worst_error, growth->error[out]);
	}
	growth->median_error = stats_median(growth->error, points->count);
}

int growth_fit(const double *n, const double *t, size_t count, const double *places, size_t place_count,
               struct growth *growth, struct err *err) {
	struct growth_points points = {0};
	*growth = (struct growth){0};
	if (points_take(n, t, count, growth, err) || data_check(growth, err))
		return -1;
	double shift = middle(growth);
	for (size_t i = 0; i < growth->count; i++) {
		points.x[i] = log(growth->n[i]) - shift;
		points.y[i] = log(growth->t[i]);
	}
	points.count = growth->count;
	struct places tried = places_make(&points, places, place_count, shift);
	if (!choose(&points, &tried, &growth->law))
		return err_set(err, ERR_USAGE, NULL, "no law fits these sizes");
	leave_one_out(growth, &points, &tried);
	return 0;
}

double growth_predict(const struct growth *growth, double n, double ci[2]) {
	const struct growth_law *law = &growth->law;
	double terms[GROWTH_TERMS_MAX] = {0}, spread = 1;
	double value = growth_law_at(law, log(n) - middle(growth), terms);
	for (size_t i = 0; i < law->terms; i++)
		for (size_t j = 0; j < law->terms; j++)
			spread += terms[i] * law->cov[i][j] * terms[j];
	double off = gsl_cdf_tdist_Pinv(0.5 + LEVEL / 2, law->freedom) * law->sigma * sqrt(spread);
	ci[0] = exp(value - off);
	ci[1] = exp(value + off);
	return exp(value);
}

double growth_exponent(const struct growth *growth, double n) {
	const struct growth_law *law = &growth->law;
	double x = log(n) - middle(growth), terms[GROWTH_TERMS_MAX], slope = law->coef[1];
	if (law->kind == GROWTH_OVERHEAD) {
		growth_law_at(law, x, terms);
		return terms[1] * law->coef[2];
	}
	if (law->kind == GROWTH_LOCAL)
		growth_local_at(law, x, &slope);
	for (size_t i = 0; i < law->breaks; i++)
		slope += x > law->at[i] ? law->coef[2 + i] : 0;
	return slope;
}

/* Where one piece ends and the next begins, the smallest and the largest size among them. */
static size_t knots_make(const struct growth *growth, double *knots) {
	const struct growth_law *law = &growth->law;
	size_t count = 0, last = growth->count - 1;
	bool local = law->kind == GROWTH_LOCAL;
	size_t inner = local ? last - 1 : law->breaks;
	size_t step = inner / (GROWTH_PIECES_MAX - 1) + 1;
	knots[count++] = growth->n[0];
	for (size_t i = 0; i < inner; i += step)
		knots[count++] = local ? growth->n[i + 1] : exp(law->at[i] + middle(growth));
	knots[count++] = growth->n[last];
	return count;
}

size_t growth_pieces(const struct growth *growth, struct growth_piece *pieces) {
	const struct growth_law *law = &growth->law;
	double knots[GROWTH_PIECES_MAX + 1], ci[2];
	double overhead = law->kind == GROWTH_OVERHEAD ? exp(law->coef[0]) : 0;
	size_t count = knots_make(growth, knots) - 1;
	for (size_t i = 0; i < count; i++) {
		double from = growth_predict(growth, knots[i], ci) - overhead,
			   to = growth_predict(growth, knots[i + 1], ci) - overhead;
		double exponent = law->kind == GROWTH_OVERHEAD ? law->coef[2] : log(to / from) / log(knots[i + 1] / knots[i]);
		pieces[i] = (struct growth_piece){.from = knots[i],
		                                  .to = knots[i + 1],
		                                  .overhead = overhead,
		                                  .factor = to / pow(knots[i + 1], exponent),
		                                  .exponent = exponent};
	}
	return count;
}
