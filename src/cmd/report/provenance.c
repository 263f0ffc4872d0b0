/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The origin of the numbers, and the commands that reproduce them. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "src/cmd/report/report.h"
#include "src/show/results.h"
#include "tuner/program/program.h"

enum { COMMANDS_MAX = 12, HASH_SHOWN = 19 };

static void search_row(struct html_table *table, const struct report_search *search) {
	char time[32];
	html_table_row(table);
	html_table_number(table, (double)search->id, "%lld", (long long)search->id);
	html_table_number(table, search->started, "%s", report_time(search->started, time, sizeof time));
	html_table_text(table, "%s", search->state);
	html_table_text(table, "%s", *search->strategy ? search->strategy : "-");
	html_table_number(table, (double)search->seed, "%llu", (unsigned long long)search->seed);
	html_table_number(table, (double)search->evaluations, "%zu", search->evaluations);
	html_table_number(table, (double)search->trials, "%zu", search->trials);
	html_table_number(table, search->valid ? (double)search->valid : NAN, "%llu", (unsigned long long)search->valid);
	html_table_text(table, "%s", search->version);
	html_table_text(table, "%.*s", HASH_SHOWN, search->source);
}

static void searches_table(struct report *report, const struct report_section *section) {
	static const char *const titles[] = {"\1search", "\1started", "state",   "strategy", "\1seed", "\1evaluations",
	                                     "\1trials", "\1space",   "version", "source",   NULL};
	struct html_table table;
	html_table_begin(&table, report->html, "All searches of this problem, oldest first", titles);
	for (size_t i = 0; i < section->search_count; i++)
		search_row(&table, &section->searches[i]);
	html_table_end(&table);
}

static bool is_repeated(const struct report_section *section, size_t at) {
	for (size_t i = at + 1; i < section->search_count; i++)
		if (strcmp(section->searches[i].command, section->searches[at].command) == 0)
			return true;
	return false;
}

static void commands_put(struct report *report, const struct report_section *section) {
	size_t shown = 0;
	html_element(report->html, "p", NULL, "These commands made the measurements:");
	for (size_t i = section->search_count; i-- > 0 && shown < COMMANDS_MAX;) {
		if (is_repeated(section, i))
			continue;
		report_command(report, section->searches[i].command);
		shown++;
	}
}

const char *report_again(struct report *report, const struct report_section *section) {
	const json_t *config = json_object_get(json_object_get(section->tune, "best"), "config");
	const char *name, *text = "";
	json_t *json;
	if (!json_object_size(config) || report_is_source(section))
		return NULL;
	json_object_foreach((json_t *)config, name, json) {
		char word[96];
		struct value value;
		if (!value_from_json(json, &value) || value_text(value, word, sizeof word) >= (int)sizeof word)
			return NULL;
		char *plain = mem_printf("%s=%s", name, word), *quoted = program_quote(plain);
		text = arena_printf(report->arena, "%s%s%s", text, *text ? " " : "", quoted);
		free(quoted);
		free(plain);
	}
	return report_advice(report, section, "run", text);
}

/* Commands that run the winner: "sweetspot run KERNEL K=V.. P=V..", or the program's own command line. */
static void again_put(struct report *report, const struct report_section *section) {
	const json_t *program = json_object_get(section->tune, "program");
	const char *command = js_string_or(program, "shell", NULL), *again = program ? NULL : report_again(report, section);
	if (command) {
		html_element(report->html, "p", NULL, "This command runs the program with the recommended settings:");
		report_command(report, command);
	}
	if (!again)
		return;
	html_element(report->html, "p", NULL,
	             "The first command runs the recommended configuration, the second one writes it for a job script:");
	report_command(report, again);
	report_command(report, report_command_line(report, section, "export", "--format env"));
}

void report_provenance(struct report *report, const struct report_section *section) {
	report_heading(report, "Provenance");
	searches_table(report, section);
	commands_put(report, section);
	again_put(report, section);
}
