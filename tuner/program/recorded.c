/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/program/recorded.h"

#include <string.h>

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
	js_members (name, way, params) {
		if (strcmp(json_string_value(way), "openmp") != 0)
			names[count++] = name;
	}
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
