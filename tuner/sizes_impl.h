/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files sizes*.c only. */
#ifndef TUNER_SIZES_IMPL_H
#define TUNER_SIZES_IMPL_H
#include "tuner/sizes.h"

struct sizes_ratio {
	const json_t *config; /* owned by the point whose best it is, or by this */
	double ratio;
	size_t pairs;
};

struct sizes_entry {
	struct sizes_point point;
	struct sizes_ratio *ratios;
	size_t ratio_count;
};

struct sizes {
	char *kernel, *over;
	json_t *about; /* further members of its JSON; may be NULL */
	struct sizes_entry entries[SIZES_MAX];
	size_t count;
	double barred[SIZES_MAX];
	size_t barred_count;
};

/* Takes the median of `count` trials in turns for the cost of a point, from SIZES_TURNS_MIN on. */
void sizes_turns_take(struct sizes *sizes, size_t point, const double *cost, size_t count);
/* The lowest ratio known at a point: 1, or below where another's best was found to be faster. */
double sizes_least(const struct sizes *sizes, size_t point);
/* What a configuration loses at a point against the best known there; NAN: not known. */
double sizes_loss(const struct sizes *sizes, size_t point, const json_t *config);

#endif
