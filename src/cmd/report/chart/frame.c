/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws everything around the data: title, labels and axes. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/cmd/report/chart/plot.h"
#include "src/cmd/report/chart/text.h"

enum { TITLE_LINES = 3, RIGHT = 16, TICK_AND_GAP = 11, BELOW_TITLE = 8 };
static const double bold_wider = 1.08;

/* Returns the first y below the title. */
static double title_draw(struct drawing *drawing, const char *text) {
	char *lines[TITLE_LINES], *title = text_tame(text);
	size_t count = text_wrap(title, (CANVAS_WIDTH - 2 * EDGE) / bold_wider, lines, TITLE_LINES);
	for (size_t i = 0; i < count; i++) {
		drawing_text(drawing, lines[i],
		             (struct label){EDGE, EDGE + LINE_HEIGHT * ((double)i + 0.5), .anchor = 'l', .bold = true});
		free(lines[i]);
	}
	free(title);
	return EDGE + LINE_HEIGHT * (double)count;
}

static bool is_given(const char *text) {
	return text && *text;
}

void frame_begin(struct plot *plot, double height) {
	plot->y.to = title_draw(plot->drawing, plot->chart->title) + BELOW_TITLE;
	plot->y.from = plot->y.to + height;
	plot->x.from = EDGE + (is_given(plot->chart->y_label) ? LINE_HEIGHT : 0) + axis_margin(plot) + TICK_AND_GAP;
	plot->x.to = CANVAS_WIDTH - RIGHT;
}

static void label_y_draw(struct plot *plot) {
	double height = plot->y.from - plot->y.to;
	drawing_text(
		plot->drawing, plot->chart->y_label,
		(struct label){EDGE + 6, plot->y.to + height / 2, .anchor = 'c', .width = height + 2 * EDGE, .rotate = 90});
}

static void label_x_draw(struct plot *plot, double y) {
	double middle = (plot->x.from + plot->x.to) / 2, room = 2 * fmin(middle, CANVAS_WIDTH - middle) - EDGE;
	drawing_text(plot->drawing, plot->chart->x_label, (struct label){middle, y, .anchor = 'c', .width = room});
}

double frame_draw(struct plot *plot) {
	axis_draw_y(plot);
	if (is_given(plot->chart->y_label))
		label_y_draw(plot);
	double y = axis_draw_x(plot);
	if (!is_given(plot->chart->x_label))
		return y;
	label_x_draw(plot, y + LINE_HEIGHT / 2.0);
	return y + LINE_HEIGHT;
}
