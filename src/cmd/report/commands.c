/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands to copy. */
#include "src/cmd/report/report_impl.h"
#include "base/json/js.h"
#include "tuner/program/program.h"

/* Settings as quoted words of a command line. *all: false if some have no word. */
static const char *quoted_words(struct report *report, const json_t *settings, const char *between, bool *all) {
	const char *text = "";
	*all = true;
	js_members (name, json, settings) {
		char word[96];
		struct value value;
		if (!value_from_json(json, &value) || value_text(value, word, sizeof word) >= (int)sizeof word) {
			*all = false;
			continue;
		}
		mem_auto char *plain = mem_printf("%s=%s", name, word), *quoted = program_quote(plain);
		text = arena_printf(report->arena, "%s%s%s", text, *text ? between : "", quoted);
	}
	return text;
}

static const char *newest_command(const struct report_section *section) {
	return section->search_count ? section->searches[section->search_count - 1].command : "";
}

bool report_is_program(const struct report_section *section) {
	return json_is_object(json_object_get(section->tune, "program")) || strstr(newest_command(section), " -- ");
}

/* A specification or a source of the user, which `run` does not take. */
static bool is_source(const struct report_section *section) {
	const char *command = newest_command(section);
	return strstr(command, " --spec ") || strstr(command, " --kernel ");
}

const char *report_command_line(struct report *report, const struct report_section *section, const char *verb,
                                const char *more) {
	bool stores = strcmp(verb, "run") != 0;
	const char *store = stores ? opt_get(report->args, "store", NULL) : NULL, *device = app_device(report->app);
	mem_auto char *kernel = program_quote(section->kernel), *file = store ? program_quote(store) : NULL;
	const char *text =
		arena_printf(report->arena, "sweetspot %s %s%s%s%s%s%s%s", verb, kernel, *more ? " " : "", more,
	                 device ? " --device " : "", device ? device : "", file ? " --store " : "", file ? file : "");
	return text;
}

const char *report_advice(struct report *report, const struct report_section *section, const char *verb,
                          const char *more) {
	bool tune = strcmp(verb, "tune") == 0; /* only tune needs --size; other commands take the problem as words */
	if (report_is_program(section))
		return js_string_or(section->tune, "command", newest_command(section));
	bool all;
	const char *words = quoted_words(report, section->problem, tune ? "," : " ", &all);
	words = arena_printf(report->arena, "%s%s%s%s", tune && *words ? "--size " : "", words, *words && *more ? " " : "",
	                     more);
	return report_command_line(report, section, verb, words);
}

const char *report_again(struct report *report, const struct report_section *section) {
	const json_t *config = js_at(section->tune, "best.config");
	bool all;
	const char *words = quoted_words(report, config, " ", &all);
	return all && json_object_size(config) && !is_source(section) ? report_advice(report, section, "run", words) : NULL;
}

const char **report_names(struct report *report, size_t first) {
	const char **names = arena_alloc(report->arena, opt_words(report->args) + 1, sizeof *names);
	for (size_t i = 0; first + i < opt_words(report->args); i++) {
		struct err ignored = {0};
		const struct kernel_desc *kernel = app_kernel(report->app, opt_word(report->args, first + i), &ignored);
		names[i] = kernel ? kernel->name : opt_word(report->args, first + i);
	}
	return names;
}
