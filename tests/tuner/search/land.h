/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Landscapes to search: a space and the true time of every valid configuration. */
#ifndef TESTS_TUNER_SEARCH_LAND_H
#define TESTS_TUNER_SEARCH_LAND_H
#include "base/rng.h"
#include "tuner/space/space.h"

struct land {
	struct space *space;
	double *time; /* of each index; INFINITY: it fails */
	uint64_t valid, best;
	uint64_t start; /* the baseline */
};

/* Returns the time of a configuration. */
typedef double land_model(const struct space *space, const int *config, const void *shape);

/* Builds the space, computes every time and takes ownership of the space. start: a configuration; NULL: index 0. */
struct land *land_new(struct space *space, land_model *model, const void *shape, const int *start);
void land_free(struct land *land);

/* land.c: small landscapes with a known optimum */
struct land *land_single(void); /* one configuration */
struct land *land_two(void);    /* two configurations */
struct land *land_separable(void);
struct land *land_bowl(void);        /* separable, 4096 configurations */
struct land *land_wide(void);        /* a parameter of 2000 values and another one that matters */
struct land *land_interacting(void); /* a diagonal valley, which no single parameter descends */
struct land *land_plateau(void);     /* almost the same time everywhere */
struct land *land_needle(void);      /* one configuration is fast, and nothing points to it */
struct land *land_conditional(void);
struct land *land_table(void);
struct land *land_failing(void); /* 30 of 100 fail, the baseline among them */

/* kernels.c: shaped like measured kernels on two cores, with effects that differ by seed */
struct land *land_fw(uint64_t seed);
struct land *land_gol(uint64_t seed);
/* mixed.c: 200 to 600 configurations of random parameters, conditions, effects and interactions */
struct land *land_mixed(uint64_t seed);

#endif
