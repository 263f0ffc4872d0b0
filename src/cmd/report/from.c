/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --from: a page about files instead of the store. There are no searches, profiles or commands to repeat them. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"
#include "src/show/results.h"

/* A table of rates is drawn as one: "Throughput (Kops/s)" is a throughput in Kops/s, "GB/s" a rate. */
static void rate_set(struct report *report, struct report_section *section) {
	const json_t *table = json_object_get(section->result, "table");
	const char *value = js_string_or(table, "value", ""), *unit = strpbrk(value, "([");
	if (!js_bool_or(table, "rate", false))
		return;
	size_t label = unit ? (size_t)(unit - value) : 0, length = unit ? strcspn(unit + 1, ")]") : 0;
	while (label && strchr(" _-", value[label - 1]))
		label--;
	section->maximize = true;
	section->amount = js_real_or(table, "scale", 1);
	section->label = label ? arena_printf(report->arena, "%.*s", (int)label, value) : "rate";
	section->unit =
		length ? arena_printf(report->arena, "%.*s", (int)length, unit + 1) : arena_strdup(report->arena, value);
}

/* Returns the result of the section. */
static const json_t *section_add(struct report *report, const struct explain_view *view, size_t row,
                                 const json_t *other) {
	report->sections = mem_grow(report->sections, report->section_count + 1, sizeof *report->sections);
	struct report_section *section = &report->sections[report->section_count++];
	json_t *problem = (json_t *)study_row(view->study, row)->problem;
	char *words = results_config(problem, NULL);
	*section = (struct report_section){.kernel = arena_strdup(report->arena, view->item->kernel),
	                                   .objective = "time",
	                                   .problem_text = arena_strdup(report->arena, words),
	                                   .anchor = arena_printf(report->arena, "section-%zu", report->section_count),
	                                   .problem = json_incref(problem),
	                                   .unit = "s",
	                                   .label = "time",
	                                   .view = *view};
	free(words);
	section->view.problem_row = row;
	section->view.problem = problem;
	section->view.other = other;
	section->result = explain_result(&section->view);
	rate_set(report, section);
	return section->result;
}

/* In a table of sizes alone, or of sizes that grow with their teams, each problem has one row, and none is worth a
 * section. */
static bool is_of_sizes(const struct study *study, size_t problems) {
	return problems > 1 && study_rows(study) == problems;
}

int report_from(struct report *report, struct err *err) {
	struct study_set *set = explain_load(report->app, report->args, "time", err);
	if (!set)
		return -1;
	report->sets = mem_grow(report->sets, report->set_count + 1, sizeof *report->sets);
	report->sets[report->set_count++] = set;
	for (size_t i = 0; i < study_set_count(set); i++) {
		struct explain_view view = {.app = report->app, .args = report->args};
		size_t rows[EXPLAIN_PROBLEMS_MAX], count;
		struct study_item *item = study_set_at(set, i);
		if (!item->trials || !explain_view_make(set, item, NULL, &view))
			continue;
		report->machine = report->machine ? report->machine : item->machine;
		count = explain_problems(view.study, rows);
		bool one = is_of_sizes(view.study, count);
		const json_t *other = NULL;
		for (size_t p = 0; p < (one ? 1 : count); p++)
			other = section_add(report, &view, rows[p], other);
		if (one)
			report->sections[report->section_count - 1].problem_text = "";
	}
	report->from = true;
	return report->section_count ? 0 : err_set(err, ERR_NOTHING, NULL, "no configuration of these files worked");
}

static const char *list_text(struct report *report, const json_t *names) {
	const char *text = "";
	js_each(name, names)
		text = arena_printf(report->arena, "%s%s%s", text, name_at ? ", " : "", json_string_value(name));
	return *text ? text : "none";
}

static void machine_put(struct report *report) {
	html_begin(report->html, "section", "id", "machine", NULL);
	html_element(report->html, "h2", NULL, "Machine");
	if (study_machine_is_unknown(report->machine)) {
		html_element(
			report->html, "p", NULL,
			"The machine is unknown, so statements that depend on its cores, caches or memory are omitted. --machine "
			"describes it.");
	} else {
		json_t *plain = json_copy((json_t *)report->machine);
		json_object_update(plain, json_object_get(report->machine, "caches"));
		json_object_del(plain, "caches");
		char *words = results_config(plain, NULL);
		html_element(report->html, "p", NULL, "%s", words);
		free(words);
		json_decref(plain);
	}
	html_end(report->html);
}

static void table_put(struct report *report, const struct report_section *section) {
	const json_t *table = json_object_get(section->result, "table");
	if (!json_is_object(table))
		return;
	html_element(report->html, "p", "note",
	             "Read from a table of %lld rows with %lld values; problem: %s; parameters: %s; value: %s.",
	             (long long)js_int_or(table, "rows", 0), (long long)js_int_or(table, "values", 0),
	             list_text(report, json_object_get(table, "problem")),
	             list_text(report, json_object_get(table, "parameters")), js_string_or(table, "value", "?"));
}

static void lead_put(struct report *report, const struct report_section *section) {
	const json_t *winner = json_object_get(section->result, "winner");
	double median = js_real_or(winner, "median", NAN);
	char value[64];
	bool one_each = !*section->problem_text && json_array_size(json_object_get(section->result, "problems")) > 1;
	if (one_each || !json_is_object(winner) || !json_object_size(json_object_get(winner, "config")))
		return;
	report_value(section, report_shown(section, median), value, sizeof value);
	report_fastest(report, winner, value, "");
}

static void section_put(struct report *report, const struct report_section *section) {
	html_begin(report->html, "section", "id", section->anchor, NULL);
	html_begin(report->html, "h2", NULL);
	html_text(report->html, section->kernel);
	html_element(report->html, "small", NULL, " %s", section->problem_text);
	html_end(report->html);
	lead_put(report, section);
	table_put(report, section);
	report_curves(report, section);
	report_parts(report, section);
	report_heat(report, section);
	report_best(report, section);
	report_effects(report, section);
	report_scaling(report, section);
	report_why(report, section);
	html_end(report->html);
}

void report_from_sections(struct report *report) {
	machine_put(report);
	for (size_t i = 0; i < report->section_count; i++)
		section_put(report, &report->sections[i]);
}
