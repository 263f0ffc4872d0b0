/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time and speedup over each parameter. */
#include <config.h>

#include "src/cmd/report/curves.h"

#include <string.h>

enum { NUMBERS_MAX = 4, WORDS_MAX = 3 };

static void number_put(const struct curves *curves) {
	struct html *html = curves->report->html;
	html_begin(html, "div", "class", "figures", NULL);
	curves_times(curves);
	curves_speedups(curves);
	html_end(html);
	curves_table(curves);
	if (curves->count > CURVES_LINES)
		html_element(html, "p", "note", "The charts have the %d fastest lines of %zu; the table has all.", CURVES_LINES,
		             curves->count);
}

/* Side by side: bars take less room. */
static void words_put(const struct curves *words, size_t count) {
	struct html *html = words->report->html;
	html_begin(html, "div", "class", "figures", NULL);
	for (size_t i = 0; i < count; i++)
		curves_bars(&words[i]);
	html_end(html);
	for (size_t i = 0; i < count; i++)
		curves_table(&words[i]);
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

void report_curves(struct report *report, const struct report_section *section) {
	const struct study *study = section->view.study;
	size_t columns[STUDY_COLUMNS_MAX], count = slice_params(section, columns), numbers = 0, left = 0, words = 0;
	struct curves curves[WORDS_MAX + 1];
	report_heading(report, "Over each parameter");
	if (count == 0) {
		report_absent(report,
		              "Only one value of each parameter was measured on this problem: there is nothing to draw. This "
		              "measures more:",
		              report_advice(report, section, "sweep", "--over threads"));
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
		html_element(report->html, "p", "note", "Parameters that mattered less are only in the tables below.");
}
