/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/program/environment.h"
#include "tuner/program/program_impl.h"
#include "base/json/js.h"
#include "tuner/program/kept.h"

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
