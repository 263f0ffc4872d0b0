/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files anova*.c share. */
#ifndef TUNER_MODEL_EFFECTS_ANOVA_IMPL_H
#define TUNER_MODEL_EFFECTS_ANOVA_IMPL_H
#include "tuner/model/effects/anova.h"

/* Configurations as levels: those of a parameter with more values than this are put together, by their order. For pairs
 * there are fewer. */
enum { TABLE_FINE = 48, TABLE_COARSE = 12, ANOVA_DRAWS = 200 };

struct table_param {
	int *level; /* of each configuration; -1: absent */
	size_t levels;
};

struct table {
	size_t count, params;
	struct table_param *fine, *coarse;
};
/* The first `count` of the sample in `order`. */
void table_make(struct table *table, const struct anova_data *data, const size_t *order, size_t count);
void table_clear(struct table *table);

/* The place of a pair, a > b, among all. */
static inline size_t pair_place(size_t a, size_t b) {
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
	double *main, *pair; /* variances; may be below 0 by chance */
};
struct split split_new(size_t params);
void split_free(struct split *split);
/* f: of each configuration. Without pairs the residual is left in `rest` (count), else pairs are taken in this order;
 * noise: variance by chance of each configuration, whose part in the terms is taken off; NAN: as the residual has it.
 */
void split_make(struct split *split, const struct table *table, const double *f, const struct pair *order,
                double noise);
/* Pairs by what each has of the residual alone, the largest first. */
struct pair *split_order_new(const struct table *table, const double *f, double noise);

struct anova_work {
	const struct anova_data *data;
	const struct response *response;
	bool grid;         /* f is what was measured */
	double *f;         /* of each of the sample */
	double *deviation; /* of each, on the grid */
	size_t *order;     /* of the sample: by chance */
	size_t drawn;
	struct pair *pairs;
	double noise; /* what chance adds to a configuration: variance; NAN: what remains shows it */
};

/* Is all of the space measured? Fills f and deviation, then. */
bool anova_grid(struct anova_work *work);
/* off: ANOVA_DRAWS x (params + pairs), by how much the variances of a draw are over those of f. Returns by how much the
 * total is, on average. */
double anova_draw(const struct anova_work *work, double *off);

#endif
