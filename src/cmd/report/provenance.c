/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the numbers come from, and how to get them again. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/cmd/report/report.h"
#include "src/show/results.h"
#include "tuner/program/program.h"

enum { COMMANDS_MAX = 12, HASH_SHOWN = 19 };

static void search_row(struct sheet *sheet, const struct report_search *search) {
	char time[32];
	sheet_row(sheet);
	sheet_number(sheet, (double)search->id, "%lld", (long long)search->id);
	sheet_number(sheet, search->started, "%s", report_time(search->started, time, sizeof time));
	sheet_text(sheet, "%s", search->state);
	sheet_text(sheet, "%s", *search->strategy ? search->strategy : "-");
	sheet_number(sheet, (double)search->seed, "%llu", (unsigned long long)search->seed);
	sheet_number(sheet, (double)search->evaluations, "%zu", search->evaluations);
	sheet_number(sheet, (double)search->trials, "%zu", search->trials);
	sheet_number(sheet, search->valid ? (double)search->valid : NAN, "%llu", (unsigned long long)search->valid);
	sheet_text(sheet, "%s", search->version);
	sheet_text(sheet, "%.*s", HASH_SHOWN, search->source);
}

static void searches_table(struct report *report, const struct report_case *one) {
	static const char *const titles[] = {"\1search", "\1begun", "state",   "strategy", "\1seed", "\1evaluations",
	                                     "\1trials", "\1space", "version", "source",   NULL};
	struct sheet sheet;
	sheet_begin(&sheet, report->html, "Every search of this problem, oldest first", titles);
	for (size_t i = 0; i < one->search_count; i++)
		search_row(&sheet, &one->searches[i]);
	sheet_end(&sheet);
}

static bool is_repeated(const struct report_case *one, size_t at) {
	for (size_t i = at + 1; i < one->search_count; i++)
		if (strcmp(one->searches[i].command, one->searches[at].command) == 0)
			return true;
	return false;
}

static void commands_put(struct report *report, const struct report_case *one) {
	size_t shown = 0;
	html_element(report->html, "p", NULL, "These commands measured it:");
	for (size_t i = one->search_count; i-- > 0 && shown < COMMANDS_MAX;) {
		if (is_repeated(one, i))
			continue;
		report_command(report, one->searches[i].command);
		shown++;
	}
}

/* "sweetspot run KERNEL K=V.. P=V.." of the winner. */
static void again_put(struct report *report, const struct report_case *one) {
	const json_t *program = json_object_get(one->tune, "program"),
				 *config = json_object_get(json_object_get(one->tune, "best"), "config");
	const char *command = js_string_or(program, "shell", NULL), *name, *text = "";
	json_t *json;
	if (command) {
		html_element(report->html, "p", NULL, "This runs the program as it is recommended:");
		report_command(report, command);
	}
	if (program || !json_object_size(config))
		return;
	json_object_foreach((json_t *)config, name, json) {
		char word[96];
		struct value value;
		if (!value_from_json(json, &value) || value_text(value, word, sizeof word) >= (int)sizeof word)
			return;
		char *plain = mem_printf("%s=%s", name, word), *quoted = program_quote(plain);
		text = arena_printf(report->arena, "%s%s%s", text, *text ? " " : "", quoted);
		free(quoted);
		free(plain);
	}
	html_element(report->html, "p", NULL,
	             "This runs what is recommended once more, and this writes it for a job script:");
	report_command(report, report_advice(report, one, "run", text));
	report_command(report, report_command_line(report, one, "export", "--format env"));
}

void report_provenance(struct report *report, const struct report_case *one) {
	report_heading(report, "Where this comes from");
	searches_table(report, one);
	commands_put(report, one);
	again_put(report, one);
}
