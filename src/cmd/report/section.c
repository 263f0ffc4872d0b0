/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The section of a case. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/cmd/report/report.h"
#include "src/show/results.h"
#include "tuner/program/program.h"

static void tuned_say(struct report *report, const struct report_case *one) {
	const json_t *best = json_object_get(one->tune, "best"), *baseline = json_object_get(one->tune, "baseline");
	const json_t *speedup = json_object_get(one->tune, "speedup");
	char to[48], from[48], gain[64];
	report_value(one, js_real_or(best, "median", NAN), to, sizeof to);
	report_value(one, js_real_or(baseline, "median", NAN), from, sizeof from);
	report_ratio(js_real_or(speedup, "ratio", NAN), json_object_get(speedup, "ci"), gain, sizeof gain);
	char *config = results_config(json_object_get(best, "config"), NULL);
	html_begin(report->html, "p", "class", "lead", NULL);
	html_printf(report->html, "Recommended: ");
	html_element(report->html, "code", NULL, "%s", *config ? config : "(no parameters)");
	html_printf(report->html, ", %s; the baseline takes %s. ", *to ? to : "not measured",
	            *from ? from : "a time that is not known");
	html_element(report->html, "strong", NULL, "%s%s%s", js_string_or(one->tune, "verdict", "undecided"),
	             *gain ? ", " : "", gain);
	html_end(report->html);
	free(config);
}

static void untuned_say(struct report *report, const struct report_case *one) {
	const json_t *winner = json_object_get(one->result, "winner");
	char value[48];
	if (one->is_beyond)
		return;
	if (!json_is_object(winner)) {
		report_absent(report,
		              one->result ? "No configuration of this problem finished."
		                          : "No configuration worked, or all were measured with another source of this kernel.",
		              report_advice(report, one, "tune", ""));
		return;
	}
	report_value(one, report_shown(one, js_real_or(winner, "median", NAN)), value, sizeof value);
	char *config = results_config(json_object_get(winner, "config"), NULL);
	html_begin(report->html, "p", "class", "lead", NULL);
	html_printf(report->html, "Fastest of what was measured: ");
	html_element(report->html, "code", NULL, "%s", config);
	html_printf(report->html, ", %s. It was not held against a baseline:", value);
	html_end(report->html);
	report_command(report, report_advice(report, one, "tune", ""));
	free(config);
}

/* --size as explain takes it. */
static const char *size_words(struct report *report, const struct report_case *one) {
	char *words = results_config(one->problem, NULL), *quoted = program_quote(words);
	const char *text = arena_printf(report->arena, "--size %s", quoted);
	free(words);
	free(quoted);
	return text;
}

static void state_say(struct report *report, const struct report_case *one) {
	const struct report_search *last = &one->searches[one->search_count - 1];
	if (one->entry && strcmp(js_string_or(one->entry, "state", ""), "stale") == 0)
		report_absent(report, "This result is stale: the kernel's source has changed since. Tune it again:",
		              report_advice(report, one, "tune", ""));
	if (strcmp(last->state, "done") != 0)
		report_absent(report,
		              arena_printf(report->arena,
		                           "The newest search was not finished (%s), after %zu trial%s. It can go on:",
		                           last->state, last->trials, last->trials == 1 ? "" : "s"),
		              report_resume(report, one));
}

void report_case(struct report *report, const struct report_case *one) {
	html_begin(report->html, "section", "id", one->anchor, NULL);
	html_begin(report->html, "h2", NULL);
	html_text(report->html, one->kernel);
	html_element(report->html, "small", NULL, " %s%s%s", one->problem_text,
	             strcmp(one->objective, "time") == 0 ? "" : ", ",
	             strcmp(one->objective, "time") == 0 ? "" : one->objective);
	html_end(report->html);
	if (one->tune)
		tuned_say(report, one);
	else
		untuned_say(report, one);
	state_say(report, one);
	if (one->is_beyond)
		report_absent(report,
		              arena_printf(report->arena,
		                           "Only the first %d problems of a kernel are looked into, and this is none of them. "
		                           "This looks into it:",
		                           EXPLAIN_PROBLEMS_MAX),
		              report_command_line(report, one, "explain", size_words(report, one)));
	if (one->result) {
		report_curves(report, one);
		report_heat(report, one);
		report_best(report, one);
		report_effects(report, one);
		report_scaling(report, one);
		report_roofline(report, one);
	}
	report_counters(report, one);
	report_progress(report, one);
	if (one->result)
		report_why(report, one);
	report_provenance(report, one);
	html_end(report->html);
}
