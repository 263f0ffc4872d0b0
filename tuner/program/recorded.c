/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/program/recorded.h"

#include "base/json/js.h"

static const char **words_of(struct arena *arena, const json_t *argv) {
	const char **words = arena_alloc(arena, json_array_size(argv) + 1, sizeof *words);
	for (size_t i = 0; i < json_array_size(argv); i++)
		words[i] = json_string_value(json_array_get(argv, i));
	return words;
}

/* The OpenMP parameters have fixed definitions. */
static const char **own_params(struct arena *arena, const json_t *params) {
	const char **names = arena_alloc(arena, json_object_size(params) + 1, sizeof *names);
	size_t count = 0;
	js_members (name, way, params)
		if (strcmp(json_string_value(way), "openmp") != 0)
			names[count++] = name;
	return names;
}

struct program_spec program_recorded(struct arena *arena, const json_t *program, const json_t *baseline) {
	return (struct program_spec){
		.argv = words_of(arena, json_object_get(program, "argv")),
		.params = own_params(arena, json_object_get(program, "params")),
		.shell = js_bool_or(program, "shell", false),
		.cwd = js_string_or(program, "cwd", NULL),
		.input = js_string_or(program, "input", NULL),
		.build = js_string_or(program, "build", NULL),
		.before_each = js_string_or(program, "before_each", NULL),
		.energy_command = js_string_or(program, "energy_command", NULL),
		.setup = js_string_or(program, "setup", NULL),
		.teardown = js_string_or(program, "teardown", NULL),
		.ready = js_string_or(program, "ready", NULL),
		.templates = words_of(arena, json_object_get(program, "templates")),
		.verify = js_string_or(program, "verify", NULL),
		.expect_same = strcmp(js_string_or(program, "expect_output", ""), "same") == 0,
		.expect_any = strcmp(js_string_or(program, "expect_output", ""), "any") == 0,
		.expect_files = js_string_or(program, "expect_files", NULL) != NULL,
		.metric = js_string_or(program, "metric", NULL),
		.maximize = js_bool_or(program, "maximize", false),
		.openmp = js_bool_or(program, "openmp", false),
		.baseline = baseline,
	};
}

static const char *const folders[] = {"SOURCE", "BUILD"};
enum { FOLDERS = sizeof folders / sizeof *folders };

char *program_recorded_value(const void *ctx, const char *name) {
	for (size_t i = 0; i < FOLDERS; i++)
		if (strcmp(name, folders[i]) == 0)
			return mem_strdup(js_string_or(ctx, name, "."));
	return program_value_text(json_object_get(ctx, name));
}

/* Lists the names that can be filled in: all parameters or, with `config`, those that have a value, so that others keep
 * their braces. The caller frees the list. */
struct template_names program_recorded_names(const json_t *program, const json_t *config) {
	json_t *params = json_object_get(program, "params");
	const char **list = mem_alloc(json_object_size(params) + FOLDERS, sizeof *list);
	size_t count = 0;
	js_members (name, way, params) {
		char *text = config ? program_recorded_value(config, name) : NULL;
		if (text || !config)
			list[count++] = name;
		free(text);
	}
	size_t own = count;
	for (size_t i = 0; i < FOLDERS; i++)
		list[count++] = folders[i];
	return (struct template_names){.list = list, .count = count, .own = own};
}

char *program_recorded_fill(const char *template, bool shell, const json_t *program, const json_t *config) {
	struct template_names names = program_recorded_names(program, config);
	const char *missing;
	char *filled = template_fill(template, &names, program_recorded_value, config, shell, &missing);
	free((void *)names.list);
	return filled;
}

json_t *program_recorded_words(const json_t *program, const json_t *config) {
	const json_t *argv = json_object_get(program, "argv");
	bool shell = js_bool_or(program, "shell", false);
	json_t *words = shell ? json_pack("[s,s]", "/bin/sh", "-c") : json_array();
	for (size_t i = 0; i < json_array_size(argv); i++) {
		mem_auto char *word = program_recorded_fill(json_string_value(json_array_get(argv, i)), shell, program, config);
		if (word)
			json_array_append_new(words, json_string(word));
	}
	return words;
}
