/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which counters go with the time: a robust linear regression (bisquare, gsl_multifit_robust; Holland and Welsch 1977)
 * of log time on log counters over trials, standardised by median and median absolute deviation. Counters that say the
 * same (all pairs with |Spearman's rho| >= 0.9: complete linkage, Sorensen 1948) are one group; the member most like
 * the others stands for it. The p-value is the larger of that regression's and of the same on ranks (Conover and Iman
 * 1981): far-out times and far-out counters can't make one. It is adjusted for the number of groups (Holm 1979). All
 * this finds what goes with the time, not what causes it.
 *
 * Zeros count as half of the smallest value above 0. Dropped are counters that hardly vary, are mostly 0, have negative
 * values, or are missing in more than a fifth of the rows; then rows in which one of the others is missing. */
#ifndef TUNER_MODEL_EFFECTS_DRIVERS_H
#define TUNER_MODEL_EFFECTS_DRIVERS_H
#include <stdbool.h>
#include <stddef.h>

enum { DRIVERS_NONE = -1, DRIVERS_REASON = 200 };

struct drivers_data {
	size_t rows, counters;
	const double *time;    /* rows, > 0 */
	const double *counter; /* rows x counters; NAN: missing */
	const double *work;    /* rows, > 0, or NULL: time and counters are per unit of it */
	long winner, baseline; /* rows, or DRIVERS_NONE */
};

enum drivers_method {
	DRIVERS_RATIOS,     /* too few rows: winner against baseline, sorted by size; nothing is explained */
	DRIVERS_ONE_BY_ONE, /* under 3 rows a group: each group alone. Shares don't add up */
	DRIVERS_JOINT       /* all groups together */
};

enum drivers_fate { DRIVERS_KEPT, DRIVERS_MISSING, DRIVERS_CONSTANT, DRIVERS_ZERO, DRIVERS_NEGATIVE };

struct driver {
	size_t representative, count;
	const size_t *members; /* counters, the representative first */
	double coefficient;    /* deviations of log time per deviation of the log counter */
	double ci[2];          /* 95 %, of the coefficient */
	double slope;          /* of log time by the log counter: 1 is "twice the misses, twice the time" */
	double p, adjusted;    /* NAN with DRIVERS_RATIOS */
	bool significant;      /* adjusted < 0.05 */
	double ratio;          /* of the representative, winner / baseline; NAN without them */
	double share;          /* of log(time ratio): slope * log(ratio) / log(time ratio); NAN where that is near 1 */
	double share_ci[2];    /* by the slope's interval */
};

struct drivers {
	enum drivers_method method;
	size_t rows, count;
	struct driver *driver;       /* the most certain first; with DRIVERS_RATIOS the largest ratio first */
	enum drivers_fate *fate;     /* of each counter */
	double r2;                   /* of the joint regression, robust; NAN without */
	double time_ratio;           /* winner / baseline; NAN without them */
	double unexplained;          /* 1 - shares of the significant, where these are joint; else NAN */
	char reason[DRIVERS_REASON]; /* why not joint, or why nothing at all; "" */
	size_t *members;             /* where driver[].members point */
};

/* -1, with the reason: data that can't be, or no counter left. */
int drivers_make(struct drivers *drivers, const struct drivers_data *data);
void drivers_clear(struct drivers *drivers);

#endif
