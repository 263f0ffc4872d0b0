/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charts of time and speedup over each parameter. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"
#include "src/show/results.h"

enum { RATES_MAX = 2 };
static const double IDEAL_MOST = 4;

/* Draws weak scaling efficiency: the size grows with the team, so that each thread has the same work, and a time that
 * stays the same is 100 %. Sizes and teams that `sweep --weak` paired are found by their ratio. */
enum { POWERS = 3, POINTS_LEAST = 2, TRIED_MOST = 200 };
static const double SAME = 0.04, POWER_OFF = 0.6, APART_LEAST = 1.9;
static const double WIDE = 4, TALL = 20; /* values that differ by more need a logarithmic axis */

struct weak {
	const struct study *study;
	size_t team, size; /* columns */
	int power;         /* size^power grows as the team does */
};

/* The column of threads, or else of GPUs; -1: there is none. */
static int team_column(const struct study *study) {
	int threads = study_find(study, "threads"), team = threads >= 0 ? threads : study_find(study, "gpus");
	return team >= 0 && study_column(study, (size_t)team)->numeric ? team : -1;
}

static bool differs_only_there(const struct weak *weak, size_t a, size_t b) {
	for (size_t c = 0; c < study_columns(weak->study); c++)
		if (c != weak->team && c != weak->size &&
		    study_row(weak->study, a)->level[c] != study_row(weak->study, b)->level[c])
			return false;
	return true;
}

static double work_each(const struct weak *weak, size_t row) {
	return pow(study_number(weak->study, row, weak->size), weak->power) / study_number(weak->study, row, weak->team);
}

static int by_team(const void *a, const void *b) {
	const struct chart_point *x = a, *y = b;
	return (x->x > y->x) - (x->x < y->x);
}

/* The efficiency of each larger team with the work that this row has alone. */
static void line_fill(const struct weak *weak, size_t base, struct chart_series *line) {
	const struct study *study = weak->study;
	for (size_t r = 0; r < study_rows(study) && line->count < CURVES_POINTS; r++) {
		double apart = log(work_each(weak, r) / work_each(weak, base)), team = study_number(study, r, weak->team);
		if (!study_usable(study, r) || !differs_only_there(weak, r, base) || !(fabs(apart) <= weak->power * SAME) ||
		    (r != base && team <= study_number(study, base, weak->team)))
			continue;
		double efficiency = 100 * study_row(study, base)->value / study_row(study, r)->value;
		/* A rate is that of the whole team, which should grow with it. */
		chart_dot(line, team,
		          study_is_rate(study) ? efficiency * study_number(study, base, weak->team) / team : efficiency, NAN,
		          NAN);
	}
	qsort(line->points, line->count, sizeof *line->points, by_team);
}

/* The power of the size with which one thread's time grows, from the smallest to the largest size of a configuration;
 * NAN: one thread ran one size only, as `sweep --weak` has it, or sizes so close that noise would decide. */
static double power_of(const struct weak *weak) {
	const struct study *study = weak->study;
	double most = APART_LEAST, power = NAN;
	for (size_t a = 0; a < study_rows(study); a++)
		for (size_t b = 0; b < study_rows(study); b++) {
			double apart = study_number(study, b, weak->size) / study_number(study, a, weak->size);
			if (study_number(study, a, weak->team) != 1 || study_number(study, b, weak->team) != 1 || !(apart > most) ||
			    !study_usable(study, a) || !study_usable(study, b) || !differs_only_there(weak, a, b))
				continue;
			most = apart;
			power = log(study_row(study, b)->value / study_row(study, a)->value) / log(apart);
		}
	return power;
}

/* Lines from each row of the section's problem with one thread; returns the points of the longest. */
static size_t lines_make(struct report *report, const struct report_section *section, const struct weak *weak,
                         struct chart *chart) {
	size_t longest = 0, tried = 0;
	chart->series_count = 0;
	for (size_t r = 0; r < study_rows(weak->study) && chart->series_count < CURVES_LINES; r++) {
		if (!explain_of_problem(&section->view, r) || !study_usable(weak->study, r) ||
		    study_number(weak->study, r, weak->team) != 1 || tried++ >= TRIED_MOST)
			continue;
		js_auto json_t *rest = json_copy((json_t *)study_row(weak->study, r)->config);
		json_object_del(rest, study_column(weak->study, weak->team)->name);
		mem_auto char *words = results_config(rest, NULL);
		struct chart_series *line = chart_line(report->arena, chart, *words ? arena_strdup(report->arena, words) : NULL,
		                                       CHART_LINE, CURVES_POINTS);
		line_fill(weak, r, line);
		longest = line->count > longest ? line->count : longest;
		chart->series_count -= line->count < POINTS_LEAST;
	}
	return longest;
}

/* nothing if no sizes grow so */
static void report_weak(struct report *report, const struct report_section *section) {
	const struct study *study = section->view.study;
	int team = team_column(study);
	struct weak weak = {.study = study, .team = (size_t)team, .size = slice_size(section)};
	struct chart chart = {0};
	size_t most = POINTS_LEAST - 1;
	int power = 0;
	if (team < 0 || weak.size == SIZE_MAX)
		return;
	for (weak.power = 1; weak.power <= POWERS; weak.power++) {
		/* Otherwise the size grows with the team, but the work of a thread does not stay the same. */
		bool fits = !(fabs(weak.power - power_of(&weak)) > POWER_OFF);
		size_t longest = fits ? lines_make(report, section, &weak, &chart) : 0;
		power = longest > most ? weak.power : power;
		most = longest > most ? longest : most;
	}
	if (!power)
		return;
	weak.power = power;
	lines_make(report, section, &weak, &chart);
	double last = 1;
	if (chart.series_count == 1) /* what does not differ need not be told apart */
		chart.series[0].name = NULL;
	for (size_t i = 0; i < chart.series_count; i++)
		last = fmax(last, chart.series[i].points[chart.series[i].count - 1].x);
	const char *members = study_column(study, weak.team)->name, *size = study_column(study, weak.size)->name;
	const char *grows = arena_printf(report->arena, "%s%s", size, power == 1 ? "" : power == 2 ? "^2" : "^3");
	bool gpus = strcmp(members, "gpus") == 0;
	chart.title = report_title(report, section, size,
	                           arena_printf(report->arena, "weak scaling efficiency by %s, %s ~ %s from %.6g", members,
	                                        grows, members, js_real_or(section->problem, size, NAN)));
	chart.x_label = members;
	chart.y_label = "efficiency (%)";
	chart.x_log = last >= WIDE;
	chart.description =
		arena_printf(report->arena,
	                 "Weak scaling: %s grows as the %s do, from %s on. The time of %s divided by that of "
	                 "the team with the same work for each.",
	                 grows, gpus ? "GPUs" : members, section->problem_text, gpus ? "one GPU" : "one thread");
	report_figure(report, section, "weak-efficiency", &chart);
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
	double first = across.first, last = across.last;
	struct chart_series *line = chart_line(
		curves->report->arena, chart, curves->serial == SIZE_MAX ? "serial code on the CPU" : "serial", CHART_BOUND, 2);
	chart_dot(line, curves->threads ? fmin(first, 1) : first, value, NAN, NAN);
	chart_dot(line, curves->threads ? fmax(last, 1) : fmax(last, 0), value, NAN, NAN);
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

void report_curves(struct report *report, const struct report_section *section) {
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
