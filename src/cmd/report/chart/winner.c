/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Marks the winner: a ring around its point, or a frame around its cell. */
#include <config.h>

#include <math.h>

#include "src/cmd/report/chart/plot.h"

static void box_draw(struct plot *plot, struct spot a, struct spot b) {
	drawing_move(plot->drawing, a.x, a.y);
	drawing_to(plot->drawing, b.x, a.y);
	drawing_to(plot->drawing, b.x, b.y);
	drawing_to(plot->drawing, a.x, b.y);
	drawing_to(plot->drawing, a.x, a.y);
}

/* A black line inside a white one is visible on any colour. */
static void outline_draw(struct plot *plot, struct spot a, struct spot b) {
	drawing_line(plot->drawing, (struct stroke){paint_rgb(0xffffff), 4, NULL});
	box_draw(plot, a, b);
	drawing_line(plot->drawing, (struct stroke){paint_rgb(0x000000), 1.5, NULL});
	box_draw(plot, a, b);
}

static void cell_outline(struct plot *plot) {
	const struct chart_mark *winner = plot->chart->winner;
	const double half = 0.5, inset = 2;
	outline_draw(plot,
	             spot_at(scale_at(&plot->x, winner->x - half) + inset, scale_at(&plot->y, winner->y + half) + inset),
	             spot_at(scale_at(&plot->x, winner->x + half) - inset, scale_at(&plot->y, winner->y - half) - inset));
}

void winner_draw(struct plot *plot) {
	const struct chart_mark *winner = plot->chart->winner;
	if (!winner || isnan(scale_value(winner->x, plot->x.log)) || isnan(scale_value(winner->y, plot->y.log)))
		return;
	if (plot->chart->heat)
		cell_outline(plot);
	else
		drawing_shape(plot->drawing, paint_role(COLOUR_INK), SHAPE_RING, scale_at(&plot->x, winner->x),
		              scale_at(&plot->y, winner->y));
}

void winner_sample(struct plot *plot, double x, double y) {
	if (plot->chart->heat)
		outline_draw(plot, spot_at(x - 9, y - 6), spot_at(x + 9, y + 6));
	else
		drawing_shape(plot->drawing, paint_role(COLOUR_INK), SHAPE_RING, x, y);
}
