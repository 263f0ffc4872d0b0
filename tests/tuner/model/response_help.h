/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measurements of made-up functions of a few parameters. */
#ifndef TESTS_TUNER_MODEL_RESPONSE_HELP_H
#define TESTS_TUNER_MODEL_RESPONSE_HELP_H
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "tuner/model/effects/response.h"

enum { PARAMS = 5, LEVELS = 6, UNORDERED = 2 };

struct made {
	struct response_data data;
	struct gp_dim dim[PARAMS];
	size_t levels[PARAMS];
	double at[LEVELS + 1];
	int *places;
	double *cost, *deviation;
};

/* Places in 0..1; every parameter may be absent. */
__attribute__((unused)) static void made_begin(struct made *made, size_t rows) {
	for (size_t v = 0; v < LEVELS; v++)
		made->at[v] = (double)v / (LEVELS - 1);
	made->at[LEVELS] = NAN;
	for (size_t p = 0; p < PARAMS; p++) {
		made->levels[p] = LEVELS;
		made->dim[p] = (struct gp_dim){.values = LEVELS + 1, .at = p == UNORDERED ? NULL : made->at, .length = 1.35};
	}
	made->places = mem_alloc(rows * PARAMS, sizeof *made->places);
	made->cost = mem_alloc(rows, sizeof *made->cost);
	made->deviation = mem_alloc(rows, sizeof *made->deviation);
	made->data = (struct response_data){.rows = rows,
	                                    .params = PARAMS,
	                                    .levels = made->levels,
	                                    .places = made->places,
	                                    .cost = made->cost,
	                                    .deviation = made->deviation,
	                                    .dims = PARAMS,
	                                    .dim = made->dim};
}

__attribute__((unused)) static void made_end(struct made *made) {
	free(made->places);
	free(made->cost);
	free(made->deviation);
}

__attribute__((unused)) static int *drawn_places(struct rng *rng, size_t rows) {
	int *places = mem_alloc(rows * PARAMS, sizeof *places);
	for (size_t i = 0; i < rows * PARAMS; i++)
		places[i] = (int)rng_below(rng, LEVELS);
	return places;
}

/* Rows at random, costs exp(f) with so much noise. */
__attribute__((unused)) static void made_measure(struct made *made, struct rng *rng, size_t rows, double noise,
                                                 double (*f)(const int *places)) {
	made_begin(made, rows);
	int *places = drawn_places(rng, rows);
	memcpy(made->places, places, rows * PARAMS * sizeof *places);
	free(places);
	for (size_t i = 0; i < rows; i++) {
		made->deviation[i] = noise;
		made->cost[i] = exp(f(made->places + i * PARAMS) + noise * rng_normal(rng));
	}
}

#endif
