/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that could be as well, by the posterior of the process or the noise of what was measured. */
#include <config.h>

#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "tuner/model/anova_impl.h"

static const double JITTER = 1e-8;

static double *drawn_f(const struct anova_work *work) {
	double *f = mem_alloc(work->drawn, sizeof *f);
	for (size_t i = 0; i < work->drawn; i++)
		f[i] = work->f[work->order[i]];
	return f;
}

/* The lower factor of the covariance of what is drawn; NULL: each for itself. */
static double *factor_new(const struct anova_work *work) {
	size_t n = work->drawn, params = work->data->measured.params;
	if (work->grid)
		return NULL;
	double *factor = mem_alloc(n * n, sizeof *factor);
	int *places = mem_alloc(n * params, sizeof *places);
	for (size_t i = 0; i < n; i++)
		memcpy(places + i * params, work->data->sample + work->order[i] * params, params * sizeof *places);
	response_predict(work->response, places, n, NULL, NULL, factor);
	gsl_matrix_view view = gsl_matrix_view_array(factor, n, n);
	double most = 0;
	for (size_t i = 0; i < n; i++)
		most = fmax(most, factor[i * n + i]);
	for (size_t i = 0; i < n; i++)
		factor[i * n + i] += JITTER + 1e-6 * most;
	if (gsl_linalg_cholesky_decomp1(&view.matrix))
		memset(factor, 0, n * n * sizeof *factor);
	free(places);
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

double anova_draw(const struct anova_work *work, double *off) {
	size_t params = work->data->measured.params, pairs = pairs_of(params), step = params + pairs;
	struct table table;
	struct split base = split_new(params), split = split_new(params);
	struct rng rng;
	double *f = drawn_f(work), *drawn = mem_alloc(work->drawn, sizeof *drawn), *factor = factor_new(work), more = 0;
	rng_seed(&rng, 2);
	table_make(&table, work->data, work->order, work->drawn);
	split_make(&base, &table, f, work->pairs, work->chance);
	for (size_t k = 0; k < ANOVA_DRAWS; k++) {
		draw(work, factor, &rng, f, drawn);
		split_make(&split, &table, drawn, work->pairs, work->chance);
		more += (split.total - base.total) / ANOVA_DRAWS;
		for (size_t p = 0; p < params; p++)
			off[k * step + p] = split.main[p] - base.main[p];
		for (size_t p = 0; p < pairs; p++)
			off[k * step + params + p] = split.pair[p] - base.pair[p];
	}
	split_free(&base);
	split_free(&split);
	table_clear(&table);
	free(factor);
	free(drawn);
	free(f);
	return more;
}
