/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one thing that keeps a region from using its team well. */
#ifndef TUNER_REGIONS_REGIONS_LIMITS_IMPL_H
#define TUNER_REGIONS_REGIONS_LIMITS_IMPL_H

#include "tuner/regions/fit_impl.h"

enum regions_limit_kind {
	REGIONS_LIMIT_NONE,
	REGIONS_LIMIT_UNKNOWN, /* not enough was measured */
	REGIONS_LIMIT_OVERSUBSCRIBED,
	REGIONS_LIMIT_FORK_JOIN,
	REGIONS_LIMIT_IMBALANCE,
	REGIONS_LIMIT_MEMORY /* or another shared resource: larger teams gain nothing */
};

struct regions_limit {
	enum regions_limit_kind kind;
	char text[240]; /* a sentence without a period; may be empty for NONE and UNKNOWN */
};

struct regions_limit_facts {
	const struct omp_record *raw; /* for the number of processors and of threads */
	const struct omp_region *region;
	bool is_busy;       /* other programs used the processors */
	double fork_join_s; /* of an empty region with the default team; NAN: unknown */
	/* The effect of each team, or NULL; teams[0] is the default. */
	const struct regions_effect *effects;
	const unsigned *teams;
	size_t team_count;
};
#endif
