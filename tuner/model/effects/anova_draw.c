/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws functions that are as plausible, from the posterior of the process or with the noise of the measurements. */
#include <config.h>

#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "tuner/model/effects/anova_impl.h"

/* The sample is cut into parts to estimate its own contribution to the error. */
enum { PARTS = 10, PART_MIN = 40 };
static const double JITTER = 1e-8;

static double *drawn_f(const struct anova_work *work) {
	double *f = mem_alloc(work->drawn, sizeof *f);
	for (size_t i = 0; i < work->drawn; i++)
		f[i] = work->f[work->order[i]];
	return f;
}

/* The Cholesky factor of the covariance of a draw; NULL: the configurations of a grid are independent. */
static double *factor_new(const struct anova_work *work) {
	size_t n = work->drawn, params = work->data->measured.params;
	if (work->grid)
		return NULL;
	double *factor = mem_alloc(n * n, sizeof *factor);
	int *level = mem_alloc(n * params, sizeof *level);
	for (size_t i = 0; i < n; i++)
		memcpy(level + i * params, work->data->sample + work->order[i] * params, params * sizeof *level);
	response_predict(work->response, level, n, NULL, factor);
	double stretch = response_stretch(work->response);
	gsl_matrix_view view = gsl_matrix_view_array(factor, n, n);
	double most = 0;
	for (size_t i = 0; i < n; i++)
		most = fmax(most, factor[i * n + i]);
	for (size_t i = 0; i < n; i++)
		factor[i * n + i] += JITTER + 1e-6 * most;
	gsl_matrix_scale(&view.matrix, stretch * stretch);
	if (gsl_linalg_cholesky_decomp1(&view.matrix))
		memset(factor, 0, n * n * sizeof *factor);
	free(level);
	return factor;
}

static void draw(const struct anova_work *work, const double *factor, struct rng *rng, const double *f, double *to) {
	size_t n = work->drawn;
	double *z = mem_alloc(n, sizeof *z);
	for (size_t i = 0; i < n; i++)
		z[i] = rng_normal(rng);
	for (size_t i = 0; i < n; i++) {
		to[i] = f[i];
		for (size_t k = 0; factor && k <= i; k++)
			to[i] += factor[i * n + k] * z[k];
		if (!factor)
			to[i] += work->deviation[work->order[i]] * z[i];
	}
	free(z);
}

static void terms(const struct split *split, size_t params, double *to) {
	memcpy(to, split->main, params * sizeof *to);
	memcpy(to + params, split->pair, pairs_of(params) * sizeof *to);
}

/* The standard error of each term because of the sample, by its spread over parts of it. */
static double *sample_error_new(const struct anova_work *work) {
	size_t params = work->data->measured.params, step = params + pairs_of(params), size = work->data->samples / PARTS;
	double *error = mem_alloc(2 * step, sizeof *error), *one = mem_alloc(step, sizeof *one), *sum = error + step;
	double *f = mem_alloc(size + 1, sizeof *f);
	struct split split = split_new(params);
	for (size_t part = 0; part < PARTS && !work->data->whole && size >= PART_MIN; part++) {
		struct bins bins;
		const size_t *order = work->order + part * size;
		for (size_t i = 0; i < size; i++)
			f[i] = work->f[order[i]];
		bins_make(&bins, work->data, order, size);
		split_make(&split, &bins, f, work->pairs, NAN);
		terms(&split, params, one);
		for (size_t k = 0; k < step; k++) {
			sum[k] += one[k];
			error[k] += one[k] * one[k];
		}
		bins_clear(&bins);
	}
	for (size_t k = 0; k < step; k++)
		error[k] = sqrt(fmax(error[k] - sum[k] * sum[k] / PARTS, 0) / (PARTS - 1) / PARTS);
	split_free(&split);
	free(f);
	free(one);
	return error;
}

double anova_draw(const struct anova_work *work, double *off) {
	size_t params = work->data->measured.params, step = params + pairs_of(params);
	struct bins bins;
	struct split base = split_new(params), split = split_new(params);
	struct rng rng;
	double *f = drawn_f(work), *drawn = mem_alloc(work->drawn, sizeof *drawn),
		   *middle = mem_alloc(step, sizeof *middle);
	double *factor = factor_new(work), *error = sample_error_new(work), more = 0;
	rng_seed(&rng, 2);
	bins_make(&bins, work->data, work->order, work->drawn);
	split_make(&base, &bins, f, work->pairs, work->noise);
	terms(&base, params, middle);
	for (size_t k = 0; k < ANOVA_DRAWS; k++) {
		draw(work, factor, &rng, f, drawn);
		split_make(&split, &bins, drawn, work->pairs, work->noise);
		terms(&split, params, off + k * step);
		more += (split.total - base.total) / ANOVA_DRAWS;
		for (size_t i = 0; i < step; i++)
			off[k * step + i] += error[i] * rng_normal(&rng) - middle[i];
	}
	split_free(&base);
	split_free(&split);
	bins_clear(&bins);
	free(factor);
	free(error);
	free(middle);
	free(drawn);
	free(f);
	return more;
}
