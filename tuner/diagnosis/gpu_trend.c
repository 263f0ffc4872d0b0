/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests by shuffling whether times follow a quantity (a permutation test within problems; see ADR 10). */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tuner/diagnosis/gpu_impl.h"

enum { ROWS_LEAST = 6, ROWS_MAX = 1000, VALUES_LEAST = 3, SHUFFLES = 999 };
static const double PLAIN = 0.1; /* a chance above this decides nothing, as in tuner/study/follows.c */
static const double SPAN_LEAST = 1.2, SLOPE_LEAST = 0.2, CHANCE_MAX = 0.01, DOUBT = 0.03;

struct points { /* points of a problem are contiguous */
	double *x, *y;
	size_t *ends; /* end of the problem that each point belongs to */
	size_t count;
};

static double mean(const double *x, size_t count) {
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += x[i];
	return sum / (double)count;
}

/* Adds all rows of the problem of `first`; a problem with one row says nothing. */
static void problem_add(const struct study *study, gpu_measure of, size_t first, bool *taken, struct points *p) {
	size_t from = p->count;
	for (size_t r = first; r < study_rows(study) && p->count < ROWS_MAX; r++) {
		if (taken[r] || study_row(study, r)->over || !study_same_problem(study, first, r))
			continue;
		taken[r] = true;
		double value = of(study, r);
		if (!(value > 0) || !isfinite(value))
			continue;
		p->x[p->count] = log(value);
		p->y[p->count++] = log(study_row(study, r)->value);
	}
	if (p->count - from < 2)
		p->count = from;
	for (size_t i = from; i < p->count; i++)
		p->ends[i] = p->count;
}

static double span_centre(struct points *p) {
	double span = 0;
	for (size_t i = 0; i < p->count; i = p->ends[i]) {
		size_t count = p->ends[i] - i;
		double x = mean(p->x + i, count), y = mean(p->y + i, count), low = INFINITY, high = -INFINITY;
		for (size_t k = i; k < p->ends[i]; k++) {
			low = fmin(low, p->x[k]);
			high = fmax(high, p->x[k]);
			p->x[k] -= x;
			p->y[k] -= y;
		}
		span = fmax(span, high - low);
	}
	return exp(span);
}

static int by_size(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static size_t values_differing(const struct points *p) {
	double *sorted = mem_alloc(p->count + 1, sizeof *sorted);
	size_t values = p->count > 0;
	for (size_t i = 0; i < p->count; i++)
		sorted[i] = p->x[i];
	qsort(sorted, p->count, sizeof *sorted, by_size);
	for (size_t i = 1; i < p->count; i++)
		values += sorted[i] - sorted[i - 1] > 1e-3;
	free(sorted);
	return values;
}

static double dot(const double *a, const double *b, size_t count) {
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

static double chance(struct points *p, int sign) {
	struct rng rng;
	double real = sign * dot(p->x, p->y, p->count);
	size_t as_good = 1;
	rng_seed(&rng, 1);
	int round = 0;
	for (; round < SHUFFLES && (double)as_good < PLAIN * (1 + SHUFFLES); round++) {
		for (size_t i = 0; i < p->count; i = p->ends[i])
			rng_shuffle(&rng, p->x + i, p->ends[i] - i, sizeof *p->x);
		as_good += sign * dot(p->x, p->y, p->count) >= real;
	}
	return (double)as_good / (1 + round);
}

struct gpu_trend gpu_trend_of(const struct study *study, gpu_measure of, int sign) {
	size_t rows = study_rows(study);
	bool *taken = mem_alloc(rows + 1, sizeof *taken);
	struct points p = {.x = mem_alloc(rows + 1, sizeof *p.x),
	                   .y = mem_alloc(rows + 1, sizeof *p.y),
	                   .ends = mem_alloc(rows + 1, sizeof *p.ends)};
	for (size_t r = 0; r < rows; r++)
		if (!taken[r])
			problem_add(study, of, r, taken, &p);
	struct gpu_trend trend = {GPU_UNKNOWN, p.count, NAN, p.count ? span_centre(&p) : NAN, NAN};
	if (p.count >= ROWS_LEAST && trend.span >= SPAN_LEAST && values_differing(&p) >= VALUES_LEAST) {
		trend.slope = dot(p.x, p.y, p.count) / dot(p.x, p.x, p.count);
		trend.p = chance(&p, sign);
		bool slopes = sign * trend.slope >= SLOPE_LEAST;
		trend.verdict = slopes && trend.p <= CHANCE_MAX ? GPU_FOLLOWS
		                : slopes && trend.p <= DOUBT    ? GPU_UNKNOWN
		                                                : GPU_DIFFERS;
	}
	free(taken);
	free(p.x);
	free(p.y);
	free(p.ends);
	return trend;
}

void gpu_trend_evidence(struct finding *finding, const struct gpu_trend *trend, const char *what) {
	if (trend->verdict == GPU_FOLLOWS)
		finding_evidence(finding, EVIDENCE_SCALING, trend->slope, NULL,
		                 "over %zu configurations the time goes as %s to the power of %.2f (p = %.3f)", trend->rows,
		                 what, trend->slope, trend->p);
}

enum confidence gpu_confidence(const struct gpu_trend *trend, enum confidence alone) {
	return trend->verdict == GPU_FOLLOWS ? CONFIDENCE_HIGH : alone;
}
