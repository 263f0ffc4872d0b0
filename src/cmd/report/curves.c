/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charts of time and speedup over each parameter, and the tables with their numbers. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"
#include "src/show/results.h"

enum { RATES_MAX = 2 };
static const double IDEAL_MOST = 4, WIDE = 4, TALL = 20; /* above WIDE and TALL axes are logarithmic */

struct curves {
	struct report *report;
	const struct report_section *section;
	const struct study *study;
	size_t column, split, serial; /* serial: the row of the serial code, or SIZE_MAX */
	const char *name;             /* of the column */
	struct slice *slices;
	size_t count;
	struct report_scale scale;
	double least, most;
	double serial_time; /* of that row, or on the CPU for a kernel of a GPU; NAN: it was not measured */
	bool threads;       /* or another team */
	const char *one;    /* "one thread", or "ranks=1" */
};

static double curves_number(const struct curves *curves, size_t row) {
	return study_number(curves->study, row, curves->column);
}

static double curves_shown(const struct curves *curves, size_t row) {
	return report_shown(curves->section, study_row(curves->study, row)->value);
}

static double curves_one(const struct curves *curves, const struct slice *slice) {
	for (size_t i = 0; curves->threads && i < slice->count; i++)
		if (curves_number(curves, slice->rows[i]) == 1)
			return study_row(curves->study, slice->rows[i])->value;
	return NAN;
}

static double curves_base(const struct curves *curves, const struct slice *slice) {
	if (isfinite(curves->serial_time))
		return curves->serial_time;
	if (curves->threads)
		return curves_one(curves, slice);
	size_t baseline = study_baseline(curves->study);
	if (baseline != SIZE_MAX && explain_of_problem(&curves->section->view, baseline))
		return study_row(curves->study, baseline)->value;
	return js_real_or(json_object_get(curves->section->result, "baseline"), "median", NAN);
}

/* Serial code is a line across, not one of the lines. */
static void serial_remove(struct curves *curves) {
	size_t kept = 0;
	for (size_t i = 0; i < curves->count; i++)
		if (curves->count == 1 || curves->slices[i].count != 1 || curves->slices[i].rows[0] != curves->serial)
			curves->slices[kept++] = curves->slices[i];
	curves->count = kept;
}

/* Lines with a speedup come first, so that a line has the same style in both charts. */
static void based_first(struct curves *curves) {
	size_t first = 0;
	for (size_t i = 0; i < curves->count; i++) {
		struct slice slice = curves->slices[i];
		if (!(curves_base(curves, &slice) > 0))
			continue;
		memmove(&curves->slices[first + 1], &curves->slices[first], (i - first) * sizeof slice);
		curves->slices[first++] = slice;
	}
}

static void range_find(struct curves *curves) {
	curves->least = INFINITY;
	for (size_t s = 0; s < curves->count; s++)
		for (size_t i = 0; i < curves->slices[s].count; i++) {
			double value = curves_shown(curves, curves->slices[s].rows[i]);
			curves->least = fmin(curves->least, value);
			curves->most = fmax(curves->most, value);
		}
	if (isfinite(curves->serial_time)) {
		curves->least = fmin(curves->least, report_shown(curves->section, curves->serial_time));
		curves->most = fmax(curves->most, report_shown(curves->section, curves->serial_time));
	}
	curves->scale = report_scale(curves->section, curves->most);
}

static size_t curves_thinned(size_t count, size_t i) {
	return count <= CURVES_POINTS ? i : i * (count - 1) / (CURVES_POINTS - 1);
}

/* Threads, or the ranks and devices over which a table has a law. */
static bool is_team(const struct report_section *section, const char *name) {
	const char *team = js_string_or(json_array_get(json_object_get(section->result, "scaling"), 0), "team", "threads");
	return strcmp(name, team) == 0;
}

static bool curves_make(struct curves *curves, struct report *report, const struct report_section *section,
                        size_t column) {
	const struct study_column *about = study_column(section->view.study, column);
	*curves = (struct curves){.report = report,
	                          .section = section,
	                          .study = section->view.study,
	                          .column = column,
	                          .split = about->numeric ? slice_split(section, column) : SIZE_MAX,
	                          .name = about->name,
	                          .threads = is_team(section, about->name)};
	curves->one = strcmp(about->name, "threads") == 0 ? "one thread" : arena_printf(report->arena, "%s=1", about->name);
	curves->count = slice_make(report, section, column, curves->split, &curves->slices);
	if (curves->count == 0)
		return false;
	curves->serial = curves->threads ? slice_serial(section) : SIZE_MAX;
	curves->serial_time = curves->serial != SIZE_MAX ? study_row(curves->study, curves->serial)->value
	                      : section->serial > 0      ? section->serial
	                                                 : NAN;
	if (curves->serial != SIZE_MAX)
		serial_remove(curves);
	based_first(curves);
	range_find(curves);
	return true;
}

/* Over threads, the speedup over one thread stands beside that over the serial code. */
static bool has_single(const struct curves *curves) {
	return curves->threads && isfinite(curves->serial_time);
}

static void row_put(const struct curves *curves, struct html_table *table, const struct slice *slice, size_t row) {
	const struct study_row *one = study_row(curves->study, row);
	double shown = curves_shown(curves, row), spread = exp(1.96 * one->deviation), base = curves_base(curves, slice);
	const char *level =
		slice_level(curves->report, study_column(curves->study, curves->column), one->level[curves->column]);
	html_table_row(table);
	if (study_column(curves->study, curves->column)->numeric)
		html_table_number(table, curves_number(curves, row), "%s", level);
	else
		html_table_text(table, "%s", level);
	if (curves->split != SIZE_MAX)
		html_table_text(table, "%s", slice->name);
	report_cells(table, curves->section, shown, shown / spread, shown * spread);
	html_table_number(table, base / one->value, "%.3gx", base / one->value);
	if (has_single(curves)) {
		double single = curves_one(curves, slice) / one->value;
		html_table_number(table, single, "%.3gx", single);
	}
	mem_auto char *config = results_config(one->config, NULL);
	html_table_text(table, "%s", config);
}

static void curves_table(const struct curves *curves) {
	struct report *report = curves->report;
	const struct study_column *column = study_column(curves->study, curves->column);
	const char *titles[9] = {arena_printf(report->arena, "%s%s", column->numeric ? "\1" : "", curves->name)};
	size_t at = 1;
	if (curves->split != SIZE_MAX)
		titles[at++] = study_column(curves->study, curves->split)->name;
	titles[at++] = arena_printf(report->arena, "\1%s", curves->section->label);
	titles[at++] = "\1interval";
	if (isfinite(curves->serial_time))
		titles[at++] = "\1speedup over serial code";
	if (has_single(curves) || !isfinite(curves->serial_time))
		titles[at++] = curves->threads ? "\1speedup over 1 thread" : "\1speedup over the baseline";
	titles[at++] = "\2configuration";
	struct html_table table = html_table_begin(
		report->html, arena_printf(report->arena, "numbers: %s by %s", curves->section->label, curves->name),
		arena_printf(report->arena, "Best %s at each value of %s", curves->section->label, curves->name), titles);
	for (size_t s = 0; s < curves->count; s++)
		for (size_t i = 0; i < curves->slices[s].count && i < CURVES_POINTS; i++)
			row_put(curves, &table, &curves->slices[s],
			        curves->slices[s].rows[curves_thinned(curves->slices[s].count, i)]);
	html_table_end(&table);
}

/* The mark of the winner, which stands at `x` with the value that was recommended; NULL: the axis does not have it. */
static const struct chart_mark *winner_at(const struct curves *curves, double x) {
	double median = js_real_or(curves->section->entry, "median", NAN);
	return isnan(x) || isnan(median) ? NULL : chart_mark(curves->report->arena, x, median * curves->scale.factor);
}

/* The numbers of the lines. */
struct across {
	double first, last, positive; /* positive: the least above 0 */
};

static struct across range_across(const struct curves *curves) {
	struct across across = {INFINITY, -INFINITY, INFINITY};
	for (size_t s = 0; s < curves->count; s++)
		for (size_t i = 0; i < curves->slices[s].count; i++) {
			double number = curves_number(curves, curves->slices[s].rows[i]);
			across.first = fmin(across.first, number);
			across.last = fmax(across.last, number);
			across.positive = number > 0 ? fmin(across.positive, number) : across.positive;
		}
	return across;
}

/* Title and axis across. */
static struct chart curves_chart(const struct curves *curves, const char *what) {
	struct across across = range_across(curves);
	bool numeric = study_column(curves->study, curves->column)->numeric;
	return (struct chart){
		.title = report_title(curves->report, curves->section, NULL,
	                          arena_printf(curves->report->arena, "%s by %s", what, curves->name)),
		.x_label = curves->name,
		.x_log = numeric && across.first >= 0 && across.last >= WIDE * across.positive,
		.x_zero = across.positive / 2,
	};
}

/* A quantity over the parameter, with a line for each value of a second one. */
struct view {
	const char *what, *id, *label, *description;
	double (*value)(const struct curves *curves, const struct slice *slice, size_t row, const char *figure);
	const char *figure; /* that is drawn, or NULL */
	double serial;      /* the value of the serial code, for a line across; NAN: none */
	size_t least;       /* points of a line */
	bool time, speedup;
};

static void lines_fill(const struct curves *curves, const struct view *view, struct chart *chart) {
	for (size_t s = 0; s < curves->count && chart->series_count < CURVES_LINES; s++) {
		const struct slice *slice = &curves->slices[s];
		size_t count = slice->count < CURVES_POINTS ? slice->count : CURVES_POINTS;
		struct chart_series *line = chart_line(curves->report->arena, chart, slice->name, CHART_LINE, count);
		for (size_t i = 0; i < count; i++) {
			size_t row = slice->rows[curves_thinned(slice->count, i)];
			double y = view->value(curves, slice, row, view->figure);
			double spread = view->figure ? NAN : exp(1.96 * study_row(curves->study, row)->deviation);
			if (isfinite(y))
				chart_dot(line, curves_number(curves, row), y, y / spread, y * spread);
		}
		chart->series_count -= line->count < view->least;
	}
}

/* A line across at the value of the serial code. */
static void serial_add(const struct curves *curves, double value, struct chart *chart) {
	struct across across = range_across(curves);
	struct chart_series *line = chart_line(
		curves->report->arena, chart, curves->serial == SIZE_MAX ? "serial code on the CPU" : "serial", CHART_BOUND, 2);
	chart_dot(line, curves->threads ? fmin(across.first, 1) : across.first, value, NAN, NAN);
	chart_dot(line, fmax(across.last, curves->threads ? 1 : 0), value, NAN, NAN);
}

/* Ideal speedup equals the number of threads, which is a straight line where both axes are of the same kind. Where
 * speedups are far below, it ends early, so that they can be told apart. */
static void ideal_add(const struct curves *curves, struct chart *chart) {
	double most = 1;
	for (size_t s = 0; s < chart->series_count; s++)
		for (size_t i = 0; i < chart->series[s].count; i++)
			most = fmax(most, chart->series[s].points[i].y);
	double last = fmin(fmax(range_across(curves).last, 1), IDEAL_MOST * most);
	struct chart_series *line = chart_line(curves->report->arena, chart, "ideal", CHART_BOUND, 2);
	chart_dot(line, 1, 1, NAN, NAN);
	chart_dot(line, last, last, NAN, NAN);
	chart->y_log = chart->x_log;
}

/* False if there is nothing to draw. */
static bool view_draw(const struct curves *curves, const struct view *view) {
	struct chart chart = curves_chart(curves, view->what);
	lines_fill(curves, view, &chart);
	if (chart.series_count == 0)
		return false;
	if (view->speedup && curves->threads)
		ideal_add(curves, &chart);
	if (isfinite(view->serial))
		serial_add(curves, view->serial, &chart);
	size_t winner = view->time ? slice_winner(curves->section) : SIZE_MAX;
	chart.winner = winner_at(curves, winner == SIZE_MAX ? NAN : curves_number(curves, winner));
	chart.y_label = view->label;
	chart.y_log = chart.y_log || (view->time && curves->least > 0 && curves->most > TALL * curves->least);
	chart.description = view->description;
	report_chart(curves->report, curves->section, arena_printf(curves->report->arena, "%s-%s", curves->name, view->id),
	             &chart);
	return true;
}

static double time_shown(const struct curves *curves, double value) {
	return report_shown(curves->section, value) * curves->scale.factor;
}

static double time_of(const struct curves *curves, const struct slice *slice, size_t row, const char *figure) {
	(void)slice, (void)figure;
	return time_shown(curves, study_row(curves->study, row)->value);
}

static double speedup_at(const struct curves *curves, const struct slice *slice, size_t row, const char *figure) {
	(void)figure;
	double base = curves_base(curves, slice);
	return base > 0 ? base / study_row(curves->study, row)->value : NAN;
}

static double efficiency_of(const struct curves *curves, const struct slice *slice, size_t row, const char *figure) {
	(void)figure;
	return 100 * curves_one(curves, slice) / study_row(curves->study, row)->value / curves_number(curves, row);
}

static double figure_of(const struct curves *curves, const struct slice *slice, size_t row, const char *figure) {
	(void)slice;
	return study_figure(curves->study, row, figure);
}

static void curves_times(const struct curves *curves, const char *lines) {
	struct report *report = curves->report;
	const char *label = curves->section->label;
	view_draw(curves, &(struct view){.what = label,
	                                 .id = "time",
	                                 .label = report_axis(report, curves->section, curves->scale),
	                                 .value = time_of,
	                                 .serial = time_shown(curves, curves->serial_time),
	                                 .least = 1,
	                                 .time = true,
	                                 .description = arena_printf(
										 report->arena,
										 "The best %s measured at each value of %s over all values of the other "
										 "parameters%s; from %.4g to %.4g %s. Error bars are 95 %% intervals.",
										 label, curves->name, lines, curves->least * curves->scale.factor,
										 curves->most * curves->scale.factor, curves->scale.unit)});
}

static void curves_speedups(const struct curves *curves, const char *lines) {
	struct report *report = curves->report;
	const char *over = isfinite(curves->serial_time) ? "serial code" : curves->threads ? curves->one : "the baseline";
	const struct view view = {.what = "speedup",
	                          .id = "speedup",
	                          .label = arena_printf(report->arena, "speedup over %s (x)", over),
	                          .value = speedup_at,
	                          .serial = NAN,
	                          .least = 1,
	                          .speedup = true,
	                          .description = arena_printf(
								  report->arena, "Speedup over %s at each value of %s%s%s.", over, curves->name, lines,
								  curves->threads ? "; the bound is ideal speedup, equal to their number" : "")};
	if (view_draw(curves, &view))
		return;
	const char *why = curves->threads ? arena_printf(report->arena, "nothing was measured with %s", curves->one)
	                                  : "there is no baseline";
	report_absent(report, arena_printf(report->arena, "The speedup over %s is unknown: %s.", curves->name, why),
	              curves->threads ? NULL : report_advice(report, curves->section, "tune", ""));
}

static void curves_efficiency(const struct curves *curves) {
	view_draw(curves, &(struct view){.what = "strong scaling efficiency",
	                                 .id = "efficiency",
	                                 .label = "efficiency (%)",
	                                 .value = efficiency_of,
	                                 .figure = "",
	                                 .serial = NAN,
	                                 .least = 2,
	                                 .description = arena_printf(
										 curves->report->arena,
										 "Strong scaling: the speedup over %s divided by the number of %s.",
										 curves->one, curves->name)});
}

static bool is_rate(const json_t *figure) {
	const char *name = js_string_or(figure, "name", ""), *unit = js_string_or(figure, "unit", "");
	const char *slash = strrchr(unit, '/');
	return (slash && strcmp(slash, "/s") == 0) || (strncmp(name, "ns_per_", 7) == 0 && strcmp(unit, "ns") == 0);
}

/* The rates that kernels report: throughput, nanoseconds an operation. */
static void curves_rates(const struct curves *curves) {
	struct arena *arena = curves->report->arena;
	size_t drawn = 0;
	js_each (figure, json_object_get(study_row(curves->study, curves->slices[0].rows[0])->detail, "figures")) {
		const char *name = js_string_or(figure, "name", "");
		if (!is_rate(figure) || drawn++ >= RATES_MAX)
			continue;
		view_draw(
			curves,
			&(struct view){
				.what = name,
				.id = name,
				.label = arena_printf(arena, "%s (%s)", name, js_string_or(figure, "unit", "")),
				.value = figure_of,
				.figure = name,
				.serial = curves->serial == SIZE_MAX ? NAN : study_figure(curves->study, curves->serial, name),
				.least = 2,
				.description = arena_printf(arena, "%s of the configurations with the best %s at each value of %s.",
		                                    name, curves->section->label, curves->name)});
	}
}

/* Draws a bar or a point for each word, best first. */
static void curves_bars(const struct curves *curves) {
	struct report *report = curves->report;
	struct slice *slice = &curves->slices[0];
	struct chart chart = curves_chart(curves, curves->section->label);
	const struct study_column *column = study_column(curves->study, curves->column);
	size_t count = slice->count < CURVES_POINTS ? slice->count : CURVES_POINTS, winner = slice_winner(curves->section);
	double place = NAN;
	const char **names = arena_alloc(report->arena, count + 1, sizeof *names);
	qsort_r(slice->rows, slice->count, sizeof *slice->rows, study_by_value, (void *)curves->study);
	slice->count = count;
	chart.y_log = curves->least > 0 && curves->most > TALL * curves->least;
	/* On a scale without 0, the length of a bar means nothing. */
	struct chart_series *bars =
		chart_line(report->arena, &chart, NULL, chart.y_log ? CHART_POINTS : CHART_BARS, count + 1);
	for (size_t i = 0; i < count; i++) {
		const struct study_row *row = study_row(curves->study, slice->rows[i]);
		double y = time_shown(curves, row->value), spread = exp(1.96 * row->deviation);
		chart_dot(bars, (double)i, y, y / spread, y * spread);
		names[i] = slice_level(report, column, row->level[curves->column]);
		if (winner != SIZE_MAX && study_row(curves->study, winner)->level[curves->column] == row->level[curves->column])
			place = (double)i;
	}
	if (isfinite(curves->serial_time) && curves->serial == SIZE_MAX) {
		names[count] = "serial, CPU"; /* beside those of a GPU; longer names are cut below a bar */
		chart_dot(bars, (double)count, time_shown(curves, curves->serial_time), NAN, NAN);
	}
	chart.winner = winner_at(curves, place);
	chart.x_names = names;
	chart.x_name_count = bars->count;
	chart.x_log = false;
	chart.y_label = report_axis(report, curves->section, curves->scale);
	chart.description = arena_printf(
		report->arena, "The best %s measured with each %s, best first; from %.4g to %.4g %s.", curves->section->label,
		curves->name, curves->least * curves->scale.factor, curves->most * curves->scale.factor, curves->scale.unit);
	report_chart(report, curves->section, arena_printf(report->arena, "%s-time", curves->name), &chart);
}

enum { NUMBERS_MAX = 4, WORDS_MAX = 3 };

static void number_put(const struct curves *curves) {
	struct html *html = curves->report->html;
	const char *lines = curves->split == SIZE_MAX
	                        ? ""
	                        : arena_printf(curves->report->arena, ", with one line for each value of %s",
	                                       study_column(curves->study, curves->split)->name);
	html_put(html, "<div class=\"figures\">");
	curves_times(curves, lines);
	curves_speedups(curves, lines);
	if (curves->threads)
		curves_efficiency(curves);
	curves_rates(curves);
	html_put(html, "</div>");
	curves_table(curves);
	if (curves->count > CURVES_LINES)
		html_put(html, "<p class=\"note\">The charts show the %d fastest of %zu lines; the table has all of them.</p>",
		         CURVES_LINES, curves->count);
}

/* Bar charts are narrow, so they stand side by side. */
static void words_put(const struct curves *words, size_t count) {
	struct html *html = words->report->html;
	html_put(html, "<div class=\"figures\">");
	for (size_t i = 0; i < count; i++)
		curves_bars(&words[i]);
	html_put(html, "</div>");
	for (size_t i = 0; i < count; i++)
		curves_table(&words[i]);
}

/* Moves the threads to the front, because scaling is the first question about a parallel kernel. */
static void threads_first(const struct study *study, size_t *columns, size_t count) {
	for (size_t i = 1; i < count; i++)
		if (strcmp(study_column(study, columns[i])->name, "threads") == 0) {
			size_t threads = columns[i];
			memmove(columns + 1, columns, i * sizeof *columns);
			columns[0] = threads;
		}
}

static void curves_put(struct report *report, const struct report_section *section) {
	const struct study *study = section->view.study;
	size_t columns[STUDY_COLUMNS_MAX], count = slice_params(section, columns), numbers = 0, left = 0, words = 0;
	struct curves curves[WORDS_MAX + 1];
	report_heading(report, "Time by parameter");
	slice_each_problem(report, section, report_weak);
	if (count == 0) {
		report_absent(
			report,
			"Only one value of each parameter was measured on this problem, so there is nothing to draw. This "
			"command measures more:",
			app_device(report->app) ? report_advice(report, section, "tune", "")
									: report_advice(report, section, "sweep", "--over threads"));
		return;
	}
	threads_first(study, columns, count);
	for (size_t i = 0; i < count; i++) {
		bool numeric = study_column(study, columns[i])->numeric;
		if (numeric ? numbers++ >= NUMBERS_MAX : left++ >= WORDS_MAX)
			continue;
		if (curves_make(&curves[words], report, section, columns[i]) && numeric)
			number_put(&curves[words]);
		else
			words += curves[words].count > 0;
	}
	if (words)
		words_put(curves, words);
	if (numbers > NUMBERS_MAX || left > WORDS_MAX)
		html_put(report->html,
		         "<p class=\"note\">Parameters with a smaller effect appear only in the tables below.</p>");
}

const struct report_part report_curves = {REPORT_EXPLAINED, curves_put};
