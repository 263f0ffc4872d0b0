/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scale maps values to places on the canvas, linearly or by their logarithm, and has the ticks to read them by. */
#ifndef SRC_CMD_REPORT_CHART_SCALE_H
#define SRC_CMD_REPORT_CHART_SCALE_H
#include <stdbool.h>
#include <stddef.h>

enum { SCALE_TICKS = 40, SCALE_STEPS = 5 /* about so many between the ends of linear values */, EXTENT_FEW = 12 };

/* NAN for a value that such a scale can't show. Extreme values are brought nearer, because sums and ratios of them
 * would overflow. */
double scale_value(double value, bool log);

/* What a scale has to hold. EXTENT_NONE: nothing so far. */
struct extent {
	double low, high;       /* low > high: nothing */
	bool fractions;         /* of whole numbers otherwise */
	double few[EXTENT_FEW]; /* the different whole numbers, in ascending order */
	size_t few_count;       /* more than EXTENT_FEW: too many to list */
};
#define EXTENT_NONE ((struct extent){.low = 1})
void extent_add(struct extent *extent, double value, bool log);
/* For values that don't deserve a tick of their own, such as points on a fitted line. */
void extent_stretch(struct extent *extent, double value, bool log);

struct tick {
	double at;
	char label[32];
};

struct scale {
	double low, high; /* low < high; log: 0 < low */
	bool log;
	double from, to; /* where they are on the canvas */
	struct tick ticks[SCALE_TICKS];
	size_t tick_count;
};

/* Both keep from and to, which tell how much room ticks have. Values go upwards: the ends are ticks, and 0 is among
 * them if `zero` (bars). Positions go across: `air` is the share of the range that is added at both ends; few whole
 * numbers have a tick each, and many are marked by powers of two if the scale is logarithmic (threads, block sizes). */
void scale_fit_values(struct scale *scale, struct extent seen, bool log, bool zero);
void scale_fit_positions(struct scale *scale, struct extent seen, bool log, double air);
/* Exactly from the lowest to the highest value: for colours. */
void scale_fit_exactly(struct scale *scale, struct extent seen, bool log);
/* The places of names: 0, 1, .. in the middle of equal parts. */
void scale_fit_names(struct scale *scale, size_t count);

double scale_share(const struct scale *scale, double value); /* 0 at low, 1 at high */
/* On the canvas; a value outside is at the border. */
double scale_at(const struct scale *scale, double value);

/* ticks.c: sets the ticks, of which no two labels touch. */
void scale_set_ticks(struct scale *scale, const struct extent *seen, bool across);
double scale_nice_step(double span, int wanted);
double scale_widest_label(const struct scale *scale);

#endif
