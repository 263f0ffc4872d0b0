/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measurements of invented functions of a few parameters. */
#ifndef TESTS_TUNER_MODEL_RESPONSE_HELP_H
#define TESTS_TUNER_MODEL_RESPONSE_HELP_H
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tuner/model/effects/response.h"

enum { PARAMS = 5, LEVELS = 6, UNORDERED = 2 };

struct made {
	struct effects_table data;
	struct gp_dim dim[PARAMS];
	size_t levels[PARAMS];
	double at[LEVELS + 1];
	int *level;
	double *cost, *deviation;
};

/* Coordinates in 0..1; every parameter may be absent. */
__attribute__((unused)) static void made_begin(struct made *made, size_t rows) {
	for (size_t v = 0; v < LEVELS; v++)
		made->at[v] = (double)v / (LEVELS - 1);
	made->at[LEVELS] = NAN;
	for (size_t p = 0; p < PARAMS; p++) {
		made->levels[p] = LEVELS;
		made->dim[p] = (struct gp_dim){.values = LEVELS + 1, .at = p == UNORDERED ? NULL : made->at, .length = 1.35};
	}
	made->level = mem_alloc(rows * PARAMS, sizeof *made->level);
	made->cost = mem_alloc(rows, sizeof *made->cost);
	made->deviation = mem_alloc(rows, sizeof *made->deviation);
	made->data = (struct effects_table){.rows = rows,
	                                    .params = PARAMS,
	                                    .levels = made->levels,
	                                    .level = made->level,
	                                    .cost = made->cost,
	                                    .deviation = made->deviation,
	                                    .dim = made->dim};
}

__attribute__((unused)) static void made_end(struct made *made) {
	free(made->level);
	free(made->cost);
	free(made->deviation);
}

__attribute__((unused)) static int *drawn_levels(struct rng *rng, size_t rows) {
	int *level = mem_alloc(rows * PARAMS, sizeof *level);
	for (size_t i = 0; i < rows * PARAMS; i++)
		level[i] = (int)rng_below(rng, LEVELS);
	return level;
}

/* Random rows with costs exp(f) and this noise. */
__attribute__((unused)) static void made_measure(struct made *made, struct rng *rng, size_t rows, double noise,
                                                 double (*f)(const int *level)) {
	made_begin(made, rows);
	int *level = drawn_levels(rng, rows);
	memcpy(made->level, level, rows * PARAMS * sizeof *level);
	free(level);
	for (size_t i = 0; i < rows; i++) {
		made->deviation[i] = noise;
		made->cost[i] = exp(f(made->level + i * PARAMS) + noise * rng_normal(rng));
	}
}

#endif
