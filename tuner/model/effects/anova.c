/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "tuner/model/effects/anova_impl.h"

/* A draw has at most DRAWN_MAX configurations, because they are correlated and cost the cube of their number. */
enum { DRAWN_MAX = 600, SAMPLES_MIN = 4 };
static const double LEVEL = 0.95;

/* The seed is fixed: the same measurements must give the same shares. */
static void order_make(struct anova_work *work) {
	struct rng rng;
	rng_seed(&rng, 1);
	for (size_t i = 0; i < work->data->samples; i++)
		work->order[i] = i;
	rng_shuffle(&rng, work->order, work->data->samples, sizeof *work->order);
	work->drawn = work->data->samples < DRAWN_MAX ? work->data->samples : DRAWN_MAX;
}

static double within(double x) {
	return fmin(fmax(x, 0), 1);
}

/* off: the excess of the draws over their centre. The interval is the basic one of the bootstrap (Davison and Hinkley,
 * Bootstrap methods and their application, 1997, section 2.4): the estimate minus the upper and the lower excess,
 * because the estimate differs from the truth as the draws differ from the estimate. */
static void share_set(struct anova_share *share, double variance, double *off, double total) {
	gsl_sort(off, 1, ANOVA_DRAWS);
	size_t tail = (size_t)((1 - LEVEL) / 2 * ANOVA_DRAWS);
	share->share = share->known ? within(variance / total) : 0;
	share->ci[0] = share->known ? within((variance - off[ANOVA_DRAWS - 1 - tail]) / total) : 0;
	share->ci[1] = share->known ? within((variance - off[tail]) / total) : 0;
}

static void column(const double *from, size_t step, double *to) {
	for (size_t k = 0; k < ANOVA_DRAWS; k++)
		to[k] = from[k * step];
}

/* Does it have two values, not counting its absence? */
static bool varies(const int *level, size_t count, size_t params, size_t param) {
	int first = EFFECTS_ABSENT;
	for (size_t i = 0; i < count; i++) {
		int own = level[i * params + param];
		if (own != EFFECTS_ABSENT && first != EFFECTS_ABSENT && own != first)
			return true;
		first = own != EFFECTS_ABSENT ? own : first;
	}
	return false;
}

static void known_set(struct anova *anova, const struct anova_data *data) {
	const struct effects_table *m = &data->measured;
	for (size_t p = 0; p < m->params; p++)
		anova->main[p].known =
			varies(m->level, m->rows, m->params, p) && varies(data->sample, data->samples, m->params, p);
	for (size_t a = 1; a < m->params; a++)
		for (size_t b = 0; b < a; b++)
			anova->pair[pair_index(a, b)].known = anova->main[a].known && anova->main[b].known;
}

static void shares_make(struct anova *anova, struct anova_work *work) {
	size_t params = anova->params, pairs = pairs_of(params), step = params + pairs;
	struct bins bins;
	struct split split = split_new(params);
	double *off = mem_alloc(ANOVA_DRAWS * step, sizeof *off), one[ANOVA_DRAWS];
	bins_make(&bins, work->data, work->order, work->data->samples);
	double *f = mem_alloc(work->data->samples, sizeof *f);
	for (size_t i = 0; i < work->data->samples; i++)
		f[i] = work->f[work->order[i]];
	work->pairs = split_order_new(&bins, f, work->noise);
	split_make(&split, &bins, f, work->pairs, work->noise);
	double more = anova_draw(work, off);
	anova->total = split.total + fmax(work->grid ? 0 : more, 0);
	double total = fmax(anova->total, 1e-12);
	anova->unexplained = 1;
	for (size_t k = 0; k < step; k++) {
		struct anova_share *share = k < params ? &anova->main[k] : &anova->pair[k - params];
		column(off + k, step, one);
		share_set(share, k < params ? split.main[k] : split.pair[k - params], one, total);
		anova->unexplained -= share->share;
	}
	anova->unexplained = within(anova->unexplained);
	free(f);
	free(off);
	bins_clear(&bins);
	split_free(&split);
}

static int explain(struct anova *anova, const struct anova_data *data, const struct response *response) {
	struct anova_work work = {.data = data, .response = response, .noise = data->whole ? 0 : NAN};
	anova->predicted_r2 = response_r2(response);
	anova->outliers = response_outliers(response);
	if (!response_predicts(response)) {
		snprintf(anova->reason, RESPONSE_REASON,
		         "the %zu rows do not predict each other (leave-one-out R2 %.2f): the parameters explain nothing",
		         anova->rows, anova->predicted_r2);
		return -1;
	}
	work.f = mem_alloc(data->samples, sizeof *work.f);
	work.deviation = mem_alloc(data->samples, sizeof *work.deviation);
	work.order = mem_alloc(data->samples, sizeof *work.order);
	work.grid = anova->measured = anova_grid(&work);
	for (size_t i = 0; i < data->samples && work.grid; i++)
		work.noise += work.deviation[i] * work.deviation[i] / (double)data->samples;
	if (!work.grid)
		response_predict(response, data->sample, data->samples, work.f, NULL);
	order_make(&work);
	known_set(anova, data);
	shares_make(anova, &work);
	free(work.f);
	free(work.deviation);
	free(work.order);
	free(work.pairs);
	return 0;
}

static bool is_sample_good(const struct anova_data *data) {
	for (size_t i = 0; i < data->samples; i++)
		if (!effects_table_holds(&data->measured, data->sample + i * data->measured.params))
			return false;
	return data->samples >= SAMPLES_MIN;
}

int anova_make(struct anova *anova, const struct anova_data *data) {
	size_t params = data->measured.params;
	*anova = (struct anova){.params = params, .rows = data->measured.rows, .predicted_r2 = NAN};
	if (!is_sample_good(data)) {
		snprintf(anova->reason, RESPONSE_REASON,
		         "the sample of the space is too small, or a value in it is out of range");
		return -1;
	}
	struct response *own = data->response ? NULL : response_new(&data->measured, anova->reason);
	if (!data->response && !own)
		return -1;
	anova->main = mem_alloc(params, sizeof *anova->main);
	anova->pair = mem_alloc(pairs_of(params) + 1, sizeof *anova->pair);
	int status = explain(anova, data, data->response ? data->response : own);
	response_free(own);
	return status;
}

void anova_clear(struct anova *anova) {
	free(anova->main);
	free(anova->pair);
	anova->main = anova->pair = NULL;
}

const struct anova_share *anova_pair(const struct anova *anova, size_t a, size_t b) {
	return &anova->pair[a > b ? pair_index(a, b) : pair_index(b, a)];
}
