/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The additive model behind effects.h, which is also the first step of a response surface. Shared by files of this
 * folder only.
 *
 * The design matrix has one column for the mean and one for each value of each parameter that changes. It is never
 * written out: a row has a list of columns. Within the rows where a parameter is present its columns are centred (1 for
 * the row's value, less the share of rows that have it), so that an effect is a deviation from the parameter's mean. */
#ifndef TUNER_MODEL_EFFECTS_EFFECTS_IMPL_H
#define TUNER_MODEL_EFFECTS_EFFECTS_IMPL_H
#include "tuner/model/effects/effects.h"

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
	size_t *times;        /* of each column: its rows */
	int *column;          /* rows x params; -1: absent, or a value without a column */
	double *y;            /* log cost */
};

void design_make(struct design *design, const struct effects_table *table);
void design_clear(struct design *design);
/* X'WX and, where v is not NULL, X'Wy. */
void design_gram(const struct design *design, const double *weight, const double *y, double *gram, double *v);
/* Make the effects of each block sum to 0, weighted by share. */
void design_centre_matrix(const struct design *design, double *covariance);
void design_centre_vector(const struct design *design, double *effect);
/* The sum of a row's effects, and its variance in units of the covariance. */
double design_fitted(const struct design *design, size_t row, const double *effect);
double design_variance(const struct design *design, size_t row, const double *covariance);

struct fit {
	double *effect;     /* of each column */
	double *covariance; /* of the effects, columns x columns */
	double *residual;   /* of each row, predicted without it, over the part of `scale` that is to be expected */
	double scale;       /* of the residuals, by their median */
	double freedom;     /* degrees of freedom of the scale */
};
/* -1: no parameter changes, or the data leave no degrees of freedom to estimate the scale with. */
int fit_make(struct fit *fit, const struct design *design);
void fit_clear(struct fit *fit);

#endif
