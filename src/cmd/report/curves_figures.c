/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws efficiency over threads, and the rates that kernels report: throughput, nanoseconds an operation. */
#include <config.h>

#include "src/cmd/report/curves.h"

#include <math.h>
#include <string.h>

#include "base/json/js.h"

enum { RATES_MAX = 2 };

struct rate {
	const char *name, *unit;
};

typedef double value_of(const struct curves *curves, const struct slice *slice, size_t row, const void *ctx);

/* Lines of another quantity than the time, over the same rows; false if none has two points. serial: the value of the
 * serial code, or NAN. */
static bool lines_fill(const struct curves *curves, value_of *value, const void *ctx, double serial,
                       struct chart *chart) {
	struct arena *arena = curves->report->arena;
	struct chart_series *series = arena_alloc(arena, CURVES_LINES + 1, sizeof *series);
	size_t lines = 0;
	for (size_t s = 0; s < curves->count && lines < CURVES_LINES; s++) {
		const struct slice *slice = &curves->slices[s];
		struct chart_point *points = arena_alloc(arena, slice->count + 1, sizeof *points);
		size_t count = 0;
		for (size_t i = 0; i < slice->count && count < CURVES_POINTS; i++) {
			double y = value(curves, slice, slice->rows[i], ctx);
			if (isfinite(y))
				points[count++] = (struct chart_point){curves_number(curves, slice->rows[i]), y, NAN, NAN};
		}
		if (count > 1)
			series[lines++] = (struct chart_series){slice->name, CHART_LINE, points, count};
	}
	bool some = lines > 0;
	if (some && isfinite(serial))
		series[lines++] = curves_serial_line(curves, serial);
	chart->series = series;
	chart->series_count = lines;
	return some;
}

static double efficiency(const struct curves *curves, const struct slice *slice, size_t row, const void *ctx) {
	(void)ctx;
	return 100 * curves_one(curves, slice) / study_row(curves->study, row)->value / curves_number(curves, row);
}

void curves_efficiency(const struct curves *curves) {
	struct chart chart = curves_chart(curves, "strong scaling efficiency");
	if (!lines_fill(curves, efficiency, NULL, NAN, &chart))
		return;
	chart.y_label = "efficiency (%)";
	chart.description =
		arena_printf(curves->report->arena, "Strong scaling: the speedup over %s divided by the number of %s.",
	                 curves->one, curves->name);
	charts_add(curves->report->charts,
	           arena_printf(curves->report->arena, "%s-%s-efficiency", curves->section->kernel, curves->name), &chart);
}

static double rate_value(const struct curves *curves, const struct slice *slice, size_t row, const void *ctx) {
	const struct rate *rate = ctx;
	(void)slice;
	return study_figure(curves->study, row, rate->name);
}

static bool is_rate(const json_t *figure) {
	const char *name = js_string_or(figure, "name", ""), *unit = js_string_or(figure, "unit", "");
	const char *slash = strrchr(unit, '/');
	return (slash && strcmp(slash, "/s") == 0) || (strncmp(name, "ns_per_", 7) == 0 && strcmp(unit, "ns") == 0);
}

static size_t rates_find(const struct curves *curves, struct rate *rates) {
	size_t i, count = 0;
	json_t *figure;
	json_array_foreach(json_object_get(study_row(curves->study, curves->slices[0].rows[0])->detail, "figures"), i,
	                   figure) {
		if (count < RATES_MAX && is_rate(figure))
			rates[count++] = (struct rate){js_string_or(figure, "name", ""), js_string_or(figure, "unit", "")};
	}
	return count;
}

void curves_rates(const struct curves *curves) {
	struct arena *arena = curves->report->arena;
	struct rate rates[RATES_MAX];
	size_t count = rates_find(curves, rates);
	for (size_t i = 0; i < count; i++) {
		struct chart chart = curves_chart(curves, rates[i].name);
		double serial = curves->serial == SIZE_MAX ? NAN : study_figure(curves->study, curves->serial, rates[i].name);
		if (!lines_fill(curves, rate_value, &rates[i], serial, &chart))
			continue;
		chart.y_label = arena_printf(arena, "%s (%s)", rates[i].name, rates[i].unit);
		chart.description = arena_printf(arena, "%s of the configurations with the best %s at each value of %s.",
		                                 rates[i].name, curves->section->label, curves->name);
		charts_add(curves->report->charts,
		           arena_printf(arena, "%s-%s-%s", curves->section->kernel, curves->name, rates[i].name), &chart);
	}
}
