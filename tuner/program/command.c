/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/value.h"
#include "tuner/program/impl.h"
#include "tuner/program/program_text_impl.h"

char *program_value_text(const json_t *json) {
	struct value value;
	if (json_is_boolean(json))
		return mem_strdup(json_is_true(json) ? "true" : "false");
	if (!value_from_json(json, &value))
		return NULL;
	if (value.type == VALUE_REAL && fabs(value.as.r) < 1e15 && value.as.r == floor(value.as.r))
		return mem_printf("%.0f", value.as.r); /* not "1e+02", which many programs cannot parse */
	int size = value_text(value, NULL, 0) + 1;
	char *text = mem_alloc((size_t)size, 1);
	value_text(value, text, (size_t)size);
	return text;
}

static char *case_value(const void *ctx, const char *name) {
	const struct program_case *one = ctx;
	if (strcmp(name, "SOURCE") == 0)
		return mem_strdup(one->program->here);
	if (strcmp(name, "BUILD") == 0)
		return one->build ? mem_strdup(one->build) : NULL;
	return program_value_text(json_object_get(one->config, name));
}

char *program_fill(const struct program_case *one, const char *text, bool shell, const char **missing) {
	return template_fill(text, &one->program->names, case_value, one, shell, missing);
}

static json_t *shell_words(char *line) {
	json_t *words = line ? json_pack("[s,s,s]", "/bin/sh", "-c", line) : NULL;
	free(line);
	return words;
}

json_t *program_words(const struct program_case *one, const char **missing) {
	const char *const *argv = one->program->spec.argv;
	if (one->program->spec.shell)
		return shell_words(program_fill(one, argv[0], true, missing));
	json_t *words = json_array();
	for (; *argv; argv++) {
		char *word = program_fill(one, *argv, false, missing);
		if (!word) {
			json_decref(words);
			return NULL;
		}
		json_array_append_new(words, json_string(word));
		free(word);
	}
	return words;
}

/* Exports the parameters that the program gets through its command line or its build, so that the commands around it
 * see all of them as variables. */
static void exports_add(const struct program_case *one, struct program_text *out) {
	const struct program *program = one->program;
	for (size_t i = 0; i < program->params.count; i++) {
		const char *name = program->params.list[i];
		char *value = program_value_text(json_object_get(one->config, name));
		if (value && template_is_identifier(name) && !program_is_variable(program, name)) {
			char *word = program_quote(value);
			program_text_printf(out, "export %s=%s; ", name, word);
			free(word);
		}
		free(value);
	}
}

char *program_command(const struct program_case *one, const char *text, const char **missing) {
	char *line = program_fill(one, text, true, missing);
	if (!line)
		return NULL;
	struct program_text out = {0};
	exports_add(one, &out);
	program_text_add(&out, line);
	free(line);
	return program_text_detach(&out);
}
