/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/program/build.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/tree.h"
#include "tuner/program/first_error.h"
#include "tuner/program/folder.h"
#include "tuner/program/run.h"
#include "tuner/program/tree.h"

static const struct program_tree_limit LIMIT = {.bytes = 2ull << 30, .files = 200000};
static const double BUILD_SECONDS = 600;

struct build {
	char *key, *path;
	enum trial_status status;
	char message[256];
};

struct program_builds {
	struct program_folder *folder; /* NULL before the first build */
	struct build *list;
	size_t count;
};

static const char *source_folder(const struct program *program) {
	return program->cwd ? program->cwd : program->here;
}

struct program_builds *program_builds_new(const struct program *program, struct err *err) {
	if (!program->out_of_tree && program_tree_copy(source_folder(program), NULL, NULL, &LIMIT, err))
		return NULL;
	return mem_alloc(1, sizeof(struct program_builds));
}

void program_builds_free(struct program_builds *builds) {
	if (!builds)
		return;
	for (size_t i = 0; i < builds->count; i++) {
		free(builds->list[i].key);
		free(builds->list[i].path);
	}
	program_folder_free(builds->folder);
	free(builds->list);
	free(builds);
}

static char *build_key(const struct program *program, const json_t *config) {
	json_t *members = json_object(), *value;
	const char *name;
	json_object_foreach((json_t *)config, name, value) {
		if (template_mentions(program->spec.build, name))
			json_object_set(members, name, value);
	}
	char *key = program_key(members);
	json_decref(members);
	return key;
}

static struct build *build_find(struct program_builds *builds, const char *key) {
	for (size_t i = 0; i < builds->count; i++)
		if (strcmp(builds->list[i].key, key) == 0)
			return &builds->list[i];
	return NULL;
}

static int folder_prepare(const struct program *program, const char *path, struct err *err) {
	if (!program->out_of_tree)
		return program_tree_copy(source_folder(program), path, program_folder_base(program->builds->folder), &LIMIT,
		                         err);
	return mkdir(path, 0700) ? err_set(err, ERR_FAILED, NULL, "cannot make %s: %s", path, strerror(errno)) : 0;
}

static json_t *build_request(const struct program_case *one, const char **missing) {
	const struct program_spec *spec = &one->program->spec;
	double seconds = spec->build_timeout_s > 0 ? spec->build_timeout_s : BUILD_SECONDS;
	char *line = program_fill(one, spec->build, true, missing);
	if (!line)
		return NULL;
	json_t *request = json_pack("{s:s,s:[s,s,s],s:s,s:o,s:i,s:i,s:f,s:b}", "op", "program", "argv", "/bin/sh", "-c",
	                            line, "cwd", one->build, "env", program_variables(one->program, one->program->baseline),
	                            "samples", 1, "warmup", 0, "timeout_s", seconds, "show", true);
	free(line);
	return request;
}

static bool names_param(const struct program *program) {
	for (size_t i = 0; i < program->names.count; i++)
		if (template_mentions(program->spec.build, program->names.list[i]) &&
		    program_is_param(program, program->names.list[i]))
			return true;
	return false;
}

/* Fails a build that changed nothing although its command names a parameter: if `make` finds everything up to date, or
 * builds elsewhere, every configuration would run the same program. */
static void idle_judge(const struct program *program, struct build *build, uint64_t mark) {
	if (!names_param(program) || program_tree_mark(build->path) != mark)
		return;
	build->status = TRIAL_COMPILE;
	snprintf(build->message, sizeof build->message, "%s",
	         program->out_of_tree ? "the build created nothing in its initially empty folder"
	                              : "the build changed nothing in its copy of the sources: if these contain a program "
	                                "that is already built, begin with `make clean` or use `make -B`");
}

static void build_judge(struct build *build, const struct trial_result *result) {
	build->status = result->status == TRIAL_CORRECT ? TRIAL_CORRECT : TRIAL_COMPILE;
	if (build->status != TRIAL_COMPILE)
		return;
	const char *why = program_first_error(json_object_get(result->reply, "said"));
	size_t how = strcspn(result->message, ":"); /* "exit status 2: the last line", of which the first error says more */
	snprintf(build->message, sizeof build->message, "the build: %.*s%s%s", why ? (int)how : 240, result->message,
	         why ? ": " : "", why ? why : "");
}

static int build_run(const struct program *program, const json_t *config, struct build *build, struct err *err) {
	const struct program_case one = {program, config, build->path};
	const char *missing;
	if (folder_prepare(program, build->path, err))
		return -1;
	json_t *request = build_request(&one, &missing);
	if (!request) {
		build->status = TRIAL_CONSTRAINTS;
		snprintf(build->message, sizeof build->message, "{%s} has not been given a value", missing);
		return 0;
	}
	const struct program_run run = {.request = request, .runs = 1};
	uint64_t mark = program_tree_mark(build->path);
	struct trial_result result = {0};
	int failed = program_run(program, &run, &result, err);
	if (!failed)
		build_judge(build, &result);
	if (!failed && build->status == TRIAL_CORRECT)
		idle_judge(program, build, mark);
	trial_result_clear(&result);
	json_decref(request);
	return failed;
}

/* An entry is kept only for a build that has ended, whether it succeeded or not. */
static struct build *build_new(const struct program *program, const json_t *config, const char *key, struct err *err) {
	struct program_builds *builds = program->builds;
	if (!builds->folder && !(builds->folder = program_folder_new(program->spec.build_folder, err)))
		return NULL;
	struct build build = {.path = mem_printf("%s/%zu", program_folder_path(builds->folder), builds->count + 1)};
	int failed = build_run(program, config, &build, err);
	if (failed || build.status != TRIAL_CORRECT)
		tree_remove(build.path);
	if (failed) {
		free(build.path);
		return NULL;
	}
	build.key = mem_strdup(key);
	builds->list = mem_grow(builds->list, builds->count + 1, sizeof *builds->list);
	builds->list[builds->count] = build;
	return &builds->list[builds->count++];
}

enum program_built program_build(const struct program *program, const json_t *config, const char **folder,
                                 struct trial_result *result, struct err *err) {
	char *key = build_key(program, config);
	struct build *build = build_find(program->builds, key);
	if (!build)
		build = build_new(program, config, key, err);
	free(key);
	if (!build)
		return BUILT_ERROR;
	*folder = build->path;
	if (build->status == TRIAL_CORRECT)
		return BUILT_YES;
	memset(result, 0, sizeof *result);
	result->status = build->status;
	result->value = result->least = NAN;
	snprintf(result->message, sizeof result->message, "%s", build->message);
	return BUILT_NO;
}
