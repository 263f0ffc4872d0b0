/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A kernel at several sizes of its problem: which configuration from where to where, what it takes at a size that
 * nobody measured, and how far off that is where it can be checked. */
#ifndef TUNER_SIZES_SIZES_H
#define TUNER_SIZES_SIZES_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"
#include "tuner/model/law/growth.h"
#include "tuner/store/store.h"

/* What a configuration may lose against the best of a size and still stand for it. */
#define SIZES_MARGIN 0.03
enum { SIZES_MAX = GROWTH_SIZES_MAX, SIZES_PAIRS_MIN = 5, SIZES_ROUNDS = 9, SIZES_ROUNDS_MIN = 3 };

struct sizes;

struct sizes_point { /* a size that was tuned */
	double n;
	double cost;          /* the median of its best, as the objective has it */
	double ci[2];         /* NAN: not known */
	const json_t *config; /* its best */
	/* [{"config", "median", "alive"}], as a result has them: who came to the race. NULL: not known. */
	const json_t *finalists;
	int64_t search; /* of the store; 0: none */
};

/* A size between those tuned, at which what is recommended for it was measured: it bears the law, and no range. */
struct sizes_midpoint {
	double n, cost;
	const json_t *config;
	size_t near;    /* the point below it */
	int64_t search; /* where its trials are kept: that point's */
};

struct sizes *sizes_new(const char *kernel, const char *over);
void sizes_free(struct sizes *sizes); /* NULL is fine */
const char *sizes_over(const struct sizes *sizes);
/* Further members of its JSON: the rest of the problem, the objective and the like. A new reference is taken over. */
void sizes_about(struct sizes *sizes, json_t *about);
/* What was measured between two points. false: there are enough, or the size was tuned. */
bool sizes_midpoint_add(struct sizes *sizes, double n, const json_t *config, double cost);
size_t sizes_midpoint_count(const struct sizes *sizes);
/* The configuration is shared. One of the same size is replaced. false: there are SIZES_MAX. */
bool sizes_add(struct sizes *sizes, const struct sizes_point *point);
size_t sizes_count(const struct sizes *sizes);
const struct sizes_point *sizes_point(const struct sizes *sizes, size_t i); /* ascending in n */
/* A size at which nothing worked: not to be asked for again. */
void sizes_failed_add(struct sizes *sizes, double n);

/* The cost of a configuration at a point over that of the point's best: from how many interleaved pairs (0: from
 * separate trials). INFINITY: it does not work there; NAN: not known. */
double sizes_ratio(const struct sizes *sizes, size_t point, const json_t *config, size_t *pairs);
void sizes_ratio_set(struct sizes *sizes, size_t point, const json_t *config, double ratio, size_t pairs);

struct sizes_range {
	double from, to;      /* the last size of one and the first of the next meet at the threshold */
	double first, last;   /* sizes at which it was measured, or is the best */
	const json_t *config; /* shared */
	double loss;          /* the most that it loses at one of these sizes against the best known there */
};
enum { SIZES_RANGES_MAX = SIZES_MAX + 24 };
/* Ranges of sizes that one configuration stands for each, with the least loss together, at sizes and on the way between
 * them, and as few as save little more: by dynamic programming. Sizes are the points, and those between them where
 * configurations have met. A configuration counts where its ratio is known. without: a point that is left out, with
 * what its search alone knows, SIZE_MAX: none. ranges has room for SIZES_RANGES_MAX. */
size_t sizes_ranges(const struct sizes *sizes, size_t without, struct sizes_range *ranges);
const struct sizes_range *sizes_range_of(const struct sizes_range *ranges, size_t count, double n);

struct sizes_prediction {
	const json_t *config; /* shared */
	double from, to;      /* the range that it is from */
	bool beyond;          /* the size lies outside of what was measured */
	double cost, ci[2];   /* NAN: no law */
	double median_error;  /* of the law, each size left out in turn; NAN: no law */
};
/* ERR_NOTHING: no size was tuned. */
int sizes_predict(const struct sizes *sizes, double n, struct sizes_prediction *prediction, struct err *err);

/* {"kernel", "over", "measured", "thresholds", "laws", "refused", "leave_one_out", "checked"}: data/schema/tune.json.
 * New reference. */
json_t *sizes_json(const struct sizes *sizes);

/* What the store knows of a kernel on a machine under an objective: of results that differ in one number of the problem
 * alone, and not in device or source. over: that number, NULL: the one with the most sizes. problem: the other members
 * are as in it; NULL: those with the most sizes. Without such results NULL and ERR_NOTHING. */
struct sizes *sizes_load(struct store *store, const char *fingerprint, const char *kernel, const char *objective,
                         const char *over, const json_t *problem, struct err *err);
/* Takes over what the trials of the points' searches say of ratios, and of costs where sizes were measured in turns. */
int sizes_ratios_read(struct sizes *sizes, struct store *store, struct err *err);

/* Which sizes are to be tuned: those of a list, or within from..to by what was found so far. */
struct sizes_plan {
	const double *list; /* NULL: sampled */
	size_t count;
	double from, to;
	bool whole; /* whole numbers only */
};
/* The next one, and how many more are to be expected with it; NAN: none. */
double sizes_next(const struct sizes *sizes, const struct sizes_plan *plan, size_t *expected);

struct sizes_bench {
	void *ctx;
	/* Tunes a size, with its share of the budget. 0: *point, whose config is a new reference. 1: nothing worked there.
	 * 2: the budget does not allow it. -1: err. */
	int (*tune)(void *ctx, double n, size_t expected, struct sizes_point *point, struct err *err);
	/* Compares a configuration with the best of a point: *ratio. 1: the budget does not allow it. -1: err. */
	int (*compare)(void *ctx, const struct sizes_point *point, const json_t *config, double *ratio, size_t *pairs,
	               struct err *err);
	/* One more trial of a point's best: *cost, NAN: it failed. 1: the budget does not allow it. -1: err. May be NULL.
	 */
	int (*again)(void *ctx, const struct sizes_point *point, int round, double *cost, struct err *err);
	/* A trial of what is recommended for a size that was not tuned; 1: it can't be had there. May be NULL. */
	int (*between)(void *ctx, const struct sizes_midpoint *midpoint, int round, double *cost, struct err *err);
	/* The same of a configuration that another may be better than there; 1: the budget does not allow it, too. May be
	 * NULL. */
	int (*midpoint_race)(void *ctx, const struct sizes_midpoint *midpoint, int round, double *cost, struct err *err);
	/* What the trials so far say; may be NULL. */
	int (*recall)(void *ctx, struct sizes *sizes, struct err *err);
};
/* Tunes sizes as planned, and compares where that decides a range or checks a recommendation. The best of all sizes,
 * and what is recommended for some between them, are measured in turns: what slows the machine for a while then slows
 * no size alone, and the law holds. Then the best and the finalists of neighbours meet between them: which of them is
 * the best there need not be the best of a neighbour. */
int sizes_explore(struct sizes *sizes, const struct sizes_plan *plan, const struct sizes_bench *bench, struct err *err);

#endif
