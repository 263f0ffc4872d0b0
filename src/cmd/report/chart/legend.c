/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Below the plot, in columns: it never covers data, and its height is known beforehand. */
#include <config.h>

#include <stdlib.h>

#include "src/base/mem.h"
#include "src/cmd/report/chart/impl.h"

enum { ROW = 18, SAMPLE = 34 };

static void line_sample(struct script *script, double x, double y, size_t index, bool bound) {
	double up = 1 - y / script->height;
	fprintf(script->settings, "set arrow from screen %.5f,%.5f to screen %.5f,%.5f nohead lc rgb '%s' lw %s dt %s\n",
	        x / CHART_WIDTH, up, (x + SAMPLE) / CHART_WIDTH, up, colour_role(series_colour(index), script->svg).text,
	        bound ? "1.5" : "2", series_dash(index));
}

static void point_sample(struct script *script, double x, double y, size_t index) {
	fprintf(script->settings, "set label '' at screen %.5f,%.5f point pt %d ps 0.8 lc rgb '%s'\n",
	        (x + SAMPLE / 2.0) / CHART_WIDTH, 1 - y / script->height, series_shape(index),
	        colour_role(series_colour(index), script->svg).text);
}

static void sample(struct script *script, enum chart_style style, double x, double y, size_t index) {
	if (style == CHART_BARS)
		script_rect(script, x + 6, y - 5, SAMPLE - 12, 10, colour_role(series_colour(index), script->svg));
	if (style == CHART_LINE || style == CHART_STEPS || style == CHART_BOUND)
		line_sample(script, x, y, index, style == CHART_BOUND);
	if (style == CHART_LINE || style == CHART_POINTS)
		point_sample(script, x, y, index);
}

void legend_write(struct script *script, const struct chart *chart, const struct layout *layout) {
	size_t shown = 0;
	for (size_t i = 0; i < chart->series_count && shown <= CHART_NAMES_SHOWN; i++) {
		if (!chart->series[i].name)
			continue;
		double x = 8 + layout->column_width * (double)(shown % layout->legend_columns);
		double y = layout->legend_y + ROW * (double)(shown / layout->legend_columns);
		struct label label = {.x = x + SAMPLE + 8, .y = y, .width = layout->column_width - SAMPLE - 12, .anchor = 'l'};
		if (shown++ == CHART_NAMES_SHOWN) {
			char *more = mem_printf("and %zu more", layout->legend_count - CHART_NAMES_SHOWN);
			script_label(script, more, label);
			free(more);
			return;
		}
		sample(script, chart->series[i].style, x, y, i);
		script_label(script, chart->series[i].name, label);
	}
}
