/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program whose times are known, on a clock of its own: it stands in the place of tuner/regions/runs.c. Its regions
 * go through lib/omp/region.c and read the table as the library does, so that the result does not depend on the load of
 * the machine. */
#ifndef TESTS_TUNER_REGIONS_SIMULATED_H
#define TESTS_TUNER_REGIONS_SIMULATED_H
#include "lib/omp/omp_impl.h"
#include "tuner/regions/regions_impl.h"

enum { SIMULATED_THREADS = 16, SIMULATED_REGIONS = 8, SIMULATED_SIZES = 16 };

struct simulated_region {
	const char *name;
	enum omp_sharing sharing;
	int calls; /* in each step */
	/* Seconds of one call. progress: of the program, from 0 to 1. */
	double (*seconds)(unsigned threads, struct omp_setting setting, double progress);
	int64_t (*size)(double progress); /* iterations of its loop; NULL: the library cannot see them */
};

struct simulated_program {
	const struct simulated_region *regions;
	size_t count;
	int steps;
	double serial_s; /* of a step */
	double change_s; /* when the next team has another size */
	double noise;    /* standard deviation of the logarithm of a call */
	double delayed;  /* share of calls that take ten times as long */
	double cold; /* by how much more a call of one thread takes soon after one of a team, whose caches have the data */
	const char *evidence[2]; /* of a run as it is, and with settings, as JSON; NULL: the worker saw nothing */
};

/* Describes the runs that follow. */
void simulated_begin(const struct simulated_program *program, uint64_t seed);
double simulated_now(void);
/* Runs with a record: those of the search. */
int simulated_searches(void);

#endif
