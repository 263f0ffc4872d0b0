/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/program/build.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sys.h"
#include "tuner/build/builder.h"
#include "tuner/build/cache.h"
#include "tuner/program/first_error.h"
#include "tuner/program/inputs.h"
#include "tuner/program/run.h"
#include "tuner/program/tree.h"

static const struct program_tree_limit LIMIT = {.bytes = 2ull << 30, .files = 200000};
static const double BUILD_SECONDS = 600, LEAST_SECONDS = 1e-3;

struct program_builds {
	const struct program *program;
	json_t *environment; /* of all builds */
	struct build_cache *cache;
	struct builder *builder;
};

/* A build under way; helpers run several. */
struct making {
	const struct program *program;
	struct program_case one;
	const char *base; /* the folder of all builds */
	bool marked;      /* the copy tells what is read from it */
	double begun;     /* seconds since 1970 */
};

const char *program_build_source(const struct program *program) {
	return program->out_of_tree || !program->cwd ? program->here : program->cwd;
}

static bool inputs_fit(void *ctx, const json_t *facts) {
	const struct program_builds *builds = ctx;
	return program_inputs_hold(program_build_source(builds->program), build_cache_base(builds->cache), facts);
}

/* Equal for configurations that differ only in parameters that the build does not name. */
static char *build_key(void *ctx, const json_t *config) {
	const struct program_builds *builds = ctx;
	json_t *members = json_object(), *value;
	const char *name;
	json_object_foreach((json_t *)config, name, value) {
		if (template_mentions(builds->program->spec.build, name))
			json_object_set(members, name, value);
	}
	char *key = program_key(members);
	json_decref(members);
	return key;
}

static int folder_prepare(struct making *making, struct err *err) {
	const char *path = making->one.build;
	making->begun = sys_wall();
	if (making->program->out_of_tree)
		return mkdir(path, 0700) ? err_set(err, ERR_FAILED, NULL, "cannot make %s: %s", path, strerror(errno)) : 0;
	return program_tree_copy(program_build_source(making->program), path, making->base, &LIMIT, err);
}

static json_t *build_request(const struct program_builds *builds, const struct program_case *one, double limit,
                             const char **missing) {
	const struct program_spec *spec = &one->program->spec;
	double most = spec->build_timeout_s > 0 ? spec->build_timeout_s : BUILD_SECONDS;
	double seconds = limit > 0 ? limit : most;
	char *line = program_fill(one, spec->build, true, missing);
	if (!line)
		return NULL;
	json_t *request = json_pack("{s:s,s:[s,s,s],s:s,s:o,s:i,s:i,s:f,s:b}", "op", "program", "argv", "/bin/sh", "-c",
	                            line, "cwd", one->build, "env", json_deep_copy(builds->environment), "samples", 1,
	                            "warmup", 0, "timeout_s", seconds, "show", true);
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
static void idle_judge(const struct making *making, struct built *built, uint64_t mark) {
	if (!names_param(making->program) || program_tree_mark(making->one.build) != mark)
		return;
	built->status = TRIAL_COMPILE;
	snprintf(built->message, sizeof built->message, "%s",
	         making->program->out_of_tree
	             ? "the build created nothing in its initially empty folder: a program that must be built in place "
	               "is built before each run by --before-each"
	             : "the build changed nothing in its copy of the sources: if these contain a program that is already "
	               "built, begin with `make clean` or use `make -B`; if it writes elsewhere, by an absolute -o or as "
	               "it was configured, let it write into the current folder");
}

/* A build that reads "../x" does not find it beside the copy. */
static const char *copy_note(const struct making *making, const char *why) {
	bool missing = why && (strstr(why, "No such file") || strstr(why, "o rule to make") || strstr(why, "annot find"));
	return missing && !making->program->out_of_tree ? " (the build runs in a copy of its folder)" : "";
}

static void build_judge(const struct making *making, struct built *built, const struct trial_result *result) {
	built->status = result->status == TRIAL_CORRECT ? TRIAL_CORRECT : TRIAL_COMPILE;
	if (built->status != TRIAL_COMPILE)
		return;
	const char *why = program_first_error(json_object_get(result->reply, "said"));
	size_t how = strcspn(result->message, ":"); /* "exit status 2: the last line", of which the first error says more */
	snprintf(built->message, sizeof built->message, "the build: %.*s%s%s%s", why ? (int)how : 240, result->message,
	         why ? ": " : "", why ? why : "", copy_note(making, why ? why : result->message));
}

/* Runs the command in a folder that is prepared. *facts: what it has read; NULL if that cannot be said. */
static int command_run(const struct making *making, struct worker *worker, json_t *request, struct built *built,
                       json_t **facts, struct err *err) {
	const struct program_run run = {.request = request, .runs = 1};
	const char *copy = making->program->out_of_tree ? NULL : making->one.build;
	uint64_t mark = program_tree_mark(making->one.build);
	bool marked = copy && program_inputs_mark(copy);
	struct trial_result result = {0};
	double begun = sys_now();
	int failed = program_run(worker, &run, &result, err);
	built->seconds = sys_now() - begun;
	if (!failed)
		build_judge(making, built, &result);
	if (!failed && built->status == TRIAL_CORRECT) {
		*facts = program_inputs_seen(program_build_source(making->program), marked ? copy : NULL, making->base,
		                             making->begun);
		idle_judge(making, built, mark);
	}
	trial_result_clear(&result);
	return failed;
}

static int folder_build(struct program_builds *builds, struct worker *worker, const json_t *config, double seconds,
                        struct build_folder *folder, struct built *built, struct err *err) {
	struct making making = {.program = builds->program,
	                        .one = {builds->program, config, build_folder_tree(folder)},
	                        .base = build_cache_base(builds->cache)};
	const char *missing;
	json_t *facts = NULL, *request = build_request(builds, &making.one, seconds, &missing);
	if (!request) {
		built->status = TRIAL_CONSTRAINTS;
		snprintf(built->message, sizeof built->message, "{%s} has not been given a value", missing);
		return 0;
	}
	int failed = folder_prepare(&making, err);
	if (!failed)
		failed = command_run(&making, worker, request, built, &facts, err);
	if (!failed && built->status == TRIAL_CORRECT && facts)
		build_folder_keep(folder, facts, built->seconds);
	json_decref(facts);
	json_decref(request);
	return failed;
}

static int build_make(void *ctx, struct worker *worker, const char *part, const json_t *config, double seconds,
                      struct built *built, struct err *err) {
	struct program_builds *builds = ctx;
	(void)part;
	char key[SHA256_TEXT];
	program_build_identity(builds->program, builds->environment, config, key);
	struct build_folder *folder =
		builds->program->spec.rebuild ? NULL : build_cache_find(builds->cache, key, inputs_fit, builds);
	built->status = TRIAL_CORRECT;
	built->found = folder;
	if (folder) {
		built->seconds = build_folder_seconds(folder);
		built->artefact = folder;
		return 0;
	}
	folder = build_cache_make(builds->cache, key, err);
	int failed = folder ? folder_build(builds, worker, config, seconds, folder, built, err) : -1;
	if (failed || built->status != TRIAL_CORRECT) {
		build_folder_free(folder);
		folder = NULL;
	}
	built->artefact = folder;
	return failed;
}

static void build_release(void *ctx, struct built *built) {
	(void)ctx;
	build_folder_free(built->artefact);
	built->artefact = NULL;
}

/* A home folder holds much that no build needs, and so does everything. */
static int source_check(const struct program *program, struct err *err) {
	static const struct program_tree_limit AT_HOME = {.bytes = 64 << 20, .files = 5000};
	const char *source = program_build_source(program), *home = getenv("HOME");
	struct stat here, there;
	if (program->out_of_tree || stat(source, &here))
		return 0;
	if (stat("/", &there) == 0 && here.st_dev == there.st_dev && here.st_ino == there.st_ino)
		return err_set(err, ERR_USAGE, "change to the folder of the sources, or name it with --cwd",
		               "the build would copy the whole of / for each value");
	bool at_home = home && stat(home, &there) == 0 && here.st_dev == there.st_dev && here.st_ino == there.st_ino;
	return program_tree_copy(source, NULL, NULL, at_home ? &AT_HOME : &LIMIT, err);
}

struct program_builds *program_builds_new(const struct program *program, struct err *err) {
	if (source_check(program, err))
		return NULL;
	struct program_builds *builds = mem_alloc(1, sizeof *builds);
	const struct build_work work = {.ctx = builds, .key = build_key, .make = build_make, .release = build_release};
	builds->program = program;
	builds->environment = program_variables(program, program->baseline);
	builds->cache = build_cache_new(program->spec.build_folder);
	builds->builder = builder_new(&work, program->worker);
	return builds;
}

void program_builds_free(struct program_builds *builds) {
	if (!builds)
		return;
	builder_free(builds->builder);
	build_cache_free(builds->cache);
	json_decref(builds->environment);
	free(builds);
}

struct builder *program_builds_builder(struct program_builds *builds) {
	return builds->builder;
}

enum program_built program_build(const struct program *program, const json_t *config, const char **folder,
                                 struct trial_result *result, struct err *err) {
	double left = fmax(program->until - sys_now(), LEAST_SECONDS);
	const struct built *built = builder_get(program->builds->builder, config, isfinite(left) ? left : 0, err);
	if (!built)
		return BUILT_ERROR;
	if (built->status == TRIAL_CORRECT) {
		*folder = build_folder_tree(built->artefact);
		return BUILT_YES;
	}
	memset(result, 0, sizeof *result);
	result->status = built->status;
	result->value = result->least = NAN;
	snprintf(result->message, sizeof result->message, "%s", built->message);
	return BUILT_NO;
}
