/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scale maps values to places on the canvas, linearly or by their logarithm, and holds the ticks of its axis. */
#ifndef SRC_CMD_REPORT_CHART_SCALE_H
#define SRC_CMD_REPORT_CHART_SCALE_H
#include <stdbool.h>
#include <stddef.h>

enum { SCALE_TICKS = 40, SCALE_STEPS = 5 /* the approximate number of steps of a linear y axis */, EXTENT_FEW = 12 };

/* Returns NAN for a value that such a scale cannot show. Extreme values are limited, because sums and ratios of them
 * would overflow. */
double scale_value(double value, bool log);

/* The range of values that a scale has to hold. It starts as EXTENT_NONE. */
struct extent {
	double low, high;       /* low > high: no value so far */
	bool fractions;         /* false: all values are whole numbers */
	double few[EXTENT_FEW]; /* the distinct values in ascending order */
	size_t few_count;       /* more than EXTENT_FEW: not all are listed */
};
#define EXTENT_NONE ((struct extent){.low = 1})
void extent_add(struct extent *extent, double value, bool log);
/* Adds a value that does not deserve its own tick, such as a point on a fitted line. */
void extent_stretch(struct extent *extent, double value, bool log);

struct tick {
	double at;
	char label[32];
};

struct scale {
	double low, high; /* low < high; log: 0 < low */
	bool log;
	double from, to; /* their places on the canvas */
	struct tick ticks[SCALE_TICKS];
	size_t tick_count;
};

/* All of these keep from and to, which say how much room the ticks have. Values are for y axes: linear ones end at
 * ticks, and `zero` includes 0. Positions are for x axes: `air` is the share of the range that is added at both ends. A
 * few whole numbers get a tick each; many of them are marked by powers of two on a logarithmic scale (threads). */
void scale_fit_values(struct scale *scale, struct extent seen, bool log, bool zero);
void scale_fit_positions(struct scale *scale, struct extent seen, bool log, double air);
/* Fits the scale exactly to the lowest and highest value, for colours. */
void scale_fit_exactly(struct scale *scale, struct extent seen, bool log);
/* Puts the names 0, 1, .. in the middle of equal parts. */
void scale_fit_names(struct scale *scale, size_t count);

double scale_share(const struct scale *scale, double value); /* 0 at low, 1 at high */
/* Returns the place on the canvas; a value outside of the scale is at its border. */
double scale_at(const struct scale *scale, double value);

/* ticks.c: chooses ticks whose labels do not touch each other. */
void scale_set_ticks(struct scale *scale, const struct extent *seen, bool across);
double scale_nice_step(double span, int wanted);
double scale_widest_label(const struct scale *scale);

#endif
