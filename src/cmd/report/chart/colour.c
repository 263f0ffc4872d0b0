/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/cmd/report/chart/impl.h"

/* Series: Okabe, Ito: Color Universal Design (2008), without black, which is the ink, and yellow, too faint on white.
 * chart_css.c has the same colours, and lighter ones for dark pages. */
static const char *const on_white[COLOUR_ROLES] = {
	[COLOUR_INK] = "#1a1a1a",        [COLOUR_AXIS] = "#707070",       [COLOUR_RULE] = "#dddddd",
	[COLOUR_ABSENT] = "#eeeeee",     [COLOUR_SERIES] = "#0072b2",     [COLOUR_SERIES + 1] = "#d55e00",
	[COLOUR_SERIES + 2] = "#009e73", [COLOUR_SERIES + 3] = "#cc79a7", [COLOUR_SERIES + 4] = "#e69f00",
	[COLOUR_SERIES + 5] = "#56b4e9", [COLOUR_SERIES + 6] = "#1a1a1a",
};

struct colour colour_role(int role, bool svg) {
	struct colour colour;
	if (svg)
		snprintf(colour.text, sizeof(colour.text), "#0000%02x", (unsigned)role & 0xFF);
	else
		snprintf(colour.text, sizeof(colour.text), "%s", on_white[role]);
	return colour;
}

/* Ten places of viridis: van der Walt, Smith: A Better Default Colormap for Matplotlib (SciPy 2015), in the public
 * domain (CC0). Even steps of it look even, also to the colour-blind and in grey. */
static const unsigned viridis[] = {0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e,
                                   0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b, 0xfde725};

static unsigned blend(unsigned a, unsigned b, double share, int shift) {
	double from = a >> shift & 0xFF, to = b >> shift & 0xFF;
	return (unsigned)lround(from + (to - from) * share) << shift;
}

/* In 64 steps, so that cells of one colour can be joined. */
struct colour colour_map(double share) {
	enum { STEPS = 63, LAST = sizeof(viridis) / sizeof(*viridis) - 1 };
	double place = round(fmin(fmax(share, 0), 1) * STEPS) / STEPS * LAST;
	size_t i = (size_t)fmin(floor(place), LAST - 1);
	unsigned rgb = 0;
	for (int shift = 0; shift <= 16; shift += 8)
		rgb |= blend(viridis[i], viridis[i + 1], place - (double)i, shift);
	struct colour colour;
	snprintf(colour.text, sizeof(colour.text), "#%06x", rgb & 0xFFFFFF);
	return colour;
}

/* Below it white, above it black has the higher contrast (WCAG 2.1, relative luminance 0.179). */
bool colour_map_is_dark(double share) {
	return share < 0.44;
}

const char *series_dash(size_t index) {
	static const char *const dashes[] = {"solid", "(8,3)", "(3,3)", "(10,3,2,3)", "(14,3)"};
	return dashes[index % (sizeof(dashes) / sizeof(*dashes))];
}

/* Disc, square, triangles, diamond, and their outlines, cross: as many as are told apart when small, and a number that
 * has no divisor in common with that of the colours and of the dashes. */
int series_shape(size_t index) {
	static const int shapes[] = {7, 5, 9, 13, 11, 6, 4, 8, 12, 10, 2};
	return shapes[index % (sizeof(shapes) / sizeof(*shapes))];
}

int series_colour(size_t index) {
	return COLOUR_SERIES + (int)(index % COLOUR_SERIES_COUNT);
}
