/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the roofline (Williams, Waterman, Patterson 2009; see src/cmd/explain/roofline.h) with the measured ceilings.
 */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"

enum { SERIES_MAX = 12 };
static const double GIGA = 1e9, AROUND = 8;

struct roof {
	struct report *report;
	const json_t *winner, *baseline;
	struct chart chart;
	double left, right, peak; /* peak: the highest one, INFINITY if none is known */
};

static bool is_bandwidth(const json_t *one) {
	return strcmp(js_string_or(one, "unit", ""), "GB/s") == 0;
}

static void range_extend(struct roof *roof, const json_t *position) {
	double intensity = js_real_or(position, "intensity", NAN);
	if (!(intensity > 0))
		return;
	roof->left = fmin(roof->left, intensity / AROUND);
	roof->right = fmax(roof->right, intensity * AROUND);
}

/* Finds the highest peak, and widens the chart to show where each memory level reaches it. */
static void peak_find(struct roof *roof, const json_t *roofs) {
	double most = 0;
	js_each (one, roofs)
		if (!is_bandwidth(one))
			most = fmax(most, js_real_or(one, "value", 0));
	roof->peak = most > 0 ? most : INFINITY;
	js_each (one, roofs) {
		double ridge = roof->peak / js_real_or(one, "value", NAN);
		if (is_bandwidth(one) && ridge > 0 && isfinite(ridge))
			roof->left = fmin(roof->left, 0.5 * ridge);
	}
}

/* A bandwidth is a slope up to the highest peak; a peak is a horizontal line. */
static void bound_add(struct roof *roof, const json_t *one) {
	double value = js_real_or(one, "value", NAN), end = fmin(roof->right, roof->peak / value);
	const char *level = js_string_or(one, "level", NULL);
	const char *name = arena_printf(roof->report->arena, "%s%s%s, %.3g %s", js_string_or(one, "name", "?"),
	                                level ? " " : "", level ? level : "", value, js_string_or(one, "unit", ""));
	bool slopes = is_bandwidth(one);
	if (!(value > 0) || (slopes && !(end > roof->left)) || roof->chart.series_count + 2 > SERIES_MAX)
		return;
	struct chart_series *line = chart_line(roof->report->arena, &roof->chart, name, CHART_BOUND, 2);
	chart_dot(line, roof->left, slopes ? value * roof->left : value, NAN, NAN);
	chart_dot(line, slopes ? end : roof->right, slopes ? value * end : value, NAN, NAN);
}

static void point_add(struct roof *roof, const json_t *position, const char *name) {
	double x = js_real_or(position, "intensity", NAN), y = js_real_or(position, "ops_per_s", NAN) / GIGA;
	if (x > 0 && y > 0)
		chart_dot(chart_line(roof->report->arena, &roof->chart, name, CHART_POINTS, 1), x, y, NAN, NAN);
}

static void roof_draw(struct roof *roof, const struct report_section *section) {
	struct report *report = roof->report;
	const json_t *roofs = json_object_get(roof->winner, "roofs");
	const char *op = js_string_or(roof->winner, "op", "operation");
	roof->left = INFINITY;
	range_extend(roof, roof->winner);
	range_extend(roof, roof->baseline);
	peak_find(roof, roofs);
	js_each (each, roofs)
		bound_add(roof, each);
	if (roof->chart.series_count == 0 || !(roof->right > 0))
		return;
	point_add(roof, roof->winner, "winner");
	point_add(roof, roof->baseline, "baseline");
	roof->chart.title = report_title(report, section, NULL, "roofline");
	roof->chart.x_label = arena_printf(report->arena, "intensity (%ss per byte)", op);
	roof->chart.y_label = arena_printf(report->arena, "rate (G %ss/s)", op);
	roof->chart.description = arena_printf(
		report->arena,
		"Roofline: the winner does %.3g billion %ss per second at %.3g per byte; the lines are measured ceilings.",
		js_real_or(roof->winner, "ops_per_s", NAN) / GIGA, op, js_real_or(roof->winner, "intensity", NAN));
	roof->chart.x_log = roof->chart.y_log = true;
	report_figure(report, section, "roofline", &roof->chart);
}

static void positions_table(const struct roof *roof) {
	const char *op = js_string_or(roof->winner, "op", "operation");
	struct report *report = roof->report;
	const struct column columns[] = {
		COLUMN("", "0"),
		NUMBER(arena_printf(report->arena, "\1%ss per byte", op), "1.intensity", "%.4g", 1),
		NUMBER(arena_printf(report->arena, "\1G %ss/s", op), "1.ops_per_s", "%.4g", 1 / GIGA),
		NUMBER("\1minimum GB/s", "1.bytes_per_s", "%.4g", 1 / GIGA),
		NUMBER("\1counted GB/s", "1.counted_bytes_per_s", "%.4g", 1 / GIGA),
		{0}};
	js_auto json_t *rows = json_array();
	if (roof->winner)
		json_array_append_new(rows, json_pack("[s,O]", "winner", roof->winner));
	if (roof->baseline)
		json_array_append_new(rows, json_pack("[s,O]", "baseline", roof->baseline));
	html_rows(report->html, NULL, "Winner and baseline", columns, rows);
}

static void roofs_table(const struct roof *roof) {
	static const struct column columns[] = {COLUMN("ceiling", "name", .absent = "?"),
	                                        COLUMN("level", "level"),
	                                        NUMBER("\1value", "value", "%.4g", 1),
	                                        COLUMN("unit", "unit", .absent = ""),
	                                        NUMBER("\1reached by the winner", "share", "%.3g %%", 100),
	                                        {0}};
	html_rows(roof->report->html, NULL, "Measured ceilings", columns, json_object_get(roof->winner, "roofs"));
}

void report_roofline(struct report *report, const struct report_section *section) {
	const json_t *roofline = json_object_get(section->result, "roofline");
	report_heading(report, "Roofline");
	if (!json_is_object(roofline)) {
		report_absent(report,
		              strcmp(section->objective, "time") == 0
		                  ? "This kernel does not report its number of operations, so the roofline is missing."
		                  : "A roofline needs times, but this objective is not a time.",
		              NULL);
		return;
	}
	struct roof roof = {.report = report,
	                    .winner = json_object_get(roofline, "winner"),
	                    .baseline = json_object_get(roofline, "baseline")};
	const char *missing = js_string_or(roofline, "missing", NULL);
	if (missing)
		report_absent(
			report,
			arena_printf(report->arena, "The roofline is incomplete because %s. This command measures them:", missing),
			js_string_or(roofline, "next", NULL));
	roof_draw(&roof, section);
	html_put(report->html, "<details><summary>numbers: roofline</summary>");
	positions_table(&roof);
	roofs_table(&roof);
	html_put(report->html, "</details>");
}
