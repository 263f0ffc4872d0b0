/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of this folder only. */
#ifndef TUNER_SIZES_IMPL_H
#define TUNER_SIZES_IMPL_H
#include "tuner/sizes/sizes.h"

struct sizes_ratio {
	const json_t *config; /* a reference of its own */
	double ratio;
	size_t pairs;
};

struct sizes_entry {
	struct sizes_point point;
	json_t *candidates; /* shared configurations: the best, then the others of its race; NULL for a midpoint race */
	struct sizes_ratio *ratios;
	size_t ratio_count;
};

enum {
	SIZES_MIDPOINTS_MAX = SIZES_RANGES_MAX - SIZES_MAX,
	SIZES_CANDIDATES_MAX = 8,     /* per point */
	SIZES_MIDPOINT_RACE_MAX = 12, /* configurations per race */
	SIZES_MIDPOINT_RACE_ROUNDS = 7
};

struct sizes {
	char *kernel, *over;
	json_t *about; /* further members of the JSON; may be NULL */
	struct sizes_entry entries[SIZES_MAX];
	size_t count;
	struct sizes_midpoint midpoints[SIZES_MIDPOINTS_MAX]; /* unordered; each owns its configuration */
	size_t midpoint_count;
	/* One entry for each midpoint that was raced: the ratios to point.config, which is only the reference there and not
	 * the best. */
	struct sizes_entry midpoint_races[SIZES_MIDPOINTS_MAX];
	size_t midpoint_race_count;
	json_t *configs; /* every configuration once, so that equal ones have the same address */
	double failed[SIZES_MAX];
	size_t failed_count;
};

/* Sets the cost of a point to the median of `count` trials measured in rounds with the other sizes; ignores fewer than
 * SIZES_ROUNDS_MIN. */
void sizes_rounds_record(struct sizes *sizes, size_t point, const double *cost, size_t count);
/* Plans midpoints so that no gap between two neighbours is wide: ascending, without costs, room for
 * SIZES_MIDPOINTS_MAX. Their configurations belong to the ranges. */
size_t sizes_midpoints_plan(const struct sizes *sizes, struct sizes_midpoint *midpoints);
bool sizes_is_whole(const struct sizes *sizes);
bool sizes_is_tuned(const struct sizes *sizes, double n);
/* Records the median of `count` trials at a midpoint; ignores fewer than SIZES_ROUNDS_MIN. */
void sizes_midpoint_record(struct sizes *sizes, double n, const json_t *config, const double *cost, size_t count);
void sizes_entry_clear(struct sizes_entry *entry);
/* Holds a midpoint race at each midpoint, as far as the budget allows. */
int sizes_midpoint_races(struct sizes *sizes, const struct sizes_bench *bench, struct err *err);
/* Records the race of `count` configurations at a size, one block per round: costs are [round * count + i], NAN: none.
 * Replaces an earlier race of that size. */
void sizes_midpoint_race_record(struct sizes *sizes, double n, json_t *const *configs, size_t count,
                                const double *costs, size_t rounds);
/* The one shared object for all equal configurations. */
json_t *sizes_config(struct sizes *sizes, const json_t *config);
void sizes_entry_set(struct sizes *sizes, struct sizes_entry *entry, const json_t *config, double ratio, size_t pairs);
#endif
