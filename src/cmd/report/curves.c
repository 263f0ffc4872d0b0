/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charts of time and speedup over each parameter. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/report/curves_impl.h"
#include "src/show/results.h"

/* Draws weak scaling efficiency: the size grows with the team, so that each thread has the same work, and a time that
 * stays the same is 100 %. Sizes and teams that `sweep --weak` paired are found by their ratio. */
enum { POWERS = 3, POINTS_LEAST = 2, TRIED_MOST = 200 };
static const double SAME = 0.04, POWER_OFF = 0.6, WIDE = 4, APART_LEAST = 1.9;

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
static size_t line_make(const struct weak *weak, size_t base, struct chart_point *points) {
	const struct study *study = weak->study;
	size_t count = 0;
	for (size_t r = 0; r < study_rows(study) && count < CURVES_POINTS; r++) {
		double apart = log(work_each(weak, r) / work_each(weak, base));
		if (!study_usable(study, r) || !differs_only_there(weak, r, base) || !(fabs(apart) <= weak->power * SAME) ||
		    (r != base && study_number(study, r, weak->team) <= study_number(study, base, weak->team)))
			continue;
		double efficiency = 100 * study_row(study, base)->value / study_row(study, r)->value;
		/* A rate is that of the whole team, which should grow with it. */
		if (study_is_rate(study))
			efficiency *= study_number(study, base, weak->team) / study_number(study, r, weak->team);
		points[count++] = (struct chart_point){study_number(study, r, weak->team), efficiency, NAN, NAN};
	}
	qsort(points, count, sizeof *points, by_team);
	return count;
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

/* Lines from each row of the section's problem with one thread. */
static size_t lines_make(struct report *report, const struct report_section *section, const struct weak *weak,
                         struct chart_series *series, size_t *longest) {
	size_t lines = 0, tried = 0;
	*longest = 0;
	for (size_t r = 0; r < study_rows(weak->study) && lines < CURVES_LINES; r++) {
		if (!explain_of_problem(&section->view, r) || !study_usable(weak->study, r) ||
		    study_number(weak->study, r, weak->team) != 1 || tried++ >= TRIED_MOST)
			continue;
		struct chart_point *points = arena_alloc(report->arena, CURVES_POINTS, sizeof *points);
		size_t count = line_make(weak, r, points);
		js_auto json_t *rest = json_copy((json_t *)study_row(weak->study, r)->config);
		json_object_del(rest, study_column(weak->study, weak->team)->name);
		mem_auto char *words = results_config(rest, NULL);
		if (count >= POINTS_LEAST)
			series[lines++] =
				(struct chart_series){*words ? arena_strdup(report->arena, words) : NULL, CHART_LINE, points, count};
		*longest = count > *longest ? count : *longest;
	}
	return lines;
}

/* nothing if no sizes grow so */
static void report_weak(struct report *report, const struct report_section *section) {
	const struct study *study = section->view.study;
	int team = team_column(study);
	struct weak weak = {.study = study, .team = (size_t)team, .size = slice_size(section)}, best = weak;
	struct chart_series *series = arena_alloc(report->arena, CURVES_LINES, sizeof *series);
	size_t most = 0, longest, lines;
	if (team < 0 || weak.size == SIZE_MAX)
		return;
	double power = power_of(&weak);
	for (weak.power = 1; weak.power <= POWERS; weak.power++) {
		/* The size grows with the team, but the work of a thread does not stay the same. */
		if (fabs(weak.power - power) > POWER_OFF)
			continue;
		lines_make(report, section, &weak, series, &longest);
		if (longest > most) {
			most = longest;
			best = weak;
		}
	}
	lines = most >= POINTS_LEAST ? lines_make(report, section, &best, series, &longest) : 0;
	if (lines == 0)
		return;
	double last = 1;
	if (lines == 1) /* what does not differ need not be told apart */
		series[0].name = NULL;
	for (size_t i = 0; i < lines; i++)
		last = fmax(last, series[i].points[series[i].count - 1].x);
	const char *members = study_column(study, best.team)->name;
	const char *size = study_column(study, best.size)->name, *exponent = best.power == 1   ? ""
	                                                                     : best.power == 2 ? "^2"
	                                                                                       : "^3";
	const struct chart chart = {
		.title = report_title(report, section, size,
	                          arena_printf(report->arena, "weak scaling efficiency by %s, %s%s ~ %s from %.6g", members,
	                                       size, exponent, members, js_real_or(section->problem, size, NAN))),
		.x_label = members,
		.y_label = "efficiency (%)",
		.x_log = last >= WIDE,
		.description = arena_printf(report->arena,
	                                "Weak scaling: %s%s grows as the %s do, from %s on. The time of %s divided "
	                                "by that of the team with the same work for each.",
	                                size, exponent, strcmp(members, "gpus") == 0 ? "GPUs" : members,
	                                section->problem_text, strcmp(members, "gpus") == 0 ? "one GPU" : "one thread"),
		.series = series,
		.series_count = lines};
	report_figure(report, section, "weak-efficiency", &chart);
}

/* Draws efficiency over threads, and the rates that kernels report: throughput, nanoseconds an operation. */
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

static void curves_efficiency(const struct curves *curves) {
	struct chart chart = curves_chart(curves, "strong scaling efficiency");
	if (!lines_fill(curves, efficiency, NULL, NAN, &chart))
		return;
	chart.y_label = "efficiency (%)";
	chart.description =
		arena_printf(curves->report->arena, "Strong scaling: the speedup over %s divided by the number of %s.",
	                 curves->one, curves->name);
	report_chart(curves->report, curves->section, arena_printf(curves->report->arena, "%s-efficiency", curves->name),
	             &chart);
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
	size_t count = 0;
	js_each (figure, json_object_get(study_row(curves->study, curves->slices[0].rows[0])->detail, "figures"))
		if (count < RATES_MAX && is_rate(figure))
			rates[count++] = (struct rate){js_string_or(figure, "name", ""), js_string_or(figure, "unit", "")};
	return count;
}

static void curves_rates(const struct curves *curves) {
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
		report_chart(curves->report, curves->section, arena_printf(arena, "%s-%s", curves->name, rates[i].name),
		             &chart);
	}
}

enum { NUMBERS_MAX = 4, WORDS_MAX = 3 };

static void number_put(const struct curves *curves) {
	struct html *html = curves->report->html;
	html_put(html, "<div class=\"figures\">");
	curves_times(curves);
	curves_speedups(curves);
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
