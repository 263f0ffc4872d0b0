/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files effects*.c only. The design matrix has one column for the mean and one for each value of each
 * parameter that changes. It is never written out: a row has a list of columns. Within the rows where a parameter is
 * present its columns are centred: 1 for the row's value, less the share of rows that have it. */
#ifndef TUNER_MODEL_EFFECTS_IMPL_H
#define TUNER_MODEL_EFFECTS_IMPL_H
#include "tuner/model/effects/effects.h"

struct block { /* columns of a parameter: first .. first + count; none where it did not change */
	size_t first, count;
};

struct design {
	const struct effects_data *data;
	size_t columns;
	struct block *blocks; /* of each parameter */
	int *place;           /* of each column */
	double *share;        /* of each column: of the rows that have one of its block */
	size_t *times;        /* of each column: rows */
	int *column;          /* rows x params: -1 absent, or one of too many values */
	double *y;            /* log cost */
};

/* seen: of each parameter, how many values occur. */
void design_make(struct design *design, const struct effects_data *data, size_t *seen);
void design_clear(struct design *design);
/* X'WX and, where v is not NULL, X'Wy. */
void design_gram(const struct design *design, const double *weight, const double *y, double *gram, double *v);
/* The columns of a block sum to nothing: an effect counts by its difference from the block's mean. */
void design_centre_matrix(const struct design *design, double *covariance);
void design_centre_vector(const struct design *design, double *effect);
/* Of a row: the sum of its effects, and the variance of that in units of the covariance. */
double design_fitted(const struct design *design, size_t row, const double *effect);
double design_variance(const struct design *design, size_t row, const double *covariance);

struct fit {
	double *effect;     /* of each column */
	double *covariance; /* of them, columns x columns */
	double freedom;     /* degrees of it by which the scale is known */
};
/* -1: the data leave no freedom to judge by. */
int fit_make(struct fit *fit, const struct design *design);
void fit_clear(struct fit *fit);
/* In place; -1 where it is not positive definite. */
int fit_invert(double *matrix, size_t size);

/* comparable: of each column, whether the data tell its effect from those of the others of its parameter. None of a
 * block: the parameter can't be told apart. effects_alias.c */
void alias_find(const struct design *design, bool *comparable);

#endif
