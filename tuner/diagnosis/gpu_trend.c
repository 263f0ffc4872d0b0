/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests by shuffling whether times follow a quantity (a permutation test within problems; see ADR 10). */
#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tuner/diagnosis/gpu_impl.h"
#include "tuner/model/paired.h"

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
	mem_auto double *sorted = mem_alloc(p->count + 1, sizeof *sorted);
	size_t values = p->count > 0;
	for (size_t i = 0; i < p->count; i++)
		sorted[i] = p->x[i];
	qsort(sorted, p->count, sizeof *sorted, by_size);
	for (size_t i = 1; i < p->count; i++)
		values += sorted[i] - sorted[i - 1] > 1e-3;
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

/* Contrasts of words. */
/* Fewer pairs that all agree are too often chance if a word is assigned at random. */
enum { PAIRS_LEAST = 5, LOOKED_MAX = 256 };
static const double CONTRAST_CHANCE = 0.05;

static bool is_one(const struct value *level, const char *const *words) {
	for (; level->type == VALUE_WORD && *words; words++)
		if (strstr(level->as.w, *words))
			return true;
	return false;
}

static size_t look(const struct study *study, const char *const *with, const char *const *without,
                   struct gpu_contrast *all) {
	size_t count = 0;
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		for (size_t a = 0; a < column->levels; a++) {
			for (size_t b = 0; b < column->levels && count < LOOKED_MAX; b++) {
				const struct value *x = &column->level[a], *y = &column->level[b];
				if (a == b || y->type != VALUE_WORD || !is_one(x, with) || is_one(y, with))
					continue;
				if (without && !is_one(y, without))
					continue;
				struct gpu_contrast one = {c, (int)a, (int)b, study_contrast(study, c, (int)a, (int)b, NULL, NULL)};
				if (one.ratio.pairs > 0)
					all[count++] = one;
			}
		}
	}
	return count;
}

static bool is_clear(const struct study *study, const struct gpu_contrast *one, double p) {
	size_t least = study_rows(study) < STUDY_ROWS_LEAST ? 1 : PAIRS_LEAST;
	return p <= CONTRAST_CHANCE && one->ratio.ci[0] > gpu_margin(study) && one->ratio.pairs >= least &&
	       5 * one->ratio.agree >= 4 * one->ratio.pairs;
}

static int by_ratio(const void *a, const void *b) {
	const struct gpu_contrast *x = a, *y = b;
	return (x->ratio.ratio < y->ratio.ratio) - (x->ratio.ratio > y->ratio.ratio);
}

size_t gpu_contrasts(const struct study *study, const char *const *with, const char *const *without,
                     struct gpu_contrast *out, size_t room) {
	mem_auto struct gpu_contrast *all = mem_alloc(LOOKED_MAX, sizeof *all);
	size_t count = look(study, with, without, all), kept = 0;
	double p[LOOKED_MAX], adjusted[LOOKED_MAX];
	for (size_t i = 0; i < count; i++) /* one-sided, because the slower one is expected */
		p[i] = all[i].ratio.ratio > 1 ? all[i].ratio.p / 2 : 1;
	if (count)
		paired_holm(p, count, adjusted);
	for (size_t i = 0; i < count; i++)
		if (is_clear(study, &all[i], adjusted[i]))
			all[kept++] = all[i];
	qsort(all, kept, sizeof *all, by_ratio);
	kept = kept < room ? kept : room;
	if (kept)
		memcpy(out, all, kept * sizeof *out);
	return kept;
}

void gpu_contrast_about(struct finding *finding, const struct study *study, const struct gpu_contrast *contrast) {
	const struct study_column *column = study_column(study, contrast->column);
	finding_about(finding, study, contrast->column, contrast->with);
	finding_evidence(finding, EVIDENCE_CONTRAST, contrast->ratio.ratio, NULL,
	                 "%s=%s takes %.2f times as long as %s=%s [%.2f, %.2f], %zu of %zu pairs agree", column->name,
	                 column->level[contrast->with].as.w, contrast->ratio.ratio, column->name,
	                 column->level[contrast->without].as.w, contrast->ratio.ci[0], contrast->ratio.ci[1],
	                 contrast->ratio.agree, contrast->ratio.pairs);
}

enum confidence gpu_contrast_confidence(const struct gpu_contrast *contrast) {
	return contrast->ratio.pairs >= 2 * PAIRS_LEAST ? CONFIDENCE_HIGH
	       : contrast->ratio.pairs >= PAIRS_LEAST   ? CONFIDENCE_MEDIUM
	                                                : CONFIDENCE_LOW;
}
