/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A drawing is a list of lines, rectangles, shapes and texts on a canvas. Charts create it; svg.c and script.c write it
 * in their languages and know nothing about charts. y grows downwards as in SVG. */
#ifndef SRC_CMD_REPORT_CHART_DRAWING_H
#define SRC_CMD_REPORT_CHART_DRAWING_H
#include <stdbool.h>
#include <stddef.h>

#include "src/cmd/report/chart/colour.h"

enum { CANVAS_WIDTH = 440, CANVAS_FONT = 13 };

struct stroke {
	struct paint paint;
	double width;
	const char *dash; /* "8,3", a constant; NULL: solid */
};

struct label {
	double x, y;  /* y is the middle of the line */
	char anchor;  /* x is at the left end, the centre or the right end: 'l', 'c', 'r' */
	double width; /* longer texts are cut; 0: no limit */
	int rotate;   /* degrees, anticlockwise */
	bool bold;
	struct paint paint; /* zero: ink */
};

struct spot {
	double x, y;
	bool move; /* a line is interrupted before it */
};
static inline struct spot spot_at(double x, double y) {
	return (struct spot){.x = x, .y = y};
}

enum item_kind { ITEM_LINE, ITEM_RECTS /* two opposite corners each */, ITEM_SHAPES, ITEM_TEXT };

struct item {
	enum item_kind kind;
	struct stroke stroke; /* the paint serves every kind of item */
	enum shape shape;
	size_t first, count; /* spots */
	struct label label;
	char *text;
};

struct drawing {
	double height;
	struct item *items;
	size_t item_count;
	struct spot *spots;
	size_t spot_count;
};
void drawing_free(struct drawing *drawing); /* frees the contents */

/* Sets the look of the strokes that follow. Consecutive items of the same look become one. */
void drawing_line(struct drawing *drawing, struct stroke stroke);
void drawing_move(struct drawing *drawing, double x, double y);
void drawing_to(struct drawing *drawing, double x, double y);
void drawing_rect(struct drawing *drawing, struct paint paint, struct spot corner, struct spot opposite);
void drawing_shape(struct drawing *drawing, struct paint paint, enum shape shape, double x, double y);
void drawing_text(struct drawing *drawing, const char *text, struct label label);

#endif
