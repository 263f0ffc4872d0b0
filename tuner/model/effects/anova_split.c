/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Main effects by backfitting, then cell means of the residual. */
#include <math.h>

#include "base/mem.h"
#include "tuner/model/effects/effects_impl.h"

enum { ROUNDS_MAX = 40 };
static const double SETTLED = 1e-4; /* of the largest change, in deviations of f */

static double sum_of_squares(const double *x, size_t count) {
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += x[i] * x[i];
	return sum;
}

/* Subtracts the mean. */
static void centre(double *x, size_t count) {
	double mean = 0;
	for (size_t i = 0; i < count; i++)
		mean += x[i] / (double)count;
	for (size_t i = 0; i < count; i++)
		x[i] -= mean;
}

/* Moves the mean residual of each bin to its effect. Effects sum to 0 over the configurations that have the parameter.
 * Returns the largest change. */
static double effect_update(const struct bins_param *param, double *rest, size_t count, double *effect) {
	double sum[BINS_FINE] = {0}, n[BINS_FINE] = {0}, mean = 0, present = 0, moved = 0;
	for (size_t i = 0; i < count; i++)
		if (param->bin[i] >= 0) {
			sum[param->bin[i]] += rest[i];
			n[param->bin[i]]++;
			mean += rest[i];
			present++;
		}
	for (size_t v = 0; v < param->bins; v++) {
		sum[v] = n[v] > 0 ? sum[v] / n[v] - mean / present : 0;
		effect[v] += sum[v];
		moved = fmax(moved, fabs(sum[v]));
	}
	for (size_t i = 0; i < count; i++)
		if (param->bin[i] >= 0)
			rest[i] -= sum[param->bin[i]];
	return moved;
}

/* effect: params x BINS_FINE; rest: f on entry, the residual of all main effects on return. */
static void backfit(const struct bins *bins, double *rest, double *effect) {
	double enough = SETTLED * sqrt(sum_of_squares(rest, bins->count) / (double)bins->count), moved = INFINITY;
	for (int round = 0; round < ROUNDS_MAX && moved > enough; round++) {
		moved = 0;
		for (size_t p = 0; p < bins->params; p++)
			moved = fmax(moved, effect_update(&bins->fine[p], rest, bins->count, effect + p * BINS_FINE));
		centre(rest, bins->count);
	}
}

static void mains_split(struct split *split, const struct bins *bins, const double *f, const double *rest,
                        const double *effect, double noise) {
	size_t count = bins->count, used = 1;
	for (size_t p = 0; p < bins->params; p++)
		used += bins->fine[p].bins ? bins->fine[p].bins - 1 : 0;
	double left = count > used ? (double)(count - used) : 1;
	noise = isnan(noise) ? sum_of_squares(rest, count) / left : noise;
	for (size_t p = 0; p < bins->params; p++) {
		const struct bins_param *param = &bins->fine[p];
		double sum = 0;
		for (size_t i = 0; i < count; i++)
			sum += param->bin[i] >= 0 ? f[i] * effect[p * BINS_FINE + (size_t)param->bin[i]] : 0;
		split->main[p] = param->bins > 1 ? (sum - (double)(param->bins - 1) * noise) / (double)count : 0;
	}
}

struct cells {
	double sum[BINS_COARSE * BINS_COARSE], n[BINS_COARSE * BINS_COARSE];
};

static int cell_of(const struct bins_param *a, const struct bins_param *b, size_t i) {
	return a->bin[i] < 0 || b->bin[i] < 0 ? -1 : a->bin[i] * BINS_COARSE + b->bin[i];
}

/* The number of rows or columns that are not empty. */
static size_t occupied(const struct cells *cells, size_t step, size_t across) {
	size_t count = 0;
	for (size_t i = 0; i < BINS_COARSE; i++) {
		double n = 0;
		for (size_t k = 0; k < BINS_COARSE; k++)
			n += cells->n[i * step + k * across];
		count += n > 0;
	}
	return count;
}

static void cells_fill(struct cells *cells, const struct bins_param *a, const struct bins_param *b, const double *rest,
                       size_t count) {
	memset(cells, 0, sizeof *cells);
	for (size_t i = 0; i < count; i++) {
		int cell = cell_of(a, b, i);
		if (cell >= 0) {
			cells->sum[cell] += rest[i];
			cells->n[cell]++;
		}
	}
}

/* Returns the sum of squares of a pair beyond chance; cells become means, shrunk by the share of chance. */
static double cells_explain(struct cells *cells, const struct bins_param *a, const struct bins_param *b,
                            const double *rest, size_t count, double noise) {
	double between = 0, all = 0, present = 0, used = 0;
	cells_fill(cells, a, b, rest, count);
	for (size_t i = 0; i < count; i++)
		all += cell_of(a, b, i) >= 0 ? rest[i] * rest[i] : 0;
	for (size_t c = 0; c < BINS_COARSE * BINS_COARSE; c++) {
		if (!(cells->n[c] > 0))
			continue;
		between += cells->sum[c] * cells->sum[c] / cells->n[c];
		present += cells->n[c];
		used++;
	}
	double freedom = used - (double)occupied(cells, 1, BINS_COARSE) - (double)occupied(cells, BINS_COARSE, 1) + 1;
	if (freedom < 1 || (isnan(noise) && present <= used))
		return memset(cells, 0, sizeof *cells), 0;
	noise = freedom * (isnan(noise) ? fmax(all - between, 0) / (present - used) : noise);
	double kept = between > noise ? 1 - noise / between : 0;
	for (size_t c = 0; c < BINS_COARSE * BINS_COARSE; c++)
		cells->sum[c] = cells->n[c] > 0 ? kept * cells->sum[c] / cells->n[c] : 0;
	return between - noise;
}

static void pairs_split(struct split *split, const struct bins *bins, const struct pair *order, double *rest,
                        double noise) {
	struct cells cells;
	for (size_t k = 0; k < pairs_of(bins->params); k++) {
		const struct bins_param *a = &bins->coarse[order[k].a], *b = &bins->coarse[order[k].b];
		double squares = cells_explain(&cells, a, b, rest, bins->count, noise);
		split->pair[pair_index(order[k].a, order[k].b)] = squares / (double)bins->count;
		for (size_t i = 0; i < bins->count; i++) {
			int cell = cell_of(a, b, i);
			rest[i] -= cell >= 0 ? cells.sum[cell] : 0;
		}
	}
}

/* Returns f without its mean and its main effects. */
static double *rest_new(struct split *split, const struct bins *bins, const double *f, double noise) {
	double *rest = mem_alloc(bins->count, sizeof *rest), *own = mem_alloc(bins->count, sizeof *own);
	mem_auto double *effect = mem_alloc(bins->params * BINS_FINE, sizeof *effect);
	memcpy(own, f, bins->count * sizeof *own);
	centre(own, bins->count);
	memcpy(rest, own, bins->count * sizeof *rest);
	backfit(bins, rest, effect);
	if (split) {
		split->total = sum_of_squares(own, bins->count) / (double)bins->count;
		mains_split(split, bins, own, rest, effect, noise);
	}
	free(own);
	return rest;
}

void split_make(struct split *split, const struct bins *bins, const double *f, const struct pair *order, double noise) {
	mem_auto double *rest = rest_new(split, bins, f, noise);
	pairs_split(split, bins, order, rest, noise);
}

struct ranked {
	struct pair pair;
	double squares;
};

static int by_squares(const void *a, const void *b) {
	const struct ranked *x = a, *y = b;
	return (x->squares < y->squares) - (x->squares > y->squares);
}

struct pair *split_order_new(const struct bins *bins, const double *f, double noise) {
	mem_auto double *rest = rest_new(NULL, bins, f, noise);
	size_t count = 0, pairs = pairs_of(bins->params);
	mem_auto struct ranked *ranked = mem_alloc(pairs + 1, sizeof *ranked);
	struct pair *order = mem_alloc(pairs + 1, sizeof *order);
	struct cells cells;
	for (size_t a = 1; a < bins->params; a++)
		for (size_t b = 0; b < a; b++)
			ranked[count++] = (struct ranked){
				{a, b}, cells_explain(&cells, &bins->coarse[a], &bins->coarse[b], rest, bins->count, noise)};
	qsort(ranked, count, sizeof *ranked, by_squares);
	for (size_t k = 0; k < count; k++)
		order[k] = ranked[k].pair;
	return order;
}
