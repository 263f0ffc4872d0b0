/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All recommendations in one table; what was measured but has none says why. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/cmd/report/report.h"
#include "src/show/results.h"

static const char *const titles[] = {"kernel",     "\2problem", "\2recommended",  "\1measured", "\1interval",
                                     "\1baseline", "\1speedup", "\1its interval", "verdict",    "state",
                                     NULL};

static void values_put(struct sheet *sheet, const struct report_case *one, const json_t *entry) {
	const json_t *ci = json_object_get(entry, "ci");
	double baseline = js_real_or(json_object_get(entry, "baseline"), "median", NAN);
	char text[48];
	report_cells(sheet, one, js_real_or(entry, "median", NAN), report_end(ci, 0), report_end(ci, 1));
	report_value(one, baseline, text, sizeof text);
	sheet_number(sheet, baseline, "%s", text);
}

static void speedup_put(struct sheet *sheet, const json_t *speedup) {
	const json_t *ci = json_object_get(speedup, "ci");
	double ratio = js_real_or(speedup, "ratio", NAN), low = report_end(ci, 0), high = report_end(ci, 1);
	sheet_number(sheet, ratio, "%.3gx", ratio);
	sheet_number(sheet, isfinite(high) ? low : NAN, "%.3gx to %.3gx", low, high);
}

static const char *state_of(const struct report_case *one) {
	const struct report_search *last = &one->searches[one->search_count - 1];
	if (one->entry)
		return js_string_or(one->entry, "state", "?");
	if (strcmp(last->state, "done") != 0)
		return last->state;
	return strcmp(last->strategy, "auto") == 0 || last->evaluations ? "nothing worked" : "measured, not tuned";
}

static bool is_time(const struct report_case *one) {
	return strcmp(one->objective, "time") == 0;
}

static void row_put(struct report *report, struct sheet *sheet, const struct report_case *one) {
	const json_t *entry = one->entry ? one->entry : one->tune;
	const json_t *config =
		one->entry ? json_object_get(entry, "config") : json_object_get(json_object_get(entry, "best"), "config");
	char *words = results_config(config, NULL);
	sheet_row(sheet);
	sheet_link(sheet, arena_printf(report->arena, "#%s", one->anchor), one->kernel);
	sheet_text(sheet, "%s%s%s", one->problem_text, is_time(one) ? "" : ", ", is_time(one) ? "" : one->objective);
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
