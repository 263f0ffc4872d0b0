/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Colours have roles. In an SVG a role is a CSS class, so that the page decides between light and dark. */
#ifndef SRC_CMD_REPORT_CHART_COLOUR_H
#define SRC_CMD_REPORT_CHART_COLOUR_H
#include <stdbool.h>
#include <stddef.h>

enum { COLOUR_INK = 1, COLOUR_AXIS, COLOUR_RULE, COLOUR_ABSENT, COLOUR_SERIES = 16, COLOUR_SERIES_COUNT = 7 };
enum { COLOUR_ROLES = COLOUR_SERIES + COLOUR_SERIES_COUNT };

struct paint {
	int role;     /* 0: the colour below, which does not depend on the page */
	unsigned rgb; /* 0xrrggbb */
};
struct paint paint_role(int role);
struct paint paint_rgb(unsigned rgb);
unsigned paint_on_white(struct paint paint); /* 0xrrggbb */

unsigned colour_map(double share); /* viridis, from 0 to 1 */
bool colour_map_is_dark(double share);

/* Series differ in three ways, so that nobody has to rely on colour. */
enum shape {
	SHAPE_DISC,
	SHAPE_SQUARE,
	SHAPE_UP,
	SHAPE_DIAMOND,
	SHAPE_DOWN,
	SHAPE_CIRCLE,
	SHAPE_BOX,
	SHAPE_UP_OPEN,
	SHAPE_DIAMOND_OPEN,
	SHAPE_DOWN_OPEN,
	SHAPE_CROSS,
	SHAPE_SERIES,             /* the number of shapes for series */
	SHAPE_RING = SHAPE_SERIES /* around the winner */
};
int series_role(size_t index);
const char *series_dash(size_t index); /* "8,3"; NULL: solid */
enum shape series_shape(size_t index);

#endif
