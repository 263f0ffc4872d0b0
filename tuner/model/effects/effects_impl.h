/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The additive model behind effects.h, which is also the first step of a response surface. Shared by files of this
 * folder only.
 *
 * The design matrix has one column for the mean and one for each value of each parameter that changes. It is never
 * written out: a row has a list of columns. Within the rows where a parameter is present its columns are centred (1 for
 * the row's value, less the share of rows that have it), so that an effect is a deviation from the parameter's mean. */
#ifndef TUNER_MODEL_EFFECTS_EFFECTS_IMPL_H
#define TUNER_MODEL_EFFECTS_EFFECTS_IMPL_H
#include <stdlib.h>

#include "tuner/model/effects/anova.h"
#include "tuner/model/effects/drivers.h"
#include "tuner/model/effects/landscape.h"

/* 0; -1: a cost, weight, deviation or level is out of range, with the reason. */
int effects_table_check(const struct effects_table *table, char reason[EFFECTS_REASON]);
/* Are all of these levels in range? */
bool effects_table_holds(const struct effects_table *table, const int *level);
bool effects_table_over(const struct effects_table *table, size_t row);

/* Rows sorted by their configuration; the caller frees them. */
struct effects_key {
	const int *level;
	size_t params, row;
};
struct effects_key *effects_keys_new(const struct effects_table *table);
/* The number of rows that have this configuration; `first` of the keys. */
size_t effects_keys_at(const struct effects_key *keys, const struct effects_table *table, const int *level,
                       size_t *first);

struct block { /* columns of a parameter: first .. first + count - 1; none if it did not change */
	size_t first, count;
};

struct design {
	const struct effects_table *table;
	size_t columns;
	size_t *seen;         /* of each parameter: the number of values that occur */
	struct block *blocks; /* of each parameter */
	int *level;           /* of each column */
	double *share;        /* of each column, among the rows that have a column of its block */
	double *zero;         /* weights of each block for which its effects sum to 0: the share, or 1 at today's value */
	size_t *times;        /* of each column: its rows */
	int *column;          /* rows x params; -1: absent, or a value without a column */
	double *y;            /* log cost */
};

void design_make(struct design *design, const struct effects_table *table);
void design_clear(struct design *design);

struct fit {
	double *effect;     /* of each column */
	double *covariance; /* of the effects, columns x columns */
	double *residual;   /* of each row, predicted without it, over the part of `scale` that is to be expected */
	double scale;       /* of the residuals, by their median */
	double freedom;     /* degrees of freedom of the scale */
};
/* -1: no parameter changes, or the data leave no degrees of freedom to estimate the scale with. */
int fit_make(struct fit *fit, const struct design *design);
static inline void fit_clear(struct fit *fit) {
	free(fit->effect);
	free(fit->covariance);
	free(fit->residual);
}

/* Shared by the files anova*.c only. */

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
/* f: of each configuration; pairs are taken in this order. noise: variance by chance of each configuration, whose part
 * is taken off the terms; NAN: estimated from the residual. */
void split_make(struct split *split, const struct bins *bins, const double *f, const struct pair *order, double noise);
/* Pairs by what each explains of the residual alone, the largest first. */
struct pair *split_order_new(const struct bins *bins, const double *f, double noise);

struct response {
	struct effects_table table;
	struct gp *gp;
	size_t count, *row;   /* the observations: rows that the process was given */
	double centre, scale; /* target = (log cost - centre) / scale */
	double *target;       /* of each row */
	double *extra;        /* of each row: what censoring or being an outlier adds to its variance */
	bool *outlier;        /* of each row */
	double *left, *error; /* of each observation: leave-one-out mean and variance */
	double nugget;        /* variance that all rows have, in addition to what was measured */
	double r2;
	bool predicts;
};

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

/* Shared by the files drivers*.c only. */

/* The complete rows of the kept counters, as logarithms. */
struct drivers_clean {
	size_t rows, counters;
	size_t *row, *counter; /* indexes among the caller's */
	double *x;             /* counters x rows: the values of a counter are contiguous */
	double *y;             /* rows: log time */
};

/* Shared by the files landscape*.c only. */

struct look {
	const struct landscape_data *data;
	const struct effects_key *keys;
	const struct response *response; /* NULL: nothing is predicted */
	const int *winner;               /* its levels */
	double cost, variance;           /* of the winner: log cost */
};

/* The winner with another value of one parameter. */
struct neighbour {
	int level;
	struct landscape_step step; /* level -1: nothing is known of it */
};

/* One for each value of a parameter, in order; the winner itself has ratio 1. The caller frees them. */
struct neighbour *look_around(const struct look *look, size_t param);
#endif
