/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A kernel at several sizes of its problem: ranges of sizes with one configuration each, predictions for sizes that
 * nobody measured, and their error where it can be checked. doc/sizes.md describes the procedure. */
#ifndef TUNER_SIZES_SIZES_H
#define TUNER_SIZES_SIZES_H

#include "tuner/model/law/growth.h"
#include "tuner/store/store.h"

/* The most that a configuration may lose against the best of a size and still represent it. */
#define SIZES_MARGIN 0.03
enum { SIZES_MAX = GROWTH_SIZES_MAX, SIZES_ROUNDS = 9, SIZES_ROUNDS_MIN = 3 };

struct sizes;

struct sizes_point { /* a size that was tuned */
	double n;
	double cost;          /* the median of its best, in the unit of the objective */
	double ci[2];         /* NAN: not known */
	const json_t *config; /* its best */
	/* [{"config", "median", "alive"}] as in a result: the field of its race. NULL: not known. */
	const json_t *finalists;
	int64_t search; /* its number in the store; 0: none */
};

/* A size between tuned ones at which the recommended configuration was measured: it supports the law, but no range. */
struct sizes_midpoint {
	double n, cost;
	const json_t *config;
	size_t near;    /* the point below it */
	int64_t search; /* the search that its trials are stored with: that point's */
};

struct sizes *sizes_new(const char *kernel, const char *over);
void sizes_free(struct sizes *sizes); /* NULL is fine */
/* Adds further members to the JSON, such as the rest of the problem and the objective. Takes ownership. */
void sizes_about(struct sizes *sizes, json_t *about);
/* Adds a midpoint. Returns false if there are enough, or if the size was tuned. */
bool sizes_midpoint_add(struct sizes *sizes, double n, const json_t *config, double cost);
size_t sizes_midpoint_count(const struct sizes *sizes);
/* Adds a point, which replaces an earlier one of the same size; the configuration is shared. Returns false if there are
 * SIZES_MAX already. */
bool sizes_add(struct sizes *sizes, const struct sizes_point *point);
size_t sizes_count(const struct sizes *sizes);
const struct sizes_point *sizes_point(const struct sizes *sizes, size_t i); /* ascending in n */

/* The cost of a configuration at a point relative to the point's best; *pairs: from how many interleaved pairs (0:
 * separate trials). INFINITY: it does not work there; NAN: not known. */
double sizes_ratio(const struct sizes *sizes, size_t point, const json_t *config, size_t *pairs);
void sizes_ratio_set(struct sizes *sizes, size_t point, const json_t *config, double ratio, size_t pairs);

struct sizes_range {
	double from, to;      /* neighbouring ranges meet at the threshold between them */
	double first, last;   /* the outermost sizes at which it was measured or is the best */
	const json_t *config; /* shared */
	double loss;          /* its largest loss at these sizes against the best known there */
};
enum { SIZES_RANGES_MAX = SIZES_MAX + 24 };
/* Splits the sizes into ranges with one configuration each, by dynamic programming: least loss in total, at the
 * measured sizes and in the gaps between them, with an extra range only if it saves enough. Measured sizes are the
 * points and the raced midpoints. without: a point that is left out together with everything that only its search
 * found; SIZE_MAX: none. ranges has room for SIZES_RANGES_MAX. */
size_t sizes_ranges(const struct sizes *sizes, size_t without, struct sizes_range *ranges);
const struct sizes_range *sizes_range_of(const struct sizes_range *ranges, size_t count, double n);

/* {"kernel", "over", "measured", "thresholds", "laws", "refused", "leave_one_out", "checked"}: data/schema/tune.json.
 * New reference. */
json_t *sizes_json(const struct sizes *sizes);

/* Loads the results of a kernel on a machine under an objective that differ in one number of the problem only (and not
 * in device or source). over: that number; NULL: the one with the most sizes. problem: fixes the other members; NULL:
 * those with the most sizes. NULL with ERR_NOTHING if there are no such results. */
struct sizes *sizes_load(struct store *store, const char *fingerprint, const char *kernel, const char *objective,
                         const char *over, const json_t *problem, struct err *err);
/* Reads ratios, and costs measured in rounds, from the stored trials of the points' searches. */
int sizes_ratios_read(struct sizes *sizes, struct store *store, struct err *err);

/* The sizes to tune: a list, or a choice within from..to that depends on the results so far. */
struct sizes_plan {
	const double *list; /* NULL: chosen */
	size_t count;
	double from, to;
	bool whole; /* whole numbers only */
};

struct sizes_bench {
	void *ctx;
	/* Tunes a size with its share of the budget. Returns 0 with *point, whose config is a new reference; 1 if nothing
	 * worked there; 2 if the budget is used up; -1 with err. */
	int (*tune)(void *ctx, double n, size_t expected, struct sizes_point *point, struct err *err);
	/* Compares a configuration with the best of a point: *ratio. Returns 1 if the budget is used up, -1 with err. */
	int (*compare)(void *ctx, const struct sizes_point *point, const json_t *config, double *ratio, size_t *pairs,
	               struct err *err);
	/* Measures a point's best once more: *cost, NAN if it failed. Returns 1 if the budget is used up, -1 with err. May
	 * be NULL. */
	int (*again)(void *ctx, const struct sizes_point *point, int round, double *cost, struct err *err);
	/* Measures the recommended configuration at a midpoint; 1: it is invalid there. May be NULL. */
	int (*between)(void *ctx, const struct sizes_midpoint *midpoint, int round, double *cost, struct err *err);
	/* Measures a challenger of that configuration in the same way; 1 also if the budget is used up. May be NULL. */
	int (*midpoint_race)(void *ctx, const struct sizes_midpoint *midpoint, int round, double *cost, struct err *err);
	/* Reads ratios from the trials so far; may be NULL. */
	int (*recall)(void *ctx, struct sizes *sizes, struct err *err);
};
/* Tunes the planned sizes and makes the comparisons that decide a range or check a recommendation. Then the best of all
 * sizes, and the recommended configurations at the midpoints, are measured in rounds, so that a slow phase of the
 * machine affects all sizes and not the law over them. Finally the best and the finalists of neighbours are raced at
 * the midpoints, because the best there need not be the best of a neighbour. */
int sizes_explore(struct sizes *sizes, const struct sizes_plan *plan, const struct sizes_bench *bench, struct err *err);
#endif
