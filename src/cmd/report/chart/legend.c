/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the legend in columns below the plot, where it never covers data. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/cmd/report/chart/plot.h"
#include "src/cmd/report/chart/text.h"

enum { SAMPLE = 34, GAP = 8, BETWEEN = 16, ABOVE = 10 };
static const char winner_name[] = "winner";

struct legend {
	struct plot *plot;
	double top, column_width;
	size_t columns, shown;
};

static size_t named_count(const struct chart *chart) {
	size_t count = 0;
	for (size_t i = 0; i < chart->series_count; i++)
		count += chart->series[i].name != NULL;
	return count;
}

static double widest_entry(const struct chart *chart) {
	double widest = chart->winner ? text_width(winner_name) : 0;
	for (size_t i = 0; i < chart->series_count; i++) {
		char *tame = text_tame(chart->series[i].name);
		widest = fmax(widest, text_width(tame));
		free(tame);
	}
	return widest;
}

static void line_sample(struct plot *plot, double x, double y, size_t index, double width) {
	drawing_line(plot->drawing, (struct stroke){paint_role(series_role(index)), width, series_dash(index)});
	drawing_move(plot->drawing, x, y);
	drawing_to(plot->drawing, x + SAMPLE, y);
}

static void series_sample(struct plot *plot, double x, double y, size_t index) {
	const struct chart_series *series = &plot->chart->series[index];
	struct paint paint = paint_role(series_role(index));
	if (series_is_bar(series))
		drawing_rect(plot->drawing, paint, spot_at(x + 6, y - 5), spot_at(x + SAMPLE - 6, y + 5));
	else if (series->style != CHART_POINTS)
		line_sample(plot, x, y, index, series->style == CHART_BOUND ? 1.5 : 2);
	if (series->style == CHART_LINE || series->style == CHART_POINTS)
		drawing_shape(plot->drawing, paint, series_shape(index), x + SAMPLE / 2.0, y);
}

/* Writes the name of the next entry and returns the left end of its sample. */
static struct spot entry_add(struct legend *legend, const char *name) {
	struct spot at = spot_at(EDGE + legend->column_width * (double)(legend->shown % legend->columns),
	                         legend->top + LINE_HEIGHT * ((double)(legend->shown / legend->columns) + 0.5));
	drawing_text(
		legend->plot->drawing, name,
		(struct label){at.x + SAMPLE + GAP, at.y, .anchor = 'l', .width = legend->column_width - SAMPLE - GAP});
	legend->shown++;
	return at;
}

static void entries_add(struct legend *legend, size_t named) {
	struct plot *plot = legend->plot;
	for (size_t i = 0, shown = 0; i < plot->chart->series_count && shown < NAMES_SHOWN; i++)
		if (plot->chart->series[i].name) {
			struct spot at = entry_add(legend, plot->chart->series[i].name);
			series_sample(plot, at.x, at.y, i);
			shown++;
		}
	if (named > NAMES_SHOWN) {
		char more[48];
		snprintf(more, sizeof(more), "and %zu more", named - NAMES_SHOWN);
		entry_add(legend, more);
	}
	if (plot->chart->winner) {
		struct spot at = entry_add(legend, winner_name);
		winner_sample(plot, at.x + SAMPLE / 2.0, at.y);
	}
}

double legend_draw(struct plot *plot, double y) {
	double room = CANVAS_WIDTH - 2 * EDGE, each = SAMPLE + GAP + widest_entry(plot->chart) + BETWEEN;
	size_t named = named_count(plot->chart), entries = named + (plot->chart->winner != NULL);
	if (entries == 0)
		return y;
	struct legend legend = {.plot = plot, .top = y + ABOVE};
	legend.columns = (size_t)fmin(fmax(1, floor(room / each)), (double)entries);
	legend.column_width = room / (double)legend.columns;
	entries_add(&legend, named);
	return legend.top + LINE_HEIGHT * (double)((legend.shown + legend.columns - 1) / legend.columns);
}
