/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json/js.h"
#include "tuner/program/program_impl.h"
#include "tuner/program/program_json.h"

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
		.serves = js_bool_or(program, "serves", false),
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
		mem_auto char *text = config ? program_recorded_value(config, name) : NULL;
		if (text || !config)
			list[count++] = name;
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

static void text_set(json_t *json, const char *key, const char *text) {
	if (text)
		json_object_set_new(json, key, json_string(text));
}

static void line_set(json_t *json, const char *key, const struct program *program, const json_t *config) {
	mem_auto char *line = program_line(program, config);
	json_object_set_new(json, key, json_string(line));
}

/* The variables of the OpenMP parameters. */
static json_t *names_json(const struct program *program, const json_t *best) {
	json_t *names = json_object();
	js_members (param, value, best) {
		const char *name = config_variable(param);
		if (name && strcmp(program_param_way(program, param), "openmp") == 0)
			json_object_set_new(names, param, json_string(name));
	}
	if (json_object_get(names, "schedule"))
		json_object_set_new(names, "chunk", json_string(config_variable("chunk")));
	if (json_object_get(names, "proc_bind"))
		json_object_set_new(names, "places", json_string(config_variable("places")));
	return names;
}

static json_t *ways_json(const struct program *program, const json_t *best) {
	json_t *ways = json_object();
	js_members (name, value, best)
		json_object_set_new(ways, name, json_string(program_param_way(program, name)));
	for (size_t i = 0; i < program->params.count; i++)
		json_object_set_new(ways, program->params.list[i],
		                    json_string(program_param_way(program, program->params.list[i])));
	return ways;
}

/* Identifies the executable that was measured, so that `apply` can tell it from another build. */
static void built_set(json_t *json, const struct program *program, const json_t *best) {
	struct program_kept kept = program_kept_find(program, best, false);
	if (kept.name)
		json_object_set_new(json, "built", json_string(kept.hash));
	program_kept_clear(&kept);
}

static void templates_set(json_t *json, const struct program_spec *spec) {
	js_auto json_t *list = json_array();
	for (const char *const *one = spec->templates; one && *one; one++)
		json_array_append_new(list, json_string(*one));
	if (json_array_size(list))
		json_object_set(json, "templates", list);
}

json_t *program_json(const struct program *program, const json_t *best) {
	const struct program_spec *spec = &program->spec;
	json_t *json = json_object(), *argv = json_array();
	for (const char *const *word = program->given.argv; *word; word++)
		json_array_append_new(argv, json_string(*word));
	json_object_set_new(json, "argv", argv);
	json_object_set_new(json, "shell", json_boolean(spec->shell));
	text_set(json, "folder", program->here);
	text_set(json, "cwd", spec->cwd);
	text_set(json, "input", spec->input);
	text_set(json, "build", program->given.build);
	built_set(json, program, best);
	text_set(json, "before_each", program->given.before_each);
	text_set(json, "energy_command", spec->energy_command);
	text_set(json, "setup", spec->setup);
	text_set(json, "teardown", spec->teardown);
	text_set(json, "ready", spec->ready);
	if (spec->serves)
		json_object_set_new(json, "serves", json_true());
	templates_set(json, spec);
	text_set(json, "verify", spec->verify);
	text_set(json, "expect_output", spec->expect_same ? "same" : spec->expect_any ? "any" : NULL);
	text_set(json, "expect_files", spec->expect_files ? "same" : NULL);
	json_object_set_new(json, "openmp", json_boolean(spec->openmp));
	text_set(json, "metric", spec->metric);
	json_object_set_new(json, "maximize", json_boolean(spec->maximize));
	json_object_set_new(json, "params", ways_json(program, best));
	if (spec->openmp)
		json_object_set_new(json, "variables", names_json(program, best));
	json_object_set_new(json, "environment", program_environment(program, best));
	line_set(json, "line", program, best);
	line_set(json, "baseline_line", program, program->baseline);
	return json;
}
