/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All recommendations in one table. A problem without a recommendation is listed with the reason. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"
#include "src/show/results.h"

static const char *const titles[] = {"kernel",       "\2problem",  "\2recommended", "\1measured",
                                     "\1interval",   "\1baseline", "\1speedup",     "\1speedup interval",
                                     VERDICT_MEMBER, "checked",    "state",         NULL};

static void values_put(struct html_table *table, const struct report_section *section, const json_t *entry) {
	const json_t *ci = json_object_get(entry, "ci");
	double baseline = js_real_or(json_object_get(entry, "baseline"), "median", NAN);
	char text[48];
	report_cells(table, section, js_real_or(entry, "median", NAN), report_end(ci, 0), report_end(ci, 1));
	report_value(section, baseline, text, sizeof text);
	html_table_number(table, baseline, "%s", text);
}

static void speedup_put(struct html_table *table, struct speedup speedup) {
	bool vague = speedup_is_vague(speedup);
	html_table_number(table, vague ? NAN : speedup.ratio, "%.3gx", speedup.ratio);
	html_table_number(table, isfinite(speedup.high) && !vague ? speedup.low : NAN, "%.3gx to %.3gx", speedup.low,
	                  speedup.high);
}

static const char *state_of(const struct report_section *section) {
	const struct report_search *last = &section->searches[section->search_count - 1];
	if (section->entry)
		return js_string_or(section->entry, "state", "?");
	if (strcmp(last->state, "done") != 0)
		return last->state;
	return strcmp(last->strategy, "auto") == 0 || last->evaluations ? "no configuration worked" : "measured, not tuned";
}

static bool is_time(const struct report_section *section) {
	return strcmp(section->objective, "time") == 0;
}

static void row_put(struct report *report, struct html_table *table, const struct report_section *section) {
	const json_t *entry = section->entry ? section->entry : section->tune;
	const json_t *config =
		section->entry ? json_object_get(entry, "config") : json_object_get(json_object_get(entry, "best"), "config");
	mem_auto char *words = results_config(config, NULL);
	html_table_row(table);
	html_table_link(table, arena_printf(report->arena, "#%s", section->anchor), section->kernel);
	html_table_text(table, "%s%s%s", section->problem_text, is_time(section) ? "" : ", ",
	                is_time(section) ? "" : section->objective);
	html_table_text(table, "%s", *words ? words : "-");
	values_put(table, section, section->entry);
	/* Where the baseline stays, the speedup is that of another configuration, which was not better. */
	bool keeps = json_equal(config, json_object_get(json_object_get(section->entry, "baseline"), "config"));
	speedup_put(table, speedup_of(keeps ? NULL : section->entry));
	html_table_text(table, "%s", section->entry ? verdict_said(section->entry, "?") : "-");
	mem_auto char *checked = verdict_checked(section->entry);
	html_table_text(table, "%s", checked ? checked : "-");
	html_table_text(table, "%s", state_of(section));
}

void report_recommend(struct report *report) {
	struct html_table table;
	bool any = false;
	html_put(report->html, "<section id=\"recommendations\"><h2>Recommendations</h2>");
	for (size_t i = 0; i < report->section_count; i++)
		any = any || report->sections[i].entry;
	if (!any)
		report_absent(
			report,
			"No tuning run has finished on this machine, so there are no recommendations yet. This command tunes:",
			report_advice(report, &report->sections[0], "tune", ""));
	html_table_begin(&table, report->html, "Recommended configuration of each kernel, with 95 % intervals", titles);
	for (size_t i = 0; i < report->section_count; i++)
		row_put(report, &table, &report->sections[i]);
	html_table_end(&table);
	if (any)
		html_put(report->html,
		         "<p>Speedups are relative to the baseline, which is what a user gets without tuning. They come "
		         "from a duel of fresh, interleaved pairs, never from the search. After a tie the baseline "
		         "stays.</p>");
	html_put(report->html, "</section>");
}
