/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws time and speedup over a parameter. */
#include "src/cmd/report/curves_impl.h"

#include <math.h>

#include "base/json/js.h"

enum { IDEAL_POINTS = 33 };
static const double WIDE = 4, TALL = 20, IDEAL_MOST = 4;

static struct chart_point point_of(const struct curves *curves, const struct slice *slice, size_t i, double base) {
	const struct study_row *row = study_row(curves->study, slice->rows[i]);
	double spread = exp(1.96 * row->deviation);
	double x = study_column(curves->study, curves->column)->numeric ? curves_number(curves, slice->rows[i]) : (double)i;
	double y = base > 0 ? base / row->value : report_shown(curves->section, row->value) * curves->scale.factor;
	return (struct chart_point){x, y, y / spread, y * spread};
}

/* base: the reference time of a speedup; NAN to plot times. */
static void series_fill(const struct curves *curves, const struct slice *slice, double base,
                        struct chart_series *series) {
	size_t count = slice->count < CURVES_POINTS ? slice->count : CURVES_POINTS;
	struct chart_point *points = arena_alloc(curves->report->arena, count + 1, sizeof *points);
	for (size_t i = 0; i < count; i++)
		points[i] = point_of(curves, slice, curves_thinned(slice->count, i), base);
	bool words = !study_column(curves->study, curves->column)->numeric;
	*series = (struct chart_series){slice->name, words ? CHART_BARS : CHART_LINE, points, count};
}

/* The winner at this place across, with the recommended value; NULL: it has no place. */
static const struct chart_mark *winner_at(const struct curves *curves, double x) {
	double median = js_real_or(curves->section->entry, "median", NAN);
	if (isnan(x) || isnan(median))
		return NULL;
	struct chart_mark *mark = arena_alloc(curves->report->arena, 1, sizeof *mark);
	*mark = (struct chart_mark){x, median * curves->scale.factor};
	return mark;
}

struct chart curves_chart(const struct curves *curves, const char *what) {
	const struct report_section *section = curves->section;
	const struct study_column *column = study_column(curves->study, curves->column);
	double first = curves_number(curves, curves->slices[0].rows[0]), last = first;
	for (size_t s = 0; s < curves->count; s++) {
		const struct slice *slice = &curves->slices[s];
		first = fmin(first, curves_number(curves, slice->rows[0]));
		last = fmax(last, curves_number(curves, slice->rows[slice->count - 1]));
	}
	return (struct chart){
		.title = report_title(curves->report, section, NULL,
	                          arena_printf(curves->report->arena, "%s by %s", what, curves->name)),
		.x_label = curves->name,
		.x_log = column->numeric && first > 0 && last >= WIDE * first,
	};
}

static const char *lines_words(const struct curves *curves) {
	if (curves->split == SIZE_MAX)
		return "";
	return arena_printf(curves->report->arena, ", with one line for each value of %s",
	                    study_column(curves->study, curves->split)->name);
}

static const char *serial_name(const struct curves *curves) {
	return curves->serial == SIZE_MAX ? "serial code on the CPU" : "serial";
}

struct chart_series curves_serial_line(const struct curves *curves, double value) {
	double first = curves->threads ? 1 : INFINITY, last = first;
	for (size_t s = 0; s < curves->count; s++) {
		const struct slice *slice = &curves->slices[s];
		first = fmin(first, curves_number(curves, slice->rows[0]));
		last = fmax(isfinite(last) ? last : 0, curves_number(curves, slice->rows[slice->count - 1]));
	}
	struct chart_point *points = arena_alloc(curves->report->arena, 2, sizeof *points);
	points[0] = (struct chart_point){first, value, NAN, NAN};
	points[1] = (struct chart_point){last, value, NAN, NAN};
	return (struct chart_series){serial_name(curves), CHART_BOUND, points, 2};
}

void curves_times(const struct curves *curves) {
	struct report *report = curves->report;
	struct chart_series series[CURVES_LINES + 1];
	struct chart chart = curves_chart(curves, curves->section->label);
	size_t lines = curves->count < CURVES_LINES ? curves->count : CURVES_LINES;
	for (size_t i = 0; i < lines; i++)
		series_fill(curves, &curves->slices[i], NAN, &series[i]);
	if (isfinite(curves->serial_time))
		series[lines++] =
			curves_serial_line(curves, report_shown(curves->section, curves->serial_time) * curves->scale.factor);
	chart.series = memcpy(arena_alloc(report->arena, lines, sizeof *series), series, lines * sizeof *series);
	chart.series_count = lines;
	size_t winner = slice_winner(curves->section);
	chart.winner = winner_at(curves, winner == SIZE_MAX ? NAN : curves_number(curves, winner));
	chart.y_label = report_axis(report, curves->section, curves->scale);
	chart.y_log = curves->least > 0 && curves->most > TALL * curves->least;
	chart.description =
		arena_printf(report->arena,
	                 "The best %s measured at each value of %s over all values of the other parameters%s; "
	                 "from %.4g to %.4g %s. Error bars are 95 %% intervals.",
	                 curves->section->label, curves->name, lines_words(curves), curves->least * curves->scale.factor,
	                 curves->most * curves->scale.factor, curves->scale.unit);
	report_chart(report, curves->section, arena_printf(report->arena, "%s-time", curves->name), &chart);
}

/* The largest speedup of the lines. */
static double most_of(const struct chart_series *series, size_t lines) {
	double most = 1;
	for (size_t s = 0; s < lines; s++)
		for (size_t i = 0; i < series[s].count; i++)
			most = fmax(most, series[s].points[i].y);
	return most;
}

/* Ideal speedup equals the number of threads. It needs many points because it is a curve on a logarithmic axis. Where
 * speedups are far below, it ends early, so that they can be told apart. */
static void ideal_add(const struct curves *curves, double most, struct chart_series *series) {
	double last = 1;
	for (size_t s = 0; s < curves->count; s++)
		last = fmax(last, curves_number(curves, curves->slices[s].rows[curves->slices[s].count - 1]));
	last = fmin(last, IDEAL_MOST * most);
	struct chart_point *points = arena_alloc(curves->report->arena, IDEAL_POINTS, sizeof *points);
	for (size_t i = 0; i < IDEAL_POINTS; i++) {
		double threads = pow(last, (double)i / (IDEAL_POINTS - 1));
		points[i] = (struct chart_point){threads, threads, NAN, NAN};
	}
	*series = (struct chart_series){"ideal", CHART_BOUND, points, IDEAL_POINTS};
}

void curves_speedups(const struct curves *curves) {
	struct report *report = curves->report;
	struct chart_series series[CURVES_LINES + 1];
	struct chart chart = curves_chart(curves, "speedup");
	size_t lines = 0;
	for (size_t i = 0; i < curves->count && lines < CURVES_LINES; i++) {
		double base = curves_base(curves, &curves->slices[i]);
		if (base > 0)
			series_fill(curves, &curves->slices[i], base, &series[lines++]);
	}
	if (lines == 0) {
		report_absent(report,
		              arena_printf(report->arena, "The speedup over %s is unknown: %s.", curves->name,
		                           curves->threads
		                               ? arena_printf(report->arena, "nothing was measured with %s", curves->one)
		                               : "there is no baseline"),
		              curves->threads ? NULL : report_advice(report, curves->section, "tune", ""));
		return;
	}
	if (curves->threads)
		ideal_add(curves, most_of(series, lines), &series[lines]), lines++;
	chart.series = memcpy(arena_alloc(report->arena, lines, sizeof *series), series, lines * sizeof *series);
	chart.series_count = lines;
	bool serial = isfinite(curves->serial_time);
	chart.y_label = serial            ? "speedup over serial code (x)"
	                : curves->threads ? arena_printf(report->arena, "speedup over %s (x)", curves->one)
	                                  : "speedup over the baseline (x)";
	chart.description = arena_printf(report->arena, "%s at each value of %s%s%s.",
	                                 serial            ? "Speedup over serial code"
	                                 : curves->threads ? arena_printf(report->arena, "Speedup over %s", curves->one)
	                                                   : "Speedup over the baseline",
	                                 curves->name, lines_words(curves),
	                                 curves->threads ? "; the bound is ideal speedup, equal to their number" : "");
	report_chart(report, curves->section, arena_printf(report->arena, "%s-speedup", curves->name), &chart);
}

static int by_value(const void *a, const void *b, void *ctx) {
	const struct study *study = ctx;
	double x = study_row(study, *(const size_t *)a)->value, y = study_row(study, *(const size_t *)b)->value;
	return (x > y) - (x < y);
}

/* Appends a bar of the CPU to those of a GPU. */
static void serial_bar_add(const struct curves *curves, const char **names, struct chart *chart,
                           struct chart_series *series) {
	size_t count = series->count;
	if (!isfinite(curves->serial_time) || curves->serial != SIZE_MAX)
		return;
	struct chart_point *points = arena_alloc(curves->report->arena, count + 1, sizeof *points);
	memcpy(points, series->points, count * sizeof *points);
	double time = report_shown(curves->section, curves->serial_time) * curves->scale.factor;
	points[count] = (struct chart_point){(double)count, time, NAN, NAN};
	names[count] = "serial, CPU"; /* longer names are cut below a bar */
	series->points = points;
	series->count = chart->x_name_count = count + 1;
}

/* Draws a bar or a point for each word, best first. */
void curves_bars(const struct curves *curves) {
	struct report *report = curves->report;
	struct slice *slice = &curves->slices[0];
	struct chart chart = curves_chart(curves, curves->section->label);
	const struct study_column *column = study_column(curves->study, curves->column);
	size_t count = slice->count < CURVES_POINTS ? slice->count : CURVES_POINTS, winner = slice_winner(curves->section);
	double place = NAN;
	const char **names = arena_alloc(report->arena, count + 1, sizeof *names);
	struct chart_series *series = arena_alloc(report->arena, 1, sizeof *series);
	qsort_r(slice->rows, slice->count, sizeof *slice->rows, by_value, (void *)curves->study);
	slice->count = count;
	for (size_t i = 0; i < count; i++) {
		int level = study_row(curves->study, slice->rows[i])->level[curves->column];
		names[i] = slice_level(report, column, level);
		if (winner != SIZE_MAX && study_row(curves->study, winner)->level[curves->column] == level)
			place = (double)i;
	}
	chart.winner = winner_at(curves, place);
	series_fill(curves, slice, NAN, series);
	series->name = NULL;
	chart.x_names = names;
	chart.x_name_count = count;
	serial_bar_add(curves, names, &chart, series);
	chart.x_log = false;
	chart.series = series;
	chart.series_count = 1;
	chart.y_label = report_axis(report, curves->section, curves->scale);
	chart.y_log = curves->least > 0 && curves->most > TALL * curves->least;
	if (chart.y_log) /* the length of a bar has no meaning on a scale without 0 */
		series->style = CHART_POINTS;
	chart.description = arena_printf(
		report->arena, "The best %s measured with each %s, best first; from %.4g to %.4g %s.", curves->section->label,
		curves->name, curves->least * curves->scale.factor, curves->most * curves->scale.factor, curves->scale.unit);
	report_chart(report, curves->section, arena_printf(report->arena, "%s-time", curves->name), &chart);
}
