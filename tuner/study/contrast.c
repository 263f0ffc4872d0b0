/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "tuner/model/paired.h"
#include "tuner/study/study_impl.h"

enum { RANKS_LEAST = 6 /* fewer pairs cannot be significant by their ranks */ };
static const double NORMAL_95 = 1.959964;

static bool is_wanted(const struct study *study, size_t row, size_t column, int a, int b, study_filter filter,
                      void *ctx) {
	int level = study->rows[row].level[column];
	return (level == a || level == b) && !study->rows[row].over && !study->rows[row].doubted &&
	       (!filter || filter(ctx, study, row));
}

/* The smallest time of each level among rows that agree in everything else. */
static bool pair_of(const struct study *study, const size_t *rows, size_t count, size_t column, int a,
                    struct study_pair *pair) {
	*pair = (struct study_pair){SIZE_MAX, SIZE_MAX};
	for (size_t i = 0; i < count; i++) {
		size_t *side = study->rows[rows[i]].level[column] == a ? &pair->a : &pair->b;
		if (*side == SIZE_MAX || study->rows[rows[i]].value < study->rows[*side].value)
			*side = rows[i];
	}
	return pair->a != SIZE_MAX && pair->b != SIZE_MAX;
}

size_t study_pairs(const struct study *study, size_t column, int a, int b, study_filter filter, void *ctx,
                   struct study_pair **pairs) {
	struct study_order order = {.study = study};
	size_t *rows = mem_alloc(study->row_count + 1, sizeof *rows), count = 0, found = 0, end;
	*pairs = mem_alloc(study->row_count + 1, sizeof **pairs);
	study_dependent(study, column, order.skip);
	order.skip[column] = true;
	for (size_t r = 0; r < study->row_count; r++)
		if (a != b && is_wanted(study, r, column, a, b, filter, ctx))
			rows[count++] = r;
	study_order_sort(&order, rows, count, column);
	for (size_t i = 0; i < count; i = end) {
		for (end = i + 1; end < count && study_order_compare(&order, rows[i], rows[end]) == 0;)
			end++;
		found += pair_of(study, rows + i, end - i, column, a, &(*pairs)[found]);
	}
	free(rows);
	return found;
}

static double log_ratio(const struct study *study, const struct study_pair *pair) {
	return log(study->rows[pair->a].value / study->rows[pair->b].value);
}

static double variance_of(const struct study *study, const struct study_pair *pair) {
	double a = study->rows[pair->a].deviation, b = study->rows[pair->b].deviation, noise = study_noise(study) / 2;
	return a * a + b * b + noise * noise;
}

/* The variance between pairs in addition to their own: the moment estimate of DerSimonian and Laird. */
static double variance_between(const struct study *study, const struct study_pair *pairs, size_t count) {
	double w = 0, ww = 0, wx = 0, q = 0;
	for (size_t i = 0; i < count; i++) {
		double weight = 1 / variance_of(study, &pairs[i]);
		w += weight;
		ww += weight * weight;
		wx += weight * log_ratio(study, &pairs[i]);
	}
	for (size_t i = 0; i < count; i++)
		q += pow(log_ratio(study, &pairs[i]) - wx / w, 2) / variance_of(study, &pairs[i]);
	return fmax(0, (q - (double)(count - 1)) / (w - ww / w));
}

static void compare_few(const struct study *study, const struct study_pair *pairs, size_t count,
                        struct study_ratio *ratio) {
	double between = count > 1 ? variance_between(study, pairs, count) : 0, w = 0, wx = 0;
	for (size_t i = 0; i < count; i++) {
		double weight = 1 / (variance_of(study, &pairs[i]) + between);
		w += weight;
		wx += weight * log_ratio(study, &pairs[i]);
	}
	double mean = wx / w, error = 1 / sqrt(w);
	ratio->ratio = exp(mean);
	ratio->ci[0] = exp(mean - NORMAL_95 * error);
	ratio->ci[1] = exp(mean + NORMAL_95 * error);
	ratio->p = erfc(fabs(mean) / error / sqrt(2));
}

static void compare_many(const struct study *study, const struct study_pair *pairs, size_t count,
                         struct study_ratio *ratio) {
	mem_auto double *a = mem_alloc(count, sizeof *a), *b = mem_alloc(count, sizeof *b);
	for (size_t i = 0; i < count; i++) {
		a[i] = study->rows[pairs[i].a].value;
		b[i] = study->rows[pairs[i].b].value;
	}
	struct paired paired = paired_analyse(a, b, count, 0.95);
	ratio->ratio = paired.ratio;
	ratio->ci[0] = paired.ci[0];
	ratio->ci[1] = paired.ci[1];
	ratio->p = paired.p;
}

struct study_ratio study_compare(const struct study *study, const struct study_pair *pairs, size_t count) {
	struct study_ratio ratio = {NAN, {NAN, NAN}, NAN, count, 0};
	double noise = 1 + study_noise(study);
	if (count == 0)
		return ratio;
	if (count < RANKS_LEAST)
		compare_few(study, pairs, count, &ratio);
	else
		compare_many(study, pairs, count, &ratio);
	ratio.ci[0] = fmin(ratio.ci[0], ratio.ratio / noise);
	ratio.ci[1] = fmax(ratio.ci[1], ratio.ratio * noise);
	for (size_t i = 0; i < count; i++) {
		double one = exp(log_ratio(study, &pairs[i]));
		ratio.agree += ratio.ratio > 1 ? one > noise : one < 1 / noise;
	}
	return ratio;
}

struct study_ratio study_contrast(const struct study *study, size_t column, int a, int b, study_filter filter,
                                  void *ctx) {
	struct study_pair *pairs;
	size_t count = study_pairs(study, column, a, b, filter, ctx, &pairs);
	struct study_ratio ratio = study_compare(study, pairs, count);
	free(pairs);
	return ratio;
}
