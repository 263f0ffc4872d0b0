/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Teams for all regions together: the times of the regions and what changes of the team cost between them. */
#ifndef TUNER_REGIONS_REGIONS_PLAN_IMPL_H
#define TUNER_REGIONS_REGIONS_PLAN_IMPL_H

#include "tuner/regions/fit_impl.h"

struct regions_plan_task {
	const struct regions_record *baseline;  /* its calls in order, its seconds in each region */
	const struct regions_record *exploring; /* its costs of changes */
	const struct regions_effect *effects;   /* regions of `baseline` x teams */
	const unsigned *teams;                  /* teams[0]: the default */
	size_t team_count;
	double threads_min_gain; /* 0.02: a smaller gain in a region is not worth a change */
};

/* level[i]: index of the team of region i. Returns the modelled seconds of all regions in one run. */
double regions_plan(const struct regions_plan_task *task, size_t *level);
/* The same with one team for all regions, or, unless `uniform`, one thread where that is clearly better: then the
 * threads of the team stay as they are from region to region. */
double regions_plan_common(const struct regions_plan_task *task, bool uniform, size_t *level);
#endif
