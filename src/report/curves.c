/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time and speedup over each parameter. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/js.h"
#include "src/report/slice.h"
#include "src/results.h"

enum { NUMBERS_MAX = 4, WORDS_MAX = 3, LINES_MAX = 12, POINTS_MAX = 200, IDEAL_POINTS = 33 };
static const double WIDE = 4, TALL = 20;

struct curves {
	struct report *report;
	const struct report_case *one;
	const struct study *study;
	size_t column, split;
	const char *name; /* of the column */
	struct slice *slices;
	size_t count;
	struct report_scale scale;
	double least, most;
	bool threads;
};

static double number_of(const struct curves *curves, size_t row) {
	return study_number(curves->study, row, curves->column);
}

static double shown_of(const struct curves *curves, size_t row) {
	return report_shown(curves->one, study_row(curves->study, row)->value);
}

/* What a speedup is over: the line's own time with one thread, or the baseline's. NAN: there is none. */
static double base_of(const struct curves *curves, const struct slice *slice) {
	for (size_t i = 0; curves->threads && i < slice->count; i++)
		if (number_of(curves, slice->rows[i]) == 1)
			return study_row(curves->study, slice->rows[i])->value;
	if (curves->threads)
		return NAN;
	size_t baseline = study_baseline(curves->study);
	if (baseline != SIZE_MAX && explain_of_problem((void *)&curves->one->view, curves->study, baseline))
		return study_row(curves->study, baseline)->value;
	return js_real_or(json_object_get(curves->one->result, "baseline"), "median", NAN);
}

/* Lines that have a speedup come first, so that a line looks the same in both charts. */
static void based_first(struct curves *curves) {
	size_t first = 0;
	for (size_t i = 0; i < curves->count; i++) {
		struct slice slice = curves->slices[i];
		if (!(base_of(curves, &slice) > 0))
			continue;
		memmove(&curves->slices[first + 1], &curves->slices[first], (i - first) * sizeof slice);
		curves->slices[first++] = slice;
	}
}

static void range_find(struct curves *curves) {
	curves->least = INFINITY;
	for (size_t s = 0; s < curves->count; s++)
		for (size_t i = 0; i < curves->slices[s].count; i++) {
			double value = shown_of(curves, curves->slices[s].rows[i]);
			curves->least = fmin(curves->least, value);
			curves->most = fmax(curves->most, value);
		}
	curves->scale = report_scale(curves->one, curves->most);
}

/* Place i of the line, of at most POINTS_MAX. */
static size_t thinned(size_t count, size_t i) {
	return count <= POINTS_MAX ? i : i * (count - 1) / (POINTS_MAX - 1);
}

static struct chart_point point_of(const struct curves *curves, const struct slice *slice, size_t i, double base) {
	const struct study_row *row = study_row(curves->study, slice->rows[i]);
	double spread = exp(1.96 * row->deviation);
	double x = study_column(curves->study, curves->column)->numeric ? number_of(curves, slice->rows[i]) : (double)i;
	double y = base > 0 ? base / row->value : report_shown(curves->one, row->value) * curves->scale.factor;
	return (struct chart_point){x, y, y / spread, y * spread};
}

/* base: NAN for times. */
static void series_fill(const struct curves *curves, const struct slice *slice, double base, struct chart_series *series) {
	size_t count = slice->count < POINTS_MAX ? slice->count : POINTS_MAX;
	struct chart_point *points = arena_alloc(curves->report->arena, count + 1, sizeof *points);
	for (size_t i = 0; i < count; i++)
		points[i] = point_of(curves, slice, thinned(slice->count, i), base);
	bool words = !study_column(curves->study, curves->column)->numeric;
	*series = (struct chart_series){slice->name, words ? CHART_BARS : CHART_LINE, points, count};
}

static struct chart chart_of(const struct curves *curves, const char *what) {
	const struct report_case *one = curves->one;
	const struct study_column *column = study_column(curves->study, curves->column);
	double first = number_of(curves, curves->slices[0].rows[0]), last = first;
	for (size_t s = 0; s < curves->count; s++) {
		const struct slice *slice = &curves->slices[s];
		first = fmin(first, number_of(curves, slice->rows[0]));
		last = fmax(last, number_of(curves, slice->rows[slice->count - 1]));
	}
	return (struct chart){
		.title = arena_printf(curves->report->arena, "%s: %s over %s", one->kernel, what, curves->name),
		.x_label = curves->name,
		.x_log = column->numeric && first > 0 && last >= WIDE * first,
	};
}

static const char *lines_words(const struct curves *curves) {
	if (curves->split == SIZE_MAX)
		return "";
	return arena_printf(curves->report->arena, ", a line for each value of %s",
	                    study_column(curves->study, curves->split)->name);
}

static void times_draw(const struct curves *curves) {
	struct report *report = curves->report;
	struct chart_series series[LINES_MAX];
	struct chart chart = chart_of(curves, curves->one->label);
	size_t lines = curves->count < LINES_MAX ? curves->count : LINES_MAX;
	for (size_t i = 0; i < lines; i++)
		series_fill(curves, &curves->slices[i], NAN, &series[i]);
	chart.series = memcpy(arena_alloc(report->arena, lines, sizeof *series), series, lines * sizeof *series);
	chart.series_count = lines;
	chart.y_label = report_axis(report, curves->one, curves->scale);
	chart.y_log = curves->least > 0 && curves->most > TALL * curves->least;
	chart.description = arena_printf(report->arena,
	                                 "The least %s measured at each value of %s, whatever the other parameters were%s; "
	                                 "from %.4g to %.4g %s. Bars are 95 %% intervals.",
	                                 curves->one->label, curves->name, lines_words(curves),
	                                 curves->least * curves->scale.factor, curves->most * curves->scale.factor,
	                                 curves->scale.unit);
	deck_chart(report->deck, arena_printf(report->arena, "%s-%s-%s", curves->one->kernel, curves->name, "time"), &chart);
}

/* Of as many threads, as many times as fast: no straight line where threads are drawn by their logarithm. */
static void ideal_add(const struct curves *curves, struct chart_series *series) {
	double last = 1;
	for (size_t s = 0; s < curves->count; s++)
		last = fmax(last, number_of(curves, curves->slices[s].rows[curves->slices[s].count - 1]));
	struct chart_point *points = arena_alloc(curves->report->arena, IDEAL_POINTS, sizeof *points);
	for (size_t i = 0; i < IDEAL_POINTS; i++) {
		double threads = pow(last, (double)i / (IDEAL_POINTS - 1));
		points[i] = (struct chart_point){threads, threads, NAN, NAN};
	}
	*series = (struct chart_series){"ideal", CHART_BOUND, points, IDEAL_POINTS};
}

static void speedups_draw(const struct curves *curves) {
	struct report *report = curves->report;
	struct chart_series series[LINES_MAX + 1];
	struct chart chart = chart_of(curves, "speedup");
	size_t lines = 0;
	for (size_t i = 0; i < curves->count && lines < LINES_MAX; i++) {
		double base = base_of(curves, &curves->slices[i]);
		if (base > 0)
			series_fill(curves, &curves->slices[i], base, &series[lines++]);
	}
	if (lines == 0) {
		report_absent(report,
		              arena_printf(report->arena, "No speedup over %s can be told: %s.", curves->name,
		                           curves->threads ? "nothing was measured with one thread" : "there is no baseline"),
		              curves->threads ? NULL : report_advice(report, curves->one, "tune", ""));
		return;
	}
	if (curves->threads)
		ideal_add(curves, &series[lines++]);
	chart.series = memcpy(arena_alloc(report->arena, lines, sizeof *series), series, lines * sizeof *series);
	chart.series_count = lines;
	chart.y_label = curves->threads ? "speedup over one thread (x)" : "speedup over the baseline (x)";
	chart.description =
		arena_printf(report->arena, "%s at each value of %s%s%s.", curves->threads ? "Speedup over one thread" : "Speedup over the baseline",
	                 curves->name, lines_words(curves), curves->threads ? "; the bound is as many times as fast as threads" : "");
	deck_chart(report->deck, arena_printf(report->arena, "%s-%s-%s", curves->one->kernel, curves->name, "speedup"), &chart);
}

static int by_value(const void *a, const void *b, void *ctx) {
	const struct study *study = ctx;
	double x = study_row(study, *(const size_t *)a)->value, y = study_row(study, *(const size_t *)b)->value;
	return (x > y) - (x < y);
}

/* Words: a bar each, the best first. */
static void bars_draw(const struct curves *curves) {
	struct report *report = curves->report;
	struct slice *slice = &curves->slices[0];
	struct chart chart = chart_of(curves, curves->one->label);
	const struct study_column *column = study_column(curves->study, curves->column);
	size_t count = slice->count < POINTS_MAX ? slice->count : POINTS_MAX;
	const char **names = arena_alloc(report->arena, count + 1, sizeof *names);
	struct chart_series *series = arena_alloc(report->arena, 1, sizeof *series);
	qsort_r(slice->rows, slice->count, sizeof *slice->rows, by_value, (void *)curves->study);
	slice->count = count;
	for (size_t i = 0; i < count; i++)
		names[i] = slice_level(report, column, study_row(curves->study, slice->rows[i])->place[curves->column]);
	series_fill(curves, slice, NAN, series);
	series->name = NULL;
	chart.x_names = names;
	chart.x_name_count = count;
	chart.x_log = false;
	chart.series = series;
	chart.series_count = 1;
	chart.y_label = report_axis(report, curves->one, curves->scale);
	chart.y_log = curves->least > 0 && curves->most > TALL * curves->least;
	chart.description =
		arena_printf(report->arena, "The least %s measured with each %s, the best first; from %.4g to %.4g %s.",
	                 curves->one->label, curves->name, curves->least * curves->scale.factor,
	                 curves->most * curves->scale.factor, curves->scale.unit);
	deck_chart(report->deck, arena_printf(report->arena, "%s-%s-%s", curves->one->kernel, curves->name, "time"), &chart);
}

static void row_put(const struct curves *curves, struct sheet *sheet, const struct slice *slice, size_t row) {
	const struct study_row *one = study_row(curves->study, row);
	double shown = shown_of(curves, row), spread = exp(1.96 * one->deviation), base = base_of(curves, slice);
	const char *level = slice_level(curves->report, study_column(curves->study, curves->column), one->place[curves->column]);
	sheet_row(sheet);
	if (study_column(curves->study, curves->column)->numeric)
		sheet_number(sheet, number_of(curves, row), "%s", level);
	else
		sheet_text(sheet, "%s", level);
	if (curves->split != SIZE_MAX)
		sheet_text(sheet, "%s", slice->name);
	report_cells(sheet, curves->one, shown, shown / spread, shown * spread);
	sheet_number(sheet, base / one->value, "%.3gx", base / one->value);
	char *config = results_config(one->config, NULL);
	sheet_text(sheet, "%s", config);
	free(config);
}

static void table_put(const struct curves *curves) {
	struct report *report = curves->report;
	const struct study_column *column = study_column(curves->study, curves->column);
	const char *titles[9] = {arena_printf(report->arena, "%s%s", column->numeric ? "\1" : "", curves->name)};
	struct sheet sheet;
	size_t at = 1;
	if (curves->split != SIZE_MAX)
		titles[at++] = study_column(curves->study, curves->split)->name;
	titles[at++] = arena_printf(report->arena, "\1%s", curves->one->label);
	titles[at++] = "\1interval";
	titles[at++] = curves->threads ? "\1speedup over 1 thread" : "\1speedup over the baseline";
	titles[at++] = "\2configuration";
	deck_numbers_begin(report->deck, arena_printf(report->arena, "numbers: %s over %s", curves->one->label, curves->name));
	sheet_begin(&sheet, report->html, arena_printf(report->arena, "Least %s at each value of %s", curves->one->label, curves->name),
	            titles);
	for (size_t s = 0; s < curves->count; s++)
		for (size_t i = 0; i < curves->slices[s].count && i < POINTS_MAX; i++)
			row_put(curves, &sheet, &curves->slices[s], curves->slices[s].rows[thinned(curves->slices[s].count, i)]);
	sheet_end(&sheet);
	deck_numbers_end(report->deck);
}

static bool curves_make(struct curves *curves, struct report *report, const struct report_case *one, size_t column) {
	const struct study_column *about = study_column(one->view.study, column);
	*curves = (struct curves){.report = report,
	                          .one = one,
	                          .study = one->view.study,
	                          .column = column,
	                          .split = about->numeric ? slice_split(one, column) : SIZE_MAX,
	                          .name = about->name,
	                          .threads = strcmp(about->name, "threads") == 0};
	curves->count = slice_make(report, one, column, curves->split, &curves->slices);
	if (curves->count == 0)
		return false;
	based_first(curves);
	range_find(curves);
	return true;
}

static void number_put(const struct curves *curves) {
	struct html *html = curves->report->html;
	html_begin(html, "div", "class", "figures", NULL);
	times_draw(curves);
	speedups_draw(curves);
	html_end(html);
	table_put(curves);
	if (curves->count > LINES_MAX)
		html_element(html, "p", "note", "The charts have the %d fastest lines of %zu; the table has all.", LINES_MAX,
		             curves->count);
}

/* Side by side: bars take less room. */
static void words_put(const struct curves *words, size_t count) {
	struct html *html = words->report->html;
	html_begin(html, "div", "class", "figures", NULL);
	for (size_t i = 0; i < count; i++)
		bars_draw(&words[i]);
	html_end(html);
	for (size_t i = 0; i < count; i++)
		table_put(&words[i]);
}

/* Threads before everything else. */
static void threads_first(const struct study *study, size_t *columns, size_t count) {
	for (size_t i = 1; i < count; i++)
		if (strcmp(study_column(study, columns[i])->name, "threads") == 0) {
			size_t threads = columns[i];
			memmove(columns + 1, columns, i * sizeof *columns);
			columns[0] = threads;
		}
}

void report_curves(struct report *report, const struct report_case *one) {
	const struct study *study = one->view.study;
	size_t columns[STUDY_COLUMNS_MAX], count = slice_params(one, columns), numbers = 0, left = 0, words = 0;
	struct curves curves[WORDS_MAX + 1];
	report_heading(report, "Over each parameter");
	if (count == 0) {
		report_absent(report, "Only one value of each parameter was measured on this problem: there is nothing to draw. This measures more:",
		              report_advice(report, one, "sweep", "--over threads"));
		return;
	}
	threads_first(study, columns, count);
	for (size_t i = 0; i < count; i++) {
		bool numeric = study_column(study, columns[i])->numeric;
		if (numeric ? numbers++ >= NUMBERS_MAX : left++ >= WORDS_MAX)
			continue;
		if (curves_make(&curves[words], report, one, columns[i]) && numeric)
			number_put(&curves[words]);
		else
			words += curves[words].count > 0;
	}
	if (words)
		words_put(curves, words);
	if (numbers > NUMBERS_MAX || left > WORDS_MAX)
		html_element(report->html, "p", "note", "Parameters that mattered less are only in the tables below.");
}
