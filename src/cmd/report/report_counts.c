/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counters and metrics of winner and baseline, and why some are missing; functions of a GPU. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"
#include "src/show/counters.h"
#include "tuner/bound/function.h"

enum { NAME_MAX_SHOWN = 160 };

/* The reason why a value is missing, else how it was obtained unless it was simply counted. */
static const char *note_of(const json_t *row) {
	const char *reason = js_string_or(row, "reason", NULL), *status = js_string_or(row, "status", "");
	if (reason && *reason)
		return reason;
	return strcmp(status, "counted") == 0 ? "" : status;
}

static void value_put(struct html_table *table, const json_t *row, const char *unit) {
	double value = js_real_or(row, "value", NAN);
	html_table_number(table, value, "%s", counters_value(value, unit).text);
}

static void row_put(struct html_table *table, const json_t *row, const json_t *other) {
	const char *group = js_string_or(row, "group", ""), *unit = js_string_or(row, "unit", "");
	double to = js_real_or(row, "value", NAN), from = js_real_or(other, "value", NAN);
	double ratio = from > 0 ? to / from : NAN;
	html_table_row(table);
	html_table_text(table, "%.*s", NAME_MAX_SHOWN, js_string_or(row, "name", "?"));
	html_table_text(table, "%s", group);
	html_table_text(table, "%s", *unit ? unit : "-");
	value_put(table, other, unit);
	value_put(table, row, unit);
	html_table_number(table, ratio, "%.3gx", ratio);
	html_table_text(table, "%s", *note_of(row) ? note_of(row) : other ? note_of(other) : "");
}

static size_t rows_put(struct html_table *table, const json_t *winner, const json_t *baseline, const char *key) {
	size_t count = 0;
	js_each (row, json_object_get(winner, key)) {
		row_put(table, row, counters_row(json_object_get(baseline, key), row));
		count++;
	}
	return count;
}

static bool has_counts(const json_t *side) {
	return json_array_size(json_object_get(side, "counters")) || json_array_size(json_object_get(side, "metrics"));
}

/* The counters of "best" or "baseline": those of tune, or of its row of the study if tune did not count. Borrowed. */
static const json_t *counted_of(const struct report_section *section, const char *member) {
	const json_t *side = json_object_get(section->tune, member);
	if (has_counts(side) || !section->result)
		return side;
	const json_t *shown = json_object_get(section->result, strcmp(member, "best") == 0 ? "winner" : member);
	size_t row = explain_row_of(&section->view, json_object_get(shown, "config"));
	return row == SIZE_MAX ? side : study_row(section->view.study, row)->counted;
}

/* The counters that vary with the time. */
static void drivers_put(struct report *report, const json_t *drivers) {
	static const struct column columns[] = {COLUMN("counter", "counter", .absent = "?"),
	                                        NUMBER("\1share explained", "share", "%.3g %%", 100),
	                                        NUMBER("\1from", "share_ci.0", "%.3g %%", 100),
	                                        NUMBER("\1to", "share_ci.1", "%.3g %%", 100),
	                                        COLUMN("significant", "significant", .words = {"no", "yes"}),
	                                        {0}};
	html_rows(report->html, "counters that vary with the time",
	          "Share of the time difference that each counter explains", columns, json_object_get(drivers, "counters"));
}

/* The functions of a GPU kernel in the winner: what each takes and what bounds it, and the roofline of instructions
 * with a dot for each (Ding and Williams, An instruction roofline model for GPUs, 2019). */
enum { FUNCTIONS_MAX = 10 };
static const double GIGA = 1e9, AROUND = 8;

static void functions_table(struct report *report, const json_t *functions) {
	static const char *const titles[] = {
		"function", "\1launches", "\1of the GPU's time", "\1each", "\1SMs", "\1memory", "\1warps", "stalls",
		"\2limit",  NULL};
	struct gpu_hot hot;
	char words[GPU_HOT_WORDS], stalls[100];
	struct html_table table =
		html_table_begin(report->html, "numbers: functions",
	                     "Functions of the winner; SMs, memory and warps in % of their peak", titles);
	js_each (row, functions) {
		if (!gpu_function_judge(functions, row, &hot))
			continue;
		gpu_hot_words(&hot, words, sizeof words);
		gpu_stalls_words(&hot, stalls, sizeof stalls);
		html_table_row(&table);
		html_table_text(&table, "%s", hot.name);
		html_table_number(&table, hot.launches, "%.0f", hot.launches);
		html_table_number(&table, hot.share, "%.1f %%", 100 * hot.share);
		html_table_number(&table, hot.mean_s, "%s", ui_seconds(hot.mean_s).text);
		html_table_number(&table, hot.sm, "%.0f %%", hot.sm);
		html_table_number(&table, hot.memory, "%.0f %%", hot.memory);
		html_table_number(&table, hot.warps, "%.0f %%", hot.warps);
		html_table_text(&table, "%s", stalls);
		html_table_text(&table, "%s", words);
	}
	html_table_end(&table);
}

/* Peaks are the same for all functions up to rounding, which is worst for those that do little. */
static void dots_draw(struct report *report, const struct report_section *section, const json_t *functions) {
	struct chart chart = {
		.title = report_title(report, section, NULL, "functions"),
		.x_label = "intensity (instructions of warps per byte)",
		.y_label = "rate (G instructions/s)",
		.description = "The roofline of instructions with a dot for each function; the lines are the GPU's peaks.",
		.x_log = true,
		.y_log = true,
	};
	struct chart_series *slope = chart_line(report->arena, &chart, NULL, CHART_BOUND, 2);
	double left = INFINITY, right = 0, most = 0, bytes = 0;
	size_t count = 0;
	struct gpu_dot dot;
	js_each (row, functions)
		if (count < FUNCTIONS_MAX && gpu_dot_find(row, &dot)) {
			left = fmin(left, dot.per_byte / AROUND);
			right = fmax(right, dot.per_byte * AROUND);
			most = isfinite(dot.per_s_peak) ? fmax(most, dot.per_s_peak / GIGA) : most;
			bytes = isfinite(dot.bytes_per_s_peak) ? fmax(bytes, dot.bytes_per_s_peak / GIGA) : bytes;
			count++;
		}
	if (count == 0 || !(most > 0) || !(bytes > 0))
		return;
	double ridge = most / bytes;
	left = fmin(left, ridge / 2);
	right = fmax(right, ridge * 2);
	slope->name = arena_printf(report->arena, "the GPU's memory, %.0f GB/s", bytes);
	chart_dot(slope, left, left * bytes, NAN, NAN);
	chart_dot(slope, ridge, most, NAN, NAN);
	struct chart_series *flat = chart_line(
		report->arena, &chart, arena_printf(report->arena, "instructions of warps, %.0f G/s", most), CHART_BOUND, 2);
	chart_dot(flat, left, most, NAN, NAN);
	chart_dot(flat, right, most, NAN, NAN);
	js_each (row, functions)
		if (count > 0 && gpu_dot_find(row, &dot)) {
			chart_dot(chart_line(report->arena, &chart, js_string_or(row, "name", "?"), CHART_POINTS, 1), dot.per_byte,
			          dot.per_s / GIGA, NAN, NAN);
			count--;
		}
	report_figure(report, section, "functions", &chart);
}

/* Nothing unless the functions of a GPU were counted. */
static void functions_put(struct report *report, const struct report_section *section) {
	const struct study *study = section->view.study;
	size_t winner = study ? study_winner(study) : SIZE_MAX;
	const json_t *functions =
		winner == SIZE_MAX ? NULL : json_object_get(study_row(study, winner)->counted, "functions");
	struct gpu_hot hot;
	if (!gpu_hot_find(functions, &hot))
		return;
	report_heading(report, "Functions of the GPU");
	dots_draw(report, section, functions);
	functions_table(report, functions);
}

/* Draws the roofline (Williams, Waterman, Patterson 2009; see src/cmd/explain/result.c) with the measured ceilings.
 */
enum { SERIES_MAX = 12 };

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
		COLUMN("setting", "0"),
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

static void report_roofline(struct report *report, const struct report_section *section) {
	const json_t *roofline = json_object_get(section->result, "roofline");
	if (!json_is_object(roofline))
		return;
	report_heading(report, "Roofline");
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

static void counters_put(struct report *report, const struct report_section *section) {
	static const char *const titles[] = {"counter",  "group",   "unit",   "\1baseline",
	                                     "\1winner", "\1ratio", "\2note", NULL};
	const json_t *winner = counted_of(section, "best"), *baseline = counted_of(section, "baseline");
	const json_t *counting = json_object_get(section->tune, "counting");
	if (section->result) {
		report_roofline(report, section);
		functions_put(report, section);
	}
	report_heading(report, "Counters");
	if (!has_counts(winner)) {
		report_absent(
			report,
			report_is_program(section)
				? "No counters were recorded for the winner. This command records them if its budget is long enough:"
				: "No counters were recorded for the winner. This command records those that this machine supports "
				  "(`sweetspot doctor` lists them):",
			report_advice(report, section, "tune", "--counters SOFTWARE"));
		return;
	}
	if (counting && !js_bool_or(counting, "hardware", true))
		report_absent(
			report,
			"Hardware counters are not available here. This command gives the reason, and explains how to enable them:",
			"sweetspot doctor");
	struct html_table table =
		html_table_begin(report->html, NULL, "Baseline and winner, counted in separate runs", titles);
	rows_put(&table, winner, baseline, "metrics");
	rows_put(&table, winner, baseline, "counters");
	html_table_end(&table);
	drivers_put(report, json_object_get(section->result, "drivers"));
}

const struct report_part report_counters = {REPORT_STORED, counters_put};
