/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the section of one kernel, problem and objective. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "src/cmd/report/report.h"
#include "src/show/results.h"
#include "tuner/program/program.h"

static void tuned_describe(struct report *report, const struct report_section *section) {
	const json_t *best = json_object_get(section->tune, "best"), *baseline = json_object_get(section->tune, "baseline");
	bool keeps = json_equal(json_object_get(best, "config"), json_object_get(baseline, "config"));
	const json_t *speedup = keeps ? NULL : json_object_get(section->tune, "speedup");
	char to[48], from[48], gain[64];
	report_value(section, js_real_or(best, "median", NAN), to, sizeof to);
	report_value(section, js_real_or(baseline, "median", NAN), from, sizeof from);
	report_ratio(js_real_or(speedup, "ratio", NAN), json_object_get(speedup, "ci"), gain, sizeof gain);
	char *config = results_config(json_object_get(best, "config"), NULL);
	html_begin(report->html, "p", "class", "lead", NULL);
	html_printf(report->html, "Recommended: ");
	html_element(report->html, "code", NULL, "%s", *config ? config : "(no parameters)");
	if (keeps)
		html_printf(report->html, ", the baseline, %s. ", *from ? from : "unknown");
	else
		html_printf(report->html, ", %s; baseline: %s. ", *to ? to : "not measured", *from ? from : "unknown");
	html_element(report->html, "strong", NULL, "%s%s%s", js_string_or(section->tune, "verdict", "undecided"),
	             *gain ? ", " : "", gain);
	html_end(report->html);
	free(config);
}

void report_fastest(struct report *report, const json_t *winner, const char *value, const char *rest) {
	char *config = results_config(json_object_get(winner, "config"), NULL);
	html_begin(report->html, "p", "class", "lead", NULL);
	html_printf(report->html, "Fastest measured configuration: ");
	html_element(report->html, "code", NULL, "%s", config);
	html_printf(report->html, ", %s.%s", value, rest);
	html_end(report->html);
	free(config);
}

static void untuned_describe(struct report *report, const struct report_section *section) {
	const json_t *winner = json_object_get(section->result, "winner");
	char value[48];
	if (section->is_beyond)
		return;
	if (!json_is_object(winner)) {
		report_absent(report,
		              section->result
		                  ? "No configuration of this problem finished."
		                  : "No configuration worked, or all were measured with different source code of this kernel.",
		              report_advice(report, section, "tune", ""));
		return;
	}
	report_value(section, report_shown(section, js_real_or(winner, "median", NAN)), value, sizeof value);
	report_fastest(report, winner, value, " This command compares it with the baseline:");
	report_command(report, report_advice(report, section, "tune", ""));
}

/* The problem as --size of explain. */
static const char *size_words(struct report *report, const struct report_section *section) {
	char *words = results_config(section->problem, NULL), *quoted = program_quote(words);
	const char *text = arena_printf(report->arena, "--size %s", quoted);
	free(words);
	free(quoted);
	return text;
}

static void state_describe(struct report *report, const struct report_section *section) {
	const struct report_search *last = &section->searches[section->search_count - 1];
	if (section->entry && strcmp(js_string_or(section->entry, "state", ""), "stale") == 0)
		report_absent(report, "This result is stale because the source of the kernel has changed since. Tune it again:",
		              report_advice(report, section, "tune", ""));
	if (strcmp(last->state, "done") != 0)
		report_absent(
			report,
			arena_printf(report->arena,
		                 "The newest search is not finished (%s) after %zu trial%s. This command continues it:",
		                 last->state, last->trials, last->trials == 1 ? "" : "s"),
			report_resume(report, section));
}

void report_section(struct report *report, const struct report_section *section) {
	html_begin(report->html, "section", "id", section->anchor, NULL);
	html_begin(report->html, "h2", NULL);
	html_text(report->html, section->kernel);
	html_element(report->html, "small", NULL, " %s%s%s", section->problem_text,
	             strcmp(section->objective, "time") == 0 ? "" : ", ",
	             strcmp(section->objective, "time") == 0 ? "" : section->objective);
	html_end(report->html);
	if (section->tune)
		tuned_describe(report, section);
	else
		untuned_describe(report, section);
	state_describe(report, section);
	if (section->is_beyond)
		report_absent(
			report,
			arena_printf(report->arena,
		                 "Only the first %d problems of a kernel are explained on this page, and this one is not "
		                 "among them. This command explains it:",
		                 EXPLAIN_PROBLEMS_MAX),
			report_command_line(report, section, "explain", size_words(report, section)));
	if (section->result) {
		report_curves(report, section);
		report_parts(report, section);
		report_heat(report, section);
		report_best(report, section);
		report_effects(report, section);
		report_scaling(report, section);
		report_roofline(report, section);
		report_functions(report, section);
	}
	report_counters(report, section);
	report_progress(report, section);
	if (section->result)
		report_why(report, section);
	report_provenance(report, section);
	html_end(report->html);
}
