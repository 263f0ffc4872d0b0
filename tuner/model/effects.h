/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much each parameter mattered: an additive model of log cost over the values of the parameters, fitted robustly to
 * what a search has measured. Not every value was measured equally often, nor in every company: effects are of the
 * model, with the uncertainty it has, and a parameter without enough data has none. */
#ifndef MODEL_EFFECTS_H
#define MODEL_EFFECTS_H
#include <stdbool.h>
#include <stddef.h>

enum { EFFECTS_ABSENT = -1 };

struct effects_data {
	size_t rows, params;
	const size_t *levels;   /* of each parameter */
	const int *places;      /* rows x params, EFFECTS_ABSENT where the parameter does not exist */
	const double *cost;     /* rows, > 0; smaller is better */
	const double *weight;   /* rows, or NULL */
};

struct effect {
	bool known;      /* false: measured at fewer than two of its values, or not to be told apart from another */
	double ratio;    /* cost of its worst measured value over that of its best, >= 1 */
	double ci[2];    /* 95 %, of the ratio */
	int best, worst; /* places */
	size_t seen;     /* how many of its values were measured */
};

/* effects: params of them. -1 where there is too little data for any. */
int effects_fit(const struct effects_data *data, struct effect *effects);

#endif
