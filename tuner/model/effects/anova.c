/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tuner/model/effects/effects_impl.h"

/* The unexplained variance of log cost. */
static double noise_of(const struct response *response) {
	return response->scale * response->scale * (response->nugget + gp_noise(response->gp));
}

/* The mean log cost of the rows of a configuration that were measured to the end and are not outliers; false if it has
 * none. */
static bool measured_at(const struct anova_work *work, const struct effects_key *keys, size_t i) {
	const struct effects_table *m = &work->data->measured;
	size_t first = 0, count = effects_keys_at(keys, m, work->data->sample + i * m->params, &first), n = 0;
	double sum = 0, variance = 0, noise = noise_of(work->response);
	for (size_t k = first; k < first + count; k++) {
		size_t row = keys[k].row;
		if (work->response->outlier[row] || effects_table_over(m, row))
			continue;
		sum += log(m->cost[row]);
		variance += m->deviation && isfinite(m->deviation[row]) ? pow(m->deviation[row], 2) : noise;
		n++;
	}
	work->f[i] = n ? sum / (double)n : NAN;
	work->deviation[i] = n ? sqrt(variance) / (double)n : NAN;
	return n > 0;
}

/* Is all of the space measured? Then it fills f and deviation. */
static bool anova_grid(struct anova_work *work) {
	const struct anova_data *data = work->data;
	mem_auto struct effects_key *keys = effects_keys_new(&data->measured);
	bool full = data->whole;
	for (size_t i = 0; i < data->samples && full; i++)
		full = measured_at(work, keys, i);
	return full;
}

/* Sets bin[level]: at most `most` bins in the order of the values, with about the same number of configurations each.
 * Values that do not occur in the sample have none. */
static size_t bins_of(const struct anova_data *data, size_t param, size_t most, int *bin) {
	size_t params = data->measured.params, levels = data->measured.levels[param], all = 0, used = 0, before = 0;
	size_t *seen = mem_alloc(levels + 1, sizeof *seen), *order = response_order_new(&data->measured, param), last = 0;
	int bins = 0;
	for (size_t i = 0; i < data->samples; i++) {
		int level = data->sample[i * params + param];
		if (level == EFFECTS_ABSENT)
			continue;
		used += seen[level]++ == 0;
		all++;
	}
	for (size_t i = 0, v = 0; i < levels; i++) {
		size_t own = seen[order[i]], at = used <= most ? v : (2 * before + own) * most / (2 * all);
		if (own == 0)
			continue;
		bins += v++ == 0 || at != last;
		bin[order[i]] = bins - 1;
		last = at;
		before += own;
	}
	free(seen);
	free(order);
	return (size_t)bins;
}

static void param_make(struct bins_param *to, const struct anova_data *data, size_t param, size_t most,
                       const size_t *order, size_t count) {
	mem_auto int *bin = mem_alloc(data->measured.levels[param] + 1, sizeof *bin);
	to->bins = bins_of(data, param, most, bin);
	to->bin = mem_alloc(count, sizeof *to->bin);
	for (size_t i = 0; i < count; i++) {
		int level = data->sample[order[i] * data->measured.params + param];
		to->bin[i] = level == EFFECTS_ABSENT ? -1 : bin[level];
	}
}

/* Computed from the first `count` of the sample in `order`. */
static void bins_make(struct bins *bins, const struct anova_data *data, const size_t *order, size_t count) {
	size_t params = data->measured.params;
	*bins = (struct bins){.count = count, .params = params};
	bins->fine = mem_alloc(params, sizeof *bins->fine);
	bins->coarse = mem_alloc(params, sizeof *bins->coarse);
	for (size_t p = 0; p < params; p++) {
		param_make(&bins->fine[p], data, p, BINS_FINE, order, count);
		param_make(&bins->coarse[p], data, p, BINS_COARSE, order, count);
	}
}

static void bins_clear(struct bins *bins) {
	for (size_t p = 0; p < bins->params; p++) {
		free(bins->fine[p].bin);
		free(bins->coarse[p].bin);
	}
	free(bins->fine);
	free(bins->coarse);
}

/* Draws functions that are as plausible, from the posterior of the process or with the noise of the measurements. */

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
	mem_auto int *level = mem_alloc(n * params, sizeof *level);
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
	return factor;
}

static void draw(const struct anova_work *work, const double *factor, struct rng *rng, const double *f, double *to) {
	size_t n = work->drawn;
	mem_auto double *z = mem_alloc(n, sizeof *z);
	for (size_t i = 0; i < n; i++)
		z[i] = rng_normal(rng);
	for (size_t i = 0; i < n; i++) {
		to[i] = f[i];
		for (size_t k = 0; factor && k <= i; k++)
			to[i] += factor[i * n + k] * z[k];
		if (!factor)
			to[i] += work->deviation[work->order[i]] * z[i];
	}
}

static void terms(const struct split *split, size_t params, double *to) {
	memcpy(to, split->main, params * sizeof *to);
	memcpy(to + params, split->pair, pairs_of(params) * sizeof *to);
}

static struct split split_new(size_t params) {
	return (struct split){.main = mem_alloc(params, sizeof(double)),
	                      .pair = mem_alloc(pairs_of(params) + 1, sizeof(double))};
}

static void split_free(struct split *split) {
	free(split->main);
	free(split->pair);
}

/* The standard error of each term because of the sample, by its spread over parts of it. */
static double *sample_error_new(const struct anova_work *work) {
	size_t params = work->data->measured.params, step = params + pairs_of(params), size = work->data->samples / PARTS;
	double *error = mem_alloc(2 * step, sizeof *error), *one = mem_alloc(step, sizeof *one), *sum = error + step;
	mem_auto double *f = mem_alloc(size + 1, sizeof *f);
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
	free(one);
	return error;
}

/* Off: ANOVA_DRAWS x (params + pairs), by how much the variances of a draw exceed those of f. Returns by how much the
 * total does, on average. */
static double anova_draw(const struct anova_work *work, double *off) {
	size_t params = work->data->measured.params, step = params + pairs_of(params);
	struct bins bins;
	struct split base = split_new(params), split = split_new(params);
	struct rng rng;
	mem_auto double *f = drawn_f(work), *drawn = mem_alloc(work->drawn, sizeof *drawn),
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
	return more;
}

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
	mem_auto double *f = mem_alloc(work->data->samples, sizeof *f);
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
	free(off);
	bins_clear(&bins);
	split_free(&split);
}

static size_t outliers_count(const struct response *response) {
	size_t count = 0;
	for (size_t row = 0; row < response->table.rows; row++)
		count += response->outlier[row];
	return count;
}

static int explain(struct anova *anova, const struct anova_data *data, const struct response *response) {
	struct anova_work work = {.data = data, .response = response, .noise = data->whole ? 0 : NAN};
	anova->predicted_r2 = response_r2(response);
	anova->outliers = outliers_count(response);
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
