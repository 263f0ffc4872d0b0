/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counters that go with the time, by a robust linear regression (bisquare: Holland and Welsch, Robust regression using
 * iteratively reweighted least-squares, 1977) of log time on log counters over trials, standardised by median and
 * median absolute deviation. Counters that say the same (all pairs with |Spearman's rho| >= 0.9; complete linkage:
 * Sorensen, A method of establishing groups of equal amplitude, 1948) form a group, represented by the member that is
 * most similar to the others. The p-value is the larger one of this regression and of the same regression on ranks
 * (Conover and Iman 1981), so that far-out times or counters cannot cause a finding; it is adjusted for the number of
 * groups (Holm 1979). A correlation found here is not a cause. ADR 12 says why this is not a question for the response
 * surface.
 *
 * Zeros count as half of the smallest positive value. Counters that hardly vary, are mostly 0, have negative values, or
 * are missing in more than a fifth of the rows are dropped; then rows in which one of the others is missing. */
#ifndef TUNER_MODEL_EFFECTS_DRIVERS_H
#define TUNER_MODEL_EFFECTS_DRIVERS_H
#include <stdbool.h>
#include <stddef.h>

enum { DRIVERS_NONE = -1, DRIVERS_REASON = 200 };

struct drivers_data {
	size_t rows, counters;
	const double *time;    /* rows, > 0 */
	const double *counter; /* rows x counters; NAN: missing */
	const double *work;    /* rows, > 0, or NULL; time and counters are divided by it */
	long winner, baseline; /* rows, or DRIVERS_NONE */
};

enum drivers_method {
	DRIVERS_RATIOS,     /* too few rows: winner over baseline, sorted by size; nothing is explained */
	DRIVERS_ONE_BY_ONE, /* fewer than 3 rows per group: each group alone, so that shares do not add up */
	DRIVERS_JOINT       /* all groups together */
};

enum drivers_fate { DRIVERS_KEPT, DRIVERS_MISSING, DRIVERS_CONSTANT, DRIVERS_ZERO, DRIVERS_NEGATIVE };

struct driver {
	size_t representative, count;
	const size_t *members; /* counters, the representative first */
	double coefficient;    /* deviations of log time per deviation of the log counter */
	double ci[2];          /* 95 %, of the coefficient */
	double slope;          /* of log time over the log counter: at 1, twice the misses take twice the time */
	double p, adjusted;    /* NAN with DRIVERS_RATIOS */
	bool significant;      /* adjusted < 0.05 */
	double ratio;          /* of the representative, winner / baseline; NAN if one of them is missing */
	double share;          /* of log(time ratio): slope * log(ratio) / log(time ratio); NAN if that ratio is near 1 */
	double share_ci[2];    /* from the slope's interval */
};

struct drivers {
	enum drivers_method method;
	size_t rows, count;
	struct driver *driver;       /* sorted by certainty; with DRIVERS_RATIOS the largest ratio first */
	enum drivers_fate *fate;     /* of each counter */
	double r2;                   /* of the joint robust regression; NAN if there is none */
	double time_ratio;           /* winner / baseline; NAN if one of them is missing */
	double unexplained;          /* 1 - shares of the significant groups of a joint regression; otherwise NAN */
	char reason[DRIVERS_REASON]; /* why it is not joint, or why there is no result; "" */
	size_t *members;             /* the array that driver[].members point into */
};

/* -1 with the reason: invalid data, or no counter is left. */
int drivers_make(struct drivers *drivers, const struct drivers_data *data);
void drivers_clear(struct drivers *drivers);
#endif
