/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measured configurations, one per row, as effects.h, response.h, anova.h and landscape.h take them. */
#ifndef TUNER_MODEL_EFFECTS_TABLE_H
#define TUNER_MODEL_EFFECTS_TABLE_H
#include <stdbool.h>
#include <stddef.h>

enum { EFFECTS_ABSENT = -1, EFFECTS_REASON = 200 };

struct effects_table {
	size_t rows, params;
	const size_t *levels;     /* number of values of each parameter */
	const int *level;         /* rows x params: index of the value; EFFECTS_ABSENT where the parameter does not exist */
	const double *cost;       /* rows, > 0; smaller is better */
	const bool *over;         /* rows, or NULL; true: the trial was cut short, and costs more than `cost` */
	const double *weight;     /* rows, or NULL: all count the same; only effects_fit looks at it */
	const double *deviation;  /* rows, relative standard error of the cost, or NULL; NAN: unknown */
	const struct gp_dim *dim; /* of each parameter (gp_dim_of); NULL where no response surface is fitted */
};

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

#endif
