/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All recommendations in one table; what was measured but has none says why. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/js.h"
#include "src/report/report.h"
#include "src/results.h"

static const char *const titles[] = {"kernel",  "problem",  "objective",     "recommended",    "\1measured", "\1from", "\1to",
                                     "\1baseline", "\1speedup", "\1speedup from", "\1speedup to", "verdict",   "state",  NULL};

static void values_put(struct sheet *sheet, const struct report_case *one, const json_t *entry) {
	const json_t *ci = json_object_get(entry, "ci");
	const double values[] = {js_real_or(entry, "median", NAN),
	                         json_is_number(json_array_get(ci, 0)) ? json_number_value(json_array_get(ci, 0)) : NAN,
	                         json_is_number(json_array_get(ci, 1)) ? json_number_value(json_array_get(ci, 1)) : NAN,
	                         js_real_or(json_object_get(entry, "baseline"), "median", NAN)};
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		char text[48];
		report_value(one, values[i], text, sizeof text);
		sheet_number(sheet, values[i], "%s", text);
	}
}

static void speedup_put(struct sheet *sheet, const json_t *speedup) {
	const json_t *ci = json_object_get(speedup, "ci");
	const double values[] = {js_real_or(speedup, "ratio", NAN),
	                         json_is_number(json_array_get(ci, 0)) ? json_number_value(json_array_get(ci, 0)) : NAN,
	                         json_is_number(json_array_get(ci, 1)) ? json_number_value(json_array_get(ci, 1)) : NAN};
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		sheet_number(sheet, values[i], "%.3gx", values[i]);
}

static const char *state_of(const struct report_case *one) {
	const struct report_search *last = &one->searches[one->search_count - 1];
	if (one->entry)
		return js_string_or(one->entry, "state", "?");
	if (strcmp(last->state, "done") != 0)
		return last->state;
	return strcmp(last->strategy, "auto") == 0 || last->evaluations ? "nothing worked" : "measured, not tuned";
}

static void row_put(struct report *report, struct sheet *sheet, const struct report_case *one) {
	const json_t *entry = one->entry ? one->entry : one->tune;
	const json_t *config = one->entry ? json_object_get(entry, "config") : json_object_get(json_object_get(entry, "best"), "config");
	char *words = results_config(config, NULL);
	sheet_row(sheet);
	sheet_link(sheet, arena_printf(report->arena, "#%s", one->anchor), one->kernel);
	sheet_text(sheet, "%s", one->problem_text);
	sheet_text(sheet, "%s", one->objective);
	sheet_text(sheet, "%s", *words ? words : "-");
	values_put(sheet, one, one->entry);
	speedup_put(sheet, json_object_get(one->entry, "speedup"));
	sheet_text(sheet, "%s", one->entry ? js_string_or(one->entry, "verdict", "?") : "-");
	sheet_text(sheet, "%s", state_of(one));
	free(words);
}

void report_recommend(struct report *report) {
	struct sheet sheet;
	bool any = false;
	html_begin(report->html, "section", "id", "recommendations", NULL);
	html_element(report->html, "h2", NULL, "Recommendations");
	for (size_t i = 0; i < report->case_count; i++)
		any = any || report->cases[i].entry;
	if (!any)
		report_absent(report, "Nothing was tuned to its end on this machine, so nothing is recommended yet.",
		              report_advice(report, &report->cases[0], "tune", ""));
	sheet_begin(&sheet, report->html, "What to run each kernel with; intervals are of 95 %", titles);
	for (size_t i = 0; i < report->case_count; i++)
		row_put(report, &sheet, &report->cases[i]);
	sheet_end(&sheet);
	if (any)
		html_element(report->html, "p", NULL,
		             "Speedups are over the baseline: what one gets without tuning. They come from a duel of fresh, "
		             "interleaved pairs, never from the search. A tie recommends the simpler setup.");
	html_end(report->html);
}
