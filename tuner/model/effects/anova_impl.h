/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files anova*.c only. */
#ifndef TUNER_MODEL_EFFECTS_ANOVA_IMPL_H
#define TUNER_MODEL_EFFECTS_ANOVA_IMPL_H
#include "tuner/model/effects/anova.h"

/* The largest number of bins of a parameter; with more values than this, neighbouring ones share a bin. A pair has the
 * square of that in cells, and therefore fewer bins. */
enum { BINS_FINE = 48, BINS_COARSE = 12, ANOVA_DRAWS = 200 };

struct bins_param {
	int *bin; /* of each configuration; -1: absent */
	size_t bins;
};

struct bins {
	size_t count, params;
	struct bins_param *fine, *coarse;
};

/* The index of a pair, a > b, among all. */
static inline size_t pair_index(size_t a, size_t b) {
	return a * (a - 1) / 2 + b;
}
static inline size_t pairs_of(size_t params) {
	return params * (params - 1) / 2;
}

struct pair {
	size_t a, b; /* a > b */
};

struct split {
	double total;        /* variance */
	double *main, *pair; /* variances; chance may take them below 0 */
};
struct split split_new(size_t params);
void split_free(struct split *split);
/* f: of each configuration; pairs are taken in this order. noise: variance by chance of each configuration, whose part
 * is taken off the terms; NAN: estimated from the residual. */
void split_make(struct split *split, const struct bins *bins, const double *f, const struct pair *order, double noise);
/* Pairs by what each explains of the residual alone, the largest first. */
struct pair *split_order_new(const struct bins *bins, const double *f, double noise);

struct anova_work {
	const struct anova_data *data;
	const struct response *response;
	bool grid;         /* f is what was measured */
	double *f;         /* of each of the sample */
	double *deviation; /* of each, on the grid */
	size_t *order;     /* of the sample: shuffled */
	size_t drawn;
	struct pair *pairs;
	double noise; /* variance by chance of each configuration; NAN: estimated from the residual */
};

#endif
