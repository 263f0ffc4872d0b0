/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "tuner/model/law/law_impl.h"

enum { CANDIDATES_MAX = 32, FOLDS_MAX = 16, EASY = 12 /* up to this many sizes every pair of breaks is tried */ };
static const double SPAN_MIN = 1.25; /* of the largest size over the smallest */
/* How much better a law must predict to win: CLEARLY for more parameters; LOCALLY for a local law, which does not have
 * parameters of its own. */
static const double CLEARLY = 0.8, EXACT = 1e-9, LOCALLY = 0.95;
static const double LEVEL = 0.95;

/* Sorted by the number of parameters. */
static const struct shape {
	enum growth_kind kind;
	size_t breaks, sizes_min, near;
} shapes[] = {{GROWTH_POWER, 0, 3, 0},  {GROWTH_OVERHEAD, 0, 5, 0}, {GROWTH_BROKEN, 1, 5, 0},
              {GROWTH_BROKEN, 2, 8, 0}, {GROWTH_LOCAL, 0, 8, 4},    {GROWTH_LOCAL, 0, 8, 5}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

struct candidates {
	size_t count;
	double x[CANDIDATES_MAX];
};

const char *growth_word(enum growth_kind kind) {
	static const char *const words[] = {"power law", "overhead and power law", "power laws with breaks",
	                                    "local power laws"};
	return words[kind];
}

static bool shape_fit(const struct shape *shape, const struct growth_points *points,
                      const struct candidates *candidates, struct growth_law *law) {
	*law = (struct growth_law){.kind = shape->kind, .breaks = shape->breaks, .near = shape->near};
	return points->count + 1 >= shape->sizes_min && /* + 1, because each fold lacks one */
	       growth_law_fit(points, candidates->x, candidates->count, law);
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

/* The mean distance of log t from its prediction by the other sizes; with many sizes only some of them are left out in
 * turn. INFINITY if the law cannot be fitted to a fold. */
static double score(const struct shape *shape, const struct growth_points *points,
                    const struct candidates *candidates) {
	double sum = 0, terms[GROWTH_TERMS_MAX];
	size_t step = (points->count + FOLDS_MAX - 1) / FOLDS_MAX, folds = 0;
	if (points->count < shape->sizes_min)
		return INFINITY;
	for (size_t out = 0; out < points->count; out += step, folds++) {
		struct growth_points rest = without(points, out);
		struct growth_law law;
		if (!shape_fit(shape, &rest, candidates, &law))
			return INFINITY;
		sum += fabs(growth_law_at(&law, points->x[out], terms) - points->y[out]);
	}
	return sum / (double)folds;
}

static bool choose(const struct growth_points *points, const struct candidates *candidates, struct growth_law *law) {
	double best = INFINITY;
	bool found = false;
	for (size_t i = 0; i < SHAPES; i++) {
		struct growth_law one;
		double off = points->count > 2 ? score(&shapes[i], points, candidates) : INFINITY;
		if (found && !(off < (shapes[i].near ? LOCALLY : CLEARLY) * best && best > EXACT))
			continue;
		if (!shape_fit(&shapes[i], points, candidates, &one))
			continue;
		found = true;
		best = fmin(best, off);
		*law = one;
		/* A fit with few degrees of freedom may look too good: its sigma is at least the error of left-out sizes. */
		law->sigma = isfinite(off) ? fmax(law->sigma, off) : law->sigma;
	}
	return found;
}

static void candidate_add(struct candidates *candidates, double x) {
	if (candidates->count < CANDIDATES_MAX)
		candidates->x[candidates->count++] = x;
}

/* With many sizes only every second or third midpoint is a candidate, because a break is not known better than that
 * anyway. */
static struct candidates candidates_make(const struct growth_points *points, const double *given, size_t count,
                                         double shift) {
	struct candidates candidates = {0};
	size_t step = (points->count + EASY - 1) / EASY;
	for (size_t i = 0; i < count; i++)
		if (given[i] > 0 && log(given[i]) - shift > points->x[0] &&
		    log(given[i]) - shift < points->x[points->count - 1])
			candidate_add(&candidates, log(given[i]) - shift);
	for (size_t i = 1; i < points->count; i += step)
		candidate_add(&candidates, (points->x[i - 1] + points->x[i]) / 2);
	qsort(candidates.x, candidates.count, sizeof *candidates.x, stats_order);
	return candidates;
}

/* Sorts the points, and merges those of the same size. */
static int points_make(const double *n, const double *t, size_t count, struct growth *growth, struct err *err) {
	double pairs[GROWTH_SIZES_MAX][2];
	size_t merged = 0;
	if (count > GROWTH_SIZES_MAX)
		return err_set(err, ERR_USAGE, NULL, "%zu sizes are too many; the limit is %d", count, GROWTH_SIZES_MAX);
	for (size_t i = 0; i < count; i++) {
		if (!(n[i] > 0 && t[i] > 0 && isfinite(n[i]) && isfinite(t[i])))
			return err_set(err, ERR_USAGE, NULL, "a size or cost must be above 0");
		pairs[i][0] = n[i];
		pairs[i][1] = log(t[i]);
	}
	if (count)
		qsort(pairs, count, sizeof *pairs, stats_order);
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
		               "%zu size%s are too few for a law, which needs %d", count, count == 1 ? "" : "s",
		               GROWTH_SIZES_MIN);
	if (growth->n[count - 1] / growth->n[0] < SPAN_MIN)
		return err_set(err, ERR_USAGE, "measure it at sizes further apart",
		               "the sizes are too close together for a law: the largest is %.2f times the smallest",
		               growth->n[count - 1] / growth->n[0]);
	return 0;
}

static double middle(const struct growth *growth) {
	double sum = 0;
	for (size_t i = 0; i < growth->count; i++)
		sum += log(growth->n[i]);
	return sum / (double)growth->count;
}

static void leave_one_out(struct growth *growth, const struct growth_points *points,
                          const struct candidates *candidates) {
	double terms[GROWTH_TERMS_MAX];
	for (size_t out = 0; out < points->count; out++) {
		struct growth_points rest = without(points, out);
		struct growth_law law;
		growth->predicted[out] =
			choose(&rest, candidates, &law) ? exp(growth_law_at(&law, points->x[out], terms)) : NAN;
		growth->error[out] = fabs(growth->predicted[out] / growth->t[out] - 1);
		growth->worst_error = fmax(growth->worst_error, growth->error[out]);
	}
	growth->median_error = stats_median(growth->error, points->count);
}

int growth_fit(const double *n, const double *t, size_t count, const double *breaks, size_t break_count,
               struct growth *growth, struct err *err) {
	struct growth_points points = {0};
	*growth = (struct growth){0};
	if (points_make(n, t, count, growth, err) || data_check(growth, err))
		return -1;
	double shift = middle(growth);
	for (size_t i = 0; i < growth->count; i++) {
		points.x[i] = log(growth->n[i]) - shift;
		points.y[i] = log(growth->t[i]);
	}
	points.count = growth->count;
	struct candidates tried = candidates_make(&points, breaks, break_count, shift);
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

/* The sizes where one piece ends and the next begins, with the smallest and the largest size. */
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
