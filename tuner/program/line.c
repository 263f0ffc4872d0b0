/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "tuner/program/impl.h"
#include "tuner/program/text.h"

static void word_add(struct program_text *out, const char *text) {
	char *word = program_quote(text);
	program_text_add(out, word);
	free(word);
}

/* The folder in which a person would build: that of the sources, or one beside it. */
static char *line_build(const struct program *program) {
	if (!program->spec.build)
		return NULL;
	if (program->out_of_tree)
		return mem_printf("%s/sweetspot-build", program->here);
	return mem_strdup(program->cwd ? program->cwd : program->here);
}

/* Adds the build command unchanged if it can precede "&&", otherwise in a separate shell. */
static void build_add(struct program_text *out, const struct program_case *one) {
	const char *missing;
	char *line = program_fill(one, one->program->spec.build, true, &missing);
	const char *text = line ? line : one->program->spec.build;
	if (strpbrk(text, "#\n")) {
		program_text_add(out, "sh -c ");
		word_add(out, text);
	} else if (strpbrk(text, ";|&") || strncmp(text, "cd ", 3) == 0 || strncmp(text, "ex", 2) == 0) {
		program_text_printf(out, "(%s)", text);
	} else {
		program_text_add(out, text);
	}
	program_text_add(out, " && ");
	free(line);
}

static void variables_add(struct program_text *out, const struct program *program, const json_t *config) {
	json_t *variables = program_environment(program, config), *unset = program_unset(program, config);
	char *prefix = program_env_prefix(unset, variables);
	program_text_add(out, prefix);
	free(prefix);
	json_decref(unset);
	json_decref(variables);
}

static void command_add(struct program_text *out, const struct program_case *one) {
	const char *missing = NULL;
	json_t *words = program_words(one, &missing), *word;
	size_t i;
	json_array_foreach(words, i, word) {
		bool shell = i == 0 && one->program->spec.shell;
		program_text_add(out, i ? " " : "");
		word_add(out, shell ? "sh" : json_string_value(word));
	}
	if (missing)
		program_text_printf(out, "# {%s} has not been given a value", missing);
	json_decref(words);
}

/* Adds whatever precedes the command. Returns true if that changes the folder, so that all of it needs parentheses. */
static bool prologue_add(struct program_text *out, const struct program_case *one) {
	const struct program *program = one->program;
	bool moves = program->cwd || program->out_of_tree;
	if (moves)
		program_text_add(out, "(");
	if (program->out_of_tree) {
		program_text_add(out, "mkdir -p ");
		word_add(out, one->build);
		program_text_add(out, " && cd ");
		word_add(out, one->build);
		program_text_add(out, " && ");
		build_add(out, one);
	}
	if (program->cwd) {
		program_text_add(out, "cd ");
		word_add(out, program->spec.cwd);
		program_text_add(out, " && ");
	}
	if (program->spec.build && !program->out_of_tree)
		build_add(out, one);
	return moves;
}

char *program_line(const struct program *program, const json_t *config) {
	struct program_text out = {0};
	char *build = line_build(program);
	const struct program_case one = {program, config, build};
	bool moves = prologue_add(&out, &one);
	variables_add(&out, program, config);
	command_add(&out, &one);
	if (program->input) {
		program_text_add(&out, " < ");
		word_add(&out, program->out_of_tree ? program->input : program->spec.input);
	}
	program_text_add(&out, moves ? ")" : "");
	free(build);
	return program_text_detach(&out);
}
