/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "src/cmd/fleet/run.h"
#include "tuner/program/program.h"

void fleet_line_add(struct fleet_line *line, const char *word) {
	line->words = mem_grow(line->words, line->count + 2, sizeof *line->words);
	line->words[line->count++] = word;
	line->words[line->count] = NULL;
}

void fleet_line_words(struct fleet_line *line, const char *const *words) {
	for (; words && *words; words++)
		fleet_line_add(line, *words);
}

void fleet_line_clear(struct fleet_line *line) {
	free(line->words);
	*line = (struct fleet_line){0};
}

char *fleet_line_text(const struct fleet_line *line) {
	return program_join(line->words, true);
}

static void option_add(struct fleet_line *line, const struct fleet_run *run, const struct opt *option) {
	for (size_t i = 0; i < opt_count(run->args, option->name); i++)
		fleet_line_add(line, option->meta
		                         ? arena_printf(run->arena, "--%s=%s", option->name, opt_at(run->args, option->name, i))
		                         : arena_printf(run->arena, "--%s", option->name));
}

void fleet_line_options(struct fleet_line *line, const struct fleet_run *run, const struct opt *table) {
	for (const struct opt *option = table; option->name; option++)
		option_add(line, run, option);
}

static void passed_add(struct fleet_line *line, const struct fleet_run *run, bool resume) {
	for (const struct opt *const *table = fleet_passed; *table; table++)
		for (const struct opt *option = *table; option->name; option++)
			if (resume || strcmp(option->name, "resume") != 0)
				option_add(line, run, option);
	for (size_t i = 1; i < opt_words(run->args); i++) /* word 0 is the verb */
		fleet_line_add(line, opt_word(run->args, i));
	if (!opt_dashes(run->args))
		return;
	size_t count;
	fleet_line_add(line, "--");
	fleet_line_words(line, (const char *const *)opt_rest(run->args, &count));
}

void fleet_line_tune(struct fleet_line *line, const struct fleet_run *run) {
	static const char *const common[] = {"quiet", "verbose"};
	for (size_t i = 0; i < 2; i++)
		if (opt_has(run->args, common[i]))
			fleet_line_add(line, i ? "--verbose" : "--quiet");
	passed_add(line, run, true);
}

char *fleet_key(const struct fleet_run *run) {
	struct fleet_line line = {0};
	passed_add(&line, run, false);
	char *text = line.count ? fleet_line_text(&line) : mem_strdup("");
	fleet_line_clear(&line);
	return text;
}
