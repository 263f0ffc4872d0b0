/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions of a GPU kernel in the winner: what each takes and what bounds it, and the roofline of instructions
 * with a dot for each (Ding and Williams, An instruction roofline model for GPUs, 2019). */
#include <config.h>

#include <math.h>

#include "base/json/js.h"
#include "src/cmd/report/report.h"
#include "src/ui/ui.h"
#include "tuner/bound/function.h"

enum { FUNCTIONS_MAX = 10, BOUNDS = 2 };
static const double GIGA = 1e9, AROUND = 8;

static void functions_table(struct report *report, const json_t *functions) {
	static const char *const titles[] = {
		"function", "\1launches", "\1of the GPU's time", "\1each", "\1SMs", "\1memory", "\1warps", "stalls",
		"\2",       NULL};
	struct html_table table;
	struct gpu_hot hot;
	char words[GPU_HOT_WORDS], stalls[100], each[32];
	size_t i;
	json_t *row;
	html_table_begin(&table, report->html, "Functions of the winner; SMs, memory and warps in % of their peak", titles);
	json_array_foreach((json_t *)functions, i, row) {
		if (!gpu_function_judge(functions, row, &hot))
			continue;
		gpu_hot_words(&hot, words, sizeof words);
		gpu_stalls_words(&hot, stalls, sizeof stalls);
		ui_seconds(hot.mean_s, each, sizeof each);
		html_table_row(&table);
		html_table_text(&table, "%s", hot.name);
		html_table_number(&table, hot.launches, "%.0f", hot.launches);
		html_table_number(&table, hot.share, "%.1f %%", 100 * hot.share);
		html_table_number(&table, hot.mean_s, "%s", each);
		html_table_number(&table, hot.sm, "%.0f %%", hot.sm);
		html_table_number(&table, hot.memory, "%.0f %%", hot.memory);
		html_table_number(&table, hot.warps, "%.0f %%", hot.warps);
		html_table_text(&table, "%s", stalls);
		html_table_text(&table, "%s", words);
	}
	html_table_end(&table);
}

struct dots {
	struct chart_series series[FUNCTIONS_MAX + BOUNDS];
	struct chart_point points[FUNCTIONS_MAX], slope[2], flat[2];
	double left, right, most, bytes_most;
	size_t count;
};

/* Peaks are the same for all functions up to rounding, which is worst for those that do little. */
static void dots_find(struct dots *dots, const json_t *functions) {
	size_t i;
	json_t *row;
	json_array_foreach((json_t *)functions, i, row) {
		struct gpu_dot dot;
		if (dots->count == FUNCTIONS_MAX || !gpu_dot_find(row, &dot))
			continue;
		struct chart_point *point = &dots->points[dots->count];
		*point = (struct chart_point){dot.per_byte, dot.per_s / GIGA, NAN, NAN};
		dots->series[BOUNDS + dots->count++] =
			(struct chart_series){js_string_or(row, "name", "?"), CHART_POINTS, point, 1};
		dots->left = fmin(dots->left, dot.per_byte / AROUND);
		dots->right = fmax(dots->right, dot.per_byte * AROUND);
		dots->most = isfinite(dot.per_s_peak) ? fmax(dots->most, dot.per_s_peak / GIGA) : dots->most;
		dots->bytes_most =
			isfinite(dot.bytes_per_s_peak) ? fmax(dots->bytes_most, dot.bytes_per_s_peak / GIGA) : dots->bytes_most;
	}
}

static void bounds_add(struct arena *arena, struct dots *dots) {
	double ridge = dots->most / dots->bytes_most;
	dots->left = fmin(dots->left, ridge / 2);
	dots->right = fmax(dots->right, ridge * 2);
	dots->slope[0] = (struct chart_point){dots->left, dots->left * dots->bytes_most, NAN, NAN};
	dots->slope[1] = (struct chart_point){ridge, dots->most, NAN, NAN};
	dots->flat[0] = (struct chart_point){dots->left, dots->most, NAN, NAN};
	dots->flat[1] = (struct chart_point){dots->right, dots->most, NAN, NAN};
	dots->series[0] = (struct chart_series){arena_printf(arena, "the GPU's memory, %.0f GB/s", dots->bytes_most),
	                                        CHART_BOUND, dots->slope, 2};
	dots->series[1] = (struct chart_series){arena_printf(arena, "instructions of warps, %.0f G/s", dots->most),
	                                        CHART_BOUND, dots->flat, 2};
}

static void dots_draw(struct report *report, const struct report_section *section, const json_t *functions) {
	struct dots *dots = arena_alloc(report->arena, 1, sizeof *dots); /* in the arena because the chart points into it */
	*dots = (struct dots){.left = INFINITY};
	dots_find(dots, functions);
	if (dots->count == 0 || !(dots->most > 0) || !(dots->bytes_most > 0))
		return;
	bounds_add(report->arena, dots);
	const struct chart chart = {
		.title = report_title(report, section, NULL, "functions"),
		.x_label = "intensity (instructions of warps per byte)",
		.y_label = "rate (G instructions/s)",
		.description = "The roofline of instructions with a dot for each function; the lines are the GPU's peaks.",
		.x_log = true,
		.y_log = true,
		.series = dots->series,
		.series_count = BOUNDS + dots->count,
	};
	html_begin(report->html, "div", "class", "figures", NULL);
	charts_add(report->charts, arena_printf(report->arena, "%s-functions", section->kernel), &chart);
	html_end(report->html);
}

void report_functions(struct report *report, const struct report_section *section) {
	const struct study *study = section->view.study;
	size_t winner = study ? study_winner(study) : SIZE_MAX;
	const json_t *functions =
		winner == SIZE_MAX ? NULL : json_object_get(study_row(study, winner)->counted, "functions");
	struct gpu_hot hot;
	if (!gpu_hot_find(functions, &hot))
		return;
	report_heading(report, "Functions of the GPU");
	dots_draw(report, section, functions);
	charts_numbers_begin(report->charts, "numbers: functions");
	functions_table(report, functions);
	charts_numbers_end(report->charts);
}
