/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/report/chart/chart.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/cmd/report/chart/plot.h"
#include "src/cmd/report/chart/write.h"

/* Draws the line that bars stand on: 0, or the nearest value on the axis. */
static void base_draw(struct plot *plot) {
	double y = plot->y.log ? plot->y.from : scale_at(&plot->y, 0);
	drawing_line(plot->drawing, (struct stroke){paint_role(COLOUR_AXIS), 1, NULL});
	drawing_move(plot->drawing, plot->x.from, y);
	drawing_to(plot->drawing, plot->x.to, y);
}

static bool is_empty(const struct plot *plot) {
	struct spot spot;
	for (size_t i = 0; i < plot->chart->series_count; i++)
		for (size_t j = 0; j < plot->chart->series[i].count; j++)
			if (plot_spot(plot, &plot->chart->series[i], j, &spot))
				return false;
	return true;
}

static void apology_draw(struct plot *plot) {
	drawing_text(plot->drawing, "nothing measured",
	             (struct label){(plot->x.from + plot->x.to) / 2, (plot->y.from + plot->y.to) / 2, .anchor = 'c'});
}

/* Draws from back to front and returns the first y below the chart. */
static double series_draw(struct plot *plot) {
	series_fit(plot);
	double y = frame_draw(plot);
	bars_draw(plot);
	intervals_draw(plot, true);
	base_draw(plot);
	intervals_draw(plot, false);
	lines_draw(plot);
	winner_draw(plot);
	if (is_empty(plot))
		apology_draw(plot);
	return legend_draw(plot, y);
}

static void chart_draw(const struct chart *chart, struct drawing *drawing) {
	struct plot plot = {.drawing = drawing, .chart = chart};
	double y = chart->heat ? heat_draw(&plot) : series_draw(&plot);
	drawing->height = ceil(y + EDGE);
}

/* The id also becomes a file name. */
static int check_id(const char *id, struct err *err) {
	size_t size = id ? strlen(id) : 0;
	if (size > 0 && size <= 100 && strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == size)
		return 0;
	return err_set(err, ERR_USAGE, NULL, "'%.100s' can't be the id of a chart", id ? id : "");
}

static FILE *memory_open(char **text, size_t *size) {
	FILE *out = open_memstream(text, size);
	if (!out)
		abort();
	return out;
}

char *chart_svg(const struct chart *chart, struct err *err) {
	struct drawing drawing = {0};
	char *text;
	size_t size;
	if (check_id(chart->id, err) != 0)
		return NULL;
	chart_draw(chart, &drawing);
	FILE *out = memory_open(&text, &size);
	svg_write(out, &drawing, chart);
	fclose(out);
	drawing_free(&drawing);
	return text;
}
