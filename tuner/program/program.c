/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/program/program.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json/js.h"
#include "tuner/program/build.h"
#include "tuner/program/environment.h"
#include "tuner/program/impl.h"

static const char *const FOLDERS[] = {"SOURCE", "BUILD"};
enum { FOLDER_COUNT = sizeof FOLDERS / sizeof *FOLDERS };

static size_t list_count(const char *const *list) {
	size_t count = 0;
	while (list && list[count])
		count++;
	return count;
}

static const char *text_copy(struct arena *arena, const char *text) {
	return text ? arena_strdup(arena, text) : NULL;
}

static const char *const *list_copy(struct arena *arena, const char *const *list) {
	size_t count = list_count(list);
	const char **copy = arena_alloc(arena, count + 1, sizeof *copy);
	for (size_t i = 0; i < count; i++)
		copy[i] = arena_strdup(arena, list[i]);
	return copy;
}

/* A shell line is a single template. */
static const char *const *argv_copy(struct arena *arena, const struct program_spec *spec) {
	if (!spec->shell)
		return list_copy(arena, spec->argv);
	char *text = program_join(spec->argv, false);
	const char *const *argv = list_copy(arena, (const char *const[]){text, NULL});
	free(text);
	return argv;
}

static void spec_copy(struct program *program, const struct program_spec *spec) {
	struct arena *arena = program->arena;
	program->spec = *spec;
	program->spec.argv = argv_copy(arena, spec);
	program->spec.cwd = text_copy(arena, spec->cwd);
	program->spec.folder = text_copy(arena, spec->folder);
	program->spec.input = text_copy(arena, spec->input);
	program->spec.build = text_copy(arena, spec->build);
	program->spec.build_folder = text_copy(arena, spec->build_folder);
	program->spec.before_each = text_copy(arena, spec->before_each);
	program->spec.verify = text_copy(arena, spec->verify);
	program->spec.metric = text_copy(arena, spec->metric);
	program->spec.params = list_copy(arena, spec->params);
	program->baseline = spec->baseline ? json_deep_copy(spec->baseline) : json_object();
	program->baseline_key = program_key(program->baseline);
	program->spec.baseline = program->baseline;
}

static void names_collect(struct program *program) {
	size_t params = list_count(program->spec.params), count = params;
	size_t settings = program->spec.openmp ? list_count(config_settings) : 0;
	const char **names = arena_alloc(program->arena, params + settings + FOLDER_COUNT, sizeof *names);
	if (params)
		memcpy(names, program->spec.params, params * sizeof *names);
	program->params = (struct template_names){program->spec.params, params, params};
	for (size_t i = 0; i < settings; i++)
		names[count++] = config_settings[i];
	for (size_t i = 0; i < FOLDER_COUNT; i++)
		names[count++] = FOLDERS[i];
	program->names = (struct template_names){names, count, params};
}

static const char *absolute(struct program *program, const char *folder, const char *path) {
	if (!path || *path == '/')
		return path;
	return arena_printf(program->arena, "%s/%s", folder, path);
}

static int places_find(struct program *program, struct err *err) {
	const char *folder = program->spec.folder;
	char *here = folder ? realpath(folder, NULL) : getcwd(NULL, 0);
	if (!here)
		return err_set(err, ERR_FAILED, "change to an existing folder", "the %s folder cannot be determined: %s",
		               folder ? "recorded" : "current", strerror(errno));
	program->here = arena_strdup(program->arena, here);
	free(here);
	program->cwd = absolute(program, program->here, program->spec.cwd);
	if (folder && !program->cwd && !program->spec.build)
		program->cwd = program->here;
	program->input = absolute(program, program->cwd ? program->cwd : program->here, program->spec.input);
	program->out_of_tree = template_mentions(program->spec.build, "SOURCE");
	return 0;
}

struct program *program_new(const struct program_spec *spec, struct worker *worker, struct err *err) {
	struct program *program = mem_alloc(1, sizeof *program);
	program->until = INFINITY;
	program->arena = arena_new();
	program->worker = worker;
	program->usage = json_object();
	program->seen = json_object();
	program->used = json_object();
	spec_copy(program, spec);
	names_collect(program);
	program->given = (struct program_given){program->spec.argv, program->spec.build, program->spec.before_each};
	if (places_find(program, err) || program_copied_map(program, err) || program_check(program, err))
		goto fail;
	if (spec->build && !(program->builds = program_builds_new(program, err)))
		goto fail;
	return program;
fail:
	program_free(program);
	return NULL;
}

void program_free(struct program *program) {
	if (!program)
		return;
	program_builds_free(program->builds);
	json_decref(program->usage);
	json_decref(program->seen);
	json_decref(program->used);
	json_decref(program->baseline);
	free(program->baseline_key);
	free(program->unchecked);
	arena_free(program->arena);
	free(program);
}

struct builder *program_builder(struct program *program) {
	return program->builds ? program_builds_builder(program->builds) : NULL;
}

char *program_key(const json_t *config) {
	return js_canonical(config);
}

bool program_is_baseline(const struct program *program, const json_t *config) {
	char *key = program_key(config);
	bool same = strcmp(key, program->baseline_key) == 0;
	free(key);
	return same;
}

bool program_is_param(const struct program *program, const char *name) {
	for (size_t i = 0; i < program->params.count; i++)
		if (strcmp(program->params.list[i], name) == 0)
			return true;
	return false;
}

static bool program_in_argv(const struct program *program, const char *param) {
	for (const char *const *word = program->spec.argv; *word; word++)
		if (template_mentions(*word, param))
			return true;
	return false;
}

bool program_is_variable(const struct program *program, const char *param) {
	return program_is_param(program, param) && !program_in_argv(program, param) &&
	       !template_mentions(program->spec.build, param);
}

const char *program_param_way(const struct program *program, const char *param) {
	if (program->spec.openmp && !program_is_param(program, param))
		return "openmp";
	if (template_mentions(program->spec.build, param))
		return "build";
	return program_in_argv(program, param) ? "argument" : "environment";
}

json_t *program_usage(const struct program *program, const json_t *config) {
	char *key = program_key(config);
	json_t *usage = json_object_get(program->usage, key);
	free(key);
	return json_incref(usage);
}
