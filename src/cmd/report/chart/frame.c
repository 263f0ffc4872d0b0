/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is around the data. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/cmd/report/chart/impl.h"

static void write_title(struct script *script, const struct chart *chart) {
	char *lines[3], *title = text_tame(chart->title);
	size_t count = text_wrap(title, (CHART_WIDTH - 16) / 1.08, lines, 3);
	for (size_t i = 0; i < count; i++) {
		script_label(
			script, lines[i],
			(struct label){.x = 8, .y = 17 + 18 * (double)i, .width = CHART_WIDTH, .anchor = 'l', .bold = true});
		free(lines[i]);
	}
	free(title);
}

static void write_labels(struct script *script, const struct chart *chart, const struct layout *layout) {
	double middle = (layout->left + layout->right) / 2, height = layout->bottom - layout->top;
	if (chart->x_label && *chart->x_label) {
		double half = fmin(middle, CHART_WIDTH - middle);
		script_label(
			script, chart->x_label,
			(struct label){
				.x = middle, .y = layout->bottom + layout->tick_height + 14, .width = half * 2 - 8, .anchor = 'c'});
	}
	if (chart->y_label && *chart->y_label)
		script_label(
			script, chart->y_label,
			(struct label){.x = 14, .y = layout->top + height / 2, .width = height + 24, .anchor = 'c', .rotate = 90});
}

static void write_range(struct script *script, char which, const struct axis *axis) {
	FILE *out = script->settings;
	if (axis->log)
		fprintf(out, "set logscale %c\n", which);
	fprintf(out, "set %crange [%.15g:%.15g]\n", which, axis->low, axis->high);
	if (axis->tick_count == 0) {
		fprintf(out, "unset %ctics\n", which);
		return;
	}
	fprintf(out, "set %ctics out nomirror scale 0.4 (", which);
	for (size_t i = 0; i < axis->tick_count; i++)
		fprintf(out, "%s'%s' %.15g", i ? "," : "", axis->ticks[i].label, axis->ticks[i].at);
	fprintf(out, ") offset %s textcolor rgb '%s'\n", which == 'x' ? "0,0.35" : "0.4,0",
	        colour_role(COLOUR_INK, script->svg).text);
}

/* The labels of the places of a name axis: gnuplot would take % in a tick's label for a format. */
void frame_names(struct script *script, const struct layout *layout, const char *const *names, size_t count) {
	double each = (layout->right - layout->left) / (double)(count ? count : 1);
	bool flat = layout->name_angle == 0;
	for (size_t i = 0; i < count; i += layout->name_stride) {
		double x = layout->left + each * ((double)i + 0.5) + (flat ? 0 : 4);
		double room = layout->name_angle == 45 ? fmin(112, (x - 8) * 1.41) : 112; /* up to the canvas's edge */
		script_label(script, names[i],
		             (struct label){.x = x,
		                            .y = layout->bottom + (flat ? 13 : 8),
		                            .width = flat ? each * (double)layout->name_stride : room,
		                            .anchor = flat ? 'c' : 'r',
		                            .rotate = layout->name_angle});
	}
}

void frame_write(struct script *script, const struct chart *chart, const struct layout *layout) {
	FILE *out = script->settings;
	script->height = layout->height;
	fprintf(out, "t(n) = ($T[n])[2:*]\nset encoding utf8\nunset key\n");
	fprintf(out, "set lmargin at screen %.5f\nset rmargin at screen %.5f\n", layout->left / CHART_WIDTH,
	        layout->right / CHART_WIDTH);
	fprintf(out, "set tmargin at screen %.5f\nset bmargin at screen %.5f\n", 1 - layout->top / layout->height,
	        1 - layout->bottom / layout->height);
	write_title(script, chart);
	write_labels(script, chart, layout);
	fprintf(out, "set border 0 lc rgb '%s'\n", colour_role(COLOUR_AXIS, script->svg).text);
	write_range(script, 'x', &layout->x);
	write_range(script, 'y', &layout->y);
	struct colour rule = colour_role(COLOUR_RULE, script->svg);
	if (layout->x.tick_count || layout->y.tick_count)
		fprintf(out, "set grid xtics ytics lw 1 lt 1 dt solid lc rgb '%s'\n", rule.text);
}
