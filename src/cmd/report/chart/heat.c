/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>

#include "src/cmd/report/chart/impl.h"

enum { BAR_CELLS = 48, BAR_HEIGHT = 12 };

struct scale {
	struct axis axis;
	bool any;
};

static struct scale scale_fit(const struct chart_heat *heat, double length) {
	struct extent seen = {.low = 1};
	for (size_t i = 0; i < heat->width * heat->height; i++)
		extent_add(&seen, heat->values[i], heat->value_log);
	struct scale scale = {.any = seen.low <= seen.high};
	axis_fit(&scale.axis, seen, heat->value_log, false, true, length);
	if (seen.low < seen.high)
		axis_trim(&scale.axis, seen.low, seen.high);
	return scale;
}

/* 0 to 1, or NAN. */
static double share_of(const struct scale *scale, double value) {
	double v = axis_value(value, scale->axis.log);
	return isnan(v) ? NAN : axis_place(&scale->axis, v);
}

static void write_cells(struct script *script, const struct chart_heat *heat, const struct scale *scale) {
	size_t block = script_block(script);
	for (size_t i = 0; i < heat->width * heat->height; i++) {
		double share = share_of(scale, heat->values[i]);
		struct colour colour = isnan(share) ? colour_role(COLOUR_ABSENT, script->svg) : colour_map(share);
		fprintf(script->blocks, "%zu %zu 0x%s\n", i % heat->width, i / heat->width, colour.text + 1);
	}
	script_block_end(script);
	if (heat->width > 0 && heat->height > 0)
		script_plot(script, "$d%zu using 1:2:(0.5):(0.5):3 with boxxyerror fs solid noborder lc rgb variable", block);
	else
		script_plot(script, "$d%zu using (0):(0):(0.5):(0.5) with boxxyerror notitle", block);
}

/* Three digits. */
static void value_text(char text[32], double value) {
	double power = value == 0 ? 1 : pow(10, floor(log10(fabs(value))) - 2);
	snprintf(text, 32, "%.3g", value);
	if (fabs(value) >= 1e-3 && fabs(value) < 1e5)
		snprintf(text, 32, "%.*f", power >= 1 ? 0 : power >= 0.1 ? 1 : power >= 0.01 ? 2 : 3, value);
}

static bool values_fit(const struct chart_heat *heat, double cell_width, double cell_height) {
	double widest = 0;
	for (size_t i = 0; i < heat->width * heat->height; i++) {
		char text[32];
		value_text(text, heat->values[i]);
		if (isfinite(heat->values[i]))
			widest = fmax(widest, text_width(text));
	}
	return cell_height >= CHART_FONT * 1.2 && widest + 2 <= cell_width;
}

static void write_values(struct script *script, const struct chart_heat *heat, const struct layout *layout,
                         const struct scale *scale) {
	double cell_width = (layout->right - layout->left) / (double)heat->width;
	double cell_height = (layout->bottom - layout->top) / (double)heat->height;
	if (!values_fit(heat, cell_width, cell_height))
		return;
	for (size_t i = 0; i < heat->width * heat->height; i++) {
		double share = share_of(scale, heat->values[i]);
		char text[32] = "\xE2\x80\x93";
		if (!isnan(share))
			value_text(text, heat->values[i]);
		script_label(script, text,
		             (struct label){.x = layout->left + cell_width * ((double)(i % heat->width) + 0.5),
		                            .y = layout->bottom - cell_height * ((double)(i / heat->width) + 0.5),
		                            .width = CHART_WIDTH,
		                            .anchor = 'c',
		                            .colour = isnan(share)                ? NULL
		                                      : colour_map_is_dark(share) ? "#ffffff"
		                                                                  : "#010101"});
	}
}

static void write_scale(struct script *script, const struct chart_heat *heat, const struct layout *layout,
                        const struct scale *scale) {
	double y = layout->legend_y - 4, left = layout->left, width = layout->right - left, each = width / BAR_CELLS;
	for (int i = 0; i < BAR_CELLS; i++) /* each over the rest: no seams */
		script_rect(script, left + each * i, y, width - each * i, BAR_HEIGHT, colour_map((i + 0.5) / BAR_CELLS));
	for (size_t i = 0; i < scale->axis.tick_count; i++)
		script_label(script, scale->axis.ticks[i].label,
		             (struct label){.x = left + width * axis_place(&scale->axis, scale->axis.ticks[i].at),
		                            .y = y + BAR_HEIGHT + 10,
		                            .width = CHART_WIDTH,
		                            .anchor = 'c'});
	if (heat->value_label)
		script_label(script, heat->value_label,
		             (struct label){.x = left + width / 2,
		                            .y = y + BAR_HEIGHT + 27,
		                            .width = 2 * fmin(left + width / 2, CHART_WIDTH - left - width / 2) - 8,
		                            .anchor = 'c'});
}

static void write_row_names(struct script *script, const struct chart_heat *heat, const struct layout *layout) {
	double each = (layout->bottom - layout->top) / (double)heat->height;
	size_t stride = (size_t)fmax(1, ceil(CHART_FONT * 1.1 / each));
	for (size_t i = 0; i < heat->height; i += stride)
		script_label(
			script, heat->y_names[i],
			(struct label){
				.x = layout->left - 6, .y = layout->bottom - each * ((double)i + 0.5), .width = 112, .anchor = 'r'});
}

void heat_write(struct script *script, const struct chart *chart, const struct layout *layout) {
	const struct chart_heat *heat = chart->heat;
	struct scale scale = scale_fit(heat, layout->right - layout->left);
	write_cells(script, heat, &scale);
	write_row_names(script, heat, layout);
	frame_names(script, layout, heat->x_names, heat->width);
	write_values(script, heat, layout, &scale);
	if (scale.any)
		write_scale(script, heat, layout, &scale);
}
