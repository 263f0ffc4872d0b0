/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws heat maps: a coloured cell for each pair of names, and the scale of the colours below. */
#include <config.h>

#include <math.h>
#include <stdio.h>

#include "src/cmd/report/chart/chart_impl.h"

enum { BAR_PARTS = 48, BAR_HEIGHT = 12, CELL_HEIGHT = 26, LEAST_HEIGHT = 160, MOST_HEIGHT = 300, ABOVE_BAR = 8 };
static const char dash[] = "\xE2\x80\x93"; /* not measured */

static struct extent values_extent(const struct chart_heat *heat) {
	struct extent seen = EXTENT_NONE;
	for (size_t i = 0; i < heat->width * heat->height; i++)
		extent_add(&seen, heat->values[i], heat->value_log);
	return seen;
}

/* Returns 0 to 1, or NAN. */
static double share_of(const struct scale *colours, double value) {
	double v = scale_value(value, colours->log);
	return isnan(v) ? NAN : fmin(fmax(scale_share(colours, v), 0), 1);
}

static struct spot cell_corner(const struct plot *plot, size_t i, double side) {
	size_t width = plot->chart->heat->width;
	return spot_at(scale_at(&plot->x, (double)(i % width) + side), scale_at(&plot->y, (double)(i / width) + side));
}

static void cells_draw(struct plot *plot, const struct scale *colours) {
	const struct chart_heat *heat = plot->chart->heat;
	for (size_t i = 0; i < heat->width * heat->height; i++) {
		double share = share_of(colours, heat->values[i]);
		drawing_rect(plot->drawing, isnan(share) ? paint_role(COLOUR_ABSENT) : paint_rgb(colour_map(share)),
		             cell_corner(plot, i, -0.5), cell_corner(plot, i, 0.5));
	}
}

/* Writes three digits, or a dash if there is no value. */
static void value_write(char text[32], double value) {
	if (fabs(value) >= 1e-3 && fabs(value) < 1e5)
		snprintf(text, 32, "%.*f", (int)fmax(0, 2 - floor(log10(fabs(value)))), value);
	else
		snprintf(text, 32, "%.3g", value);
	if (!isfinite(value))
		snprintf(text, 32, "%s", dash);
}

static bool values_fit(const struct chart_heat *heat, double cell_width, double cell_height) {
	double widest = 0;
	for (size_t i = 0; i < heat->width * heat->height; i++) {
		char text[32];
		value_write(text, heat->values[i]);
		widest = fmax(widest, text_width(text));
	}
	return cell_height >= CANVAS_FONT * 1.2 && widest + 4 <= cell_width;
}

static void values_draw(struct plot *plot, const struct scale *colours) {
	const struct chart_heat *heat = plot->chart->heat;
	double cell_width = (plot->x.to - plot->x.from) / (double)heat->width;
	double cell_height = (plot->y.from - plot->y.to) / (double)heat->height;
	if (!values_fit(heat, cell_width, cell_height))
		return;
	for (size_t i = 0; i < heat->width * heat->height; i++) {
		double share = share_of(colours, heat->values[i]);
		struct spot middle = cell_corner(plot, i, 0);
		char text[32];
		value_write(text, heat->values[i]);
		struct paint paint = paint_rgb(colour_map_is_dark(share) ? 0xffffff : 0x010101);
		drawing_text(
			plot->drawing, text,
			(struct label){middle.x, middle.y, .anchor = 'c', .paint = isnan(share) ? paint_role(COLOUR_INK) : paint});
	}
}

/* Each part reaches to the right end, because adjacent rectangles would show seams. */
static double colours_draw(struct plot *plot, const struct scale *colours, double y) {
	double left = colours->from, right = colours->to, middle = (left + right) / 2;
	y += ABOVE_BAR;
	for (int i = 0; i < BAR_PARTS; i++)
		drawing_rect(plot->drawing, paint_rgb(colour_map((i + 0.5) / BAR_PARTS)),
		             spot_at(left + (right - left) * i / BAR_PARTS, y), spot_at(right, y + BAR_HEIGHT));
	y += BAR_HEIGHT + 2;
	for (size_t i = 0; i < colours->tick_count; i++)
		drawing_text(plot->drawing, colours->ticks[i].label,
		             (struct label){scale_at(colours, colours->ticks[i].at), y + LINE_HEIGHT / 2.0, .anchor = 'c'});
	y += LINE_HEIGHT;
	drawing_text(plot->drawing, plot->chart->heat->value_label,
	             (struct label){middle, y + LINE_HEIGHT / 2.0, .anchor = 'c',
	                            .width = 2 * fmin(middle, CANVAS_WIDTH - middle) - EDGE});
	return plot->chart->heat->value_label ? y + LINE_HEIGHT : y;
}

static void heat_fit(struct plot *plot) {
	const struct chart_heat *heat = plot->chart->heat;
	plot->x_names = (struct names){heat->x_names, heat->width};
	plot->y_names = (struct names){heat->y_names, heat->height};
	frame_begin(plot, fmin(fmax(CELL_HEIGHT * (double)heat->height, LEAST_HEIGHT), MOST_HEIGHT));
	scale_fit_names(&plot->x, heat->width);
	scale_fit_names(&plot->y, heat->height);
}

double heat_draw(struct plot *plot) {
	struct extent seen = values_extent(plot->chart->heat);
	heat_fit(plot);
	struct scale colours = {.from = plot->x.from, .to = plot->x.to};
	scale_fit_exactly(&colours, seen, plot->chart->heat->value_log);
	cells_draw(plot, &colours);
	values_draw(plot, &colours);
	winner_draw(plot);
	double y = frame_draw(plot);
	if (seen.low <= seen.high)
		y = colours_draw(plot, &colours, y);
	return legend_draw(plot, y);
}
