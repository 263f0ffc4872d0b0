/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Diagnoses with their evidence, and the experiments that would confirm them. */
#include <config.h>

#include <string.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"

static void lines_put(struct report *report, const json_t *finding, const char *key, const char *before) {
	if (json_array_size(json_object_get(finding, key)) == 0)
		return;
	html_put(report->html, "<ul>");
	js_each (line, json_object_get(finding, key))
		html_put(report->html, "<li>%s%s</li>", before, js_string_or(line, "text", ""));
	html_put(report->html, "</ul>");
}

/* Maps the word to a known class, because the word itself may come from a foreign file. */
static const char *class_of(const char *confidence) {
	return strcmp(confidence, "high") == 0     ? "sure high"
	       : strcmp(confidence, "medium") == 0 ? "sure medium"
	                                           : "sure low";
}

static void finding_put(struct report *report, const json_t *finding) {
	const char *confidence = js_string_or(finding, "confidence", "low"), *next = js_string_or(finding, "next", NULL);
	double strength = js_real_or(finding, "strength", 1);
	html_put(report->html, "<article class=\"why\"><p><span class=\"%s\">%s confidence</span> %s", class_of(confidence),
	         confidence, js_string_or(finding, "sentence", "?"));
	if (strength > 1.005)
		html_put(report->html, " (up to %.2gx)", strength);
	html_put(report->html, "</p>");
	lines_put(report, finding, "evidence", "");
	lines_put(report, finding, "missing", "unknown: ");
	if (next) {
		html_put(report->html, "<p class=\"note\">This experiment would decide:</p>");
		report_command(report, next);
	}
	html_put(report->html, "</article>");
}

static void readings_put(struct report *report, const json_t *readings) {
	if (json_array_size(readings) == 0)
		return;
	report_heading(report, "What the times show");
	js_each (each, readings)
		finding_put(report, each);
}

void report_why(struct report *report, const struct report_section *section) {
	const json_t *findings = json_object_get(section->result, "diagnoses"),
				 *experiments = json_object_get(section->result, "experiments");
	readings_put(report, json_object_get(section->result, "readings"));
	report_heading(report, "Why");
	if (json_array_size(findings) == 0)
		report_absent(
			report,
			report->from
				? "The measurements do not show what holds it back."
				: "The measurements do not show what holds it back. `sweetspot explain --probe` runs experiments that "
				  "may show it:",
			report_command_line(report, section, "explain", "--probe"));
	js_each (each, findings)
		finding_put(report, each);
	if (json_array_size(experiments))
		html_put(report->html,
		         "<p class=\"note\">The gains of some settings are predicted by a model. These experiments would "
		         "measure them:</p>");
	js_each (each, experiments)
		report_command(report, js_string_or(each, "next", ""));
}
