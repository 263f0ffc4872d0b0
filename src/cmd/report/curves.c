/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charts of time and speedup over each parameter. */
#include <config.h>

#include "src/cmd/report/curves.h"

#include <string.h>

enum { NUMBERS_MAX = 4, WORDS_MAX = 3 };

static void number_put(const struct curves *curves) {
	struct html *html = curves->report->html;
	html_begin(html, "div", "class", "figures", NULL);
	curves_times(curves);
	curves_speedups(curves);
	if (curves->threads)
		curves_efficiency(curves);
	curves_rates(curves);
	html_end(html);
	curves_table(curves);
	if (curves->count > CURVES_LINES)
		html_element(html, "p", "note", "The charts show the %d fastest of %zu lines; the table has all of them.",
		             CURVES_LINES, curves->count);
}

/* Bar charts are narrow, so they stand side by side. */
static void words_put(const struct curves *words, size_t count) {
	struct html *html = words->report->html;
	html_begin(html, "div", "class", "figures", NULL);
	for (size_t i = 0; i < count; i++)
		curves_bars(&words[i]);
	html_end(html);
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
		html_element(report->html, "p", "note", "Parameters with a smaller effect appear only in the tables below.");
}
