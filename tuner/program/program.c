/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fts.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "base/text.h"
#include "tuner/build/cache.h"
#include "tuner/program/program_impl.h"

/* Compilers (GCC, Clang, gfortran, nvcc), linkers, CMake and Python write one of these; make and cargo only repeat that
 * something failed, so their own lines come last. */
static const char *const marks[] = {"error:",      "Error:",      "undefined reference",
                                    "error #",     "CMake Error", "No such file or directory",
                                    "cannot find", "not found",   "No rule to make target"};

/* The compiler repeats that its linker failed, behind what the linker said. */
static bool is_repetition(const char *text) {
	return strstr(text, "ld returned 1 exit status") || strstr(text, "linker command failed");
}

static const char *find(const json_t *lines, const char *mark) {
	js_each (line, lines) {
		const char *text = json_string_value(line);
		if (text && strstr(text, mark) && !is_repetition(text))
			return text;
	}
	return NULL;
}

/* The earliest line with any of the marks. */
static const char *earliest(const json_t *lines) {
	js_each (line, lines) {
		const char *text = json_string_value(line);
		for (size_t m = 0; text && m < sizeof marks / sizeof *marks; m++)
			if (strstr(text, marks[m]))
				return text;
	}
	return NULL;
}

/* The first line of the array that reports an error, else the last line; NULL if there is none. Borrowed. */
static const char *program_first_error(const json_t *lines) {
	const char *line = find(lines, "error:");
	if (!line)
		line = earliest(lines);
	return line ? line : json_string_value(json_array_get(lines, json_array_size(lines) - 1));
}

static uint64_t entry_mark(const FTSENT *entry) {
	const struct stat *info = entry->fts_statp;
	const int64_t facts[] = {(int64_t)info->st_ino, info->st_mode, info->st_size, info->st_mtim.tv_sec,
	                         info->st_mtim.tv_nsec};
	return hash_add(hash_text(entry->fts_path), facts, sizeof facts);
}

/* A fingerprint that stays the same as long as nothing in the tree is created, written or removed. */
static uint64_t program_tree_mark(const char *path) {
	char *const roots[] = {(char *)path, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	uint64_t mark = 0; /* a sum, because folders list their entries in no fixed order */
	for (FTSENT *entry; walk && (entry = fts_read(walk));)
		mark += entry->fts_info == FTS_DP ? 0 : entry_mark(entry);
	if (walk)
		fts_close(walk);
	return mark;
}

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
	return program_inputs_hold(program_build_source(builds->program), build_cache_base(builds->cache), facts, true);
}

/* Equal for configurations that differ only in parameters that the build does not name. */
static char *build_key(void *ctx, const json_t *config) {
	const struct program_builds *builds = ctx;
	js_auto json_t *members = json_object();
	js_members (name, value, config)
		if (template_mentions(builds->program->spec.build, name))
			json_object_set(members, name, value);
	return js_canonical(members);
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
	mem_auto char *line = program_fill(one, spec->build, true, missing);
	if (!line)
		return NULL;
	json_t *request = json_pack("{s:s,s:[s,s,s],s:s,s:o,s:i,s:i,s:f,s:b}", "op", "program", "argv", "/bin/sh", "-c",
	                            line, "cwd", one->build, "env", json_deep_copy(builds->environment), "samples", 1,
	                            "warmup", 0, "timeout_s", seconds, "show", true);
	return request;
}

static bool program_is_param(const struct program *program, const char *name);

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

/* Checks that the sources can be copied. Nothing is created before the first build. */
static struct program_builds *program_builds_new(const struct program *program, struct err *err) {
	if (source_check(program, err))
		return NULL;
	struct program_builds *builds = mem_alloc(1, sizeof *builds);
	const struct build_work work = {
		.ctx = builds, .key = build_key, .make = build_make, .release = build_folder_release};
	builds->program = program;
	builds->environment = program_variables(program, program->baseline);
	builds->cache = build_cache_new(program->spec.build_folder);
	builds->builder = builder_new(&work, program->worker);
	return builds;
}

/* stops builds under way and gives all folders back */
static void program_builds_free(struct program_builds *builds) {
	if (!builds)
		return;
	builder_free(builds->builder);
	build_cache_free(builds->cache);
	json_decref(builds->environment);
	free(builds);
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
	mem_auto char *text = program_join(spec->argv, false);
	const char *const *argv = list_copy(arena, (const char *const[]){text, NULL});
	return argv;
}

static void spec_copy(struct program *program, const struct program_spec *spec) {
	struct arena *arena = program->arena;
	program->spec = *spec;
	program->spec.argv = argv_copy(arena, spec);
	program->spec.call = text_copy(arena, spec->call);
	program->spec.cwd = text_copy(arena, spec->cwd);
	program->spec.folder = text_copy(arena, spec->folder);
	program->spec.input = text_copy(arena, spec->input);
	program->spec.build = text_copy(arena, spec->build);
	program->spec.build_folder = text_copy(arena, spec->build_folder);
	program->spec.before_each = text_copy(arena, spec->before_each);
	program->spec.energy_command = text_copy(arena, spec->energy_command);
	program->spec.setup = text_copy(arena, spec->setup);
	program->spec.teardown = text_copy(arena, spec->teardown);
	program->spec.ready = text_copy(arena, spec->ready);
	program->spec.templates = list_copy(arena, spec->templates);
	program->spec.verify = text_copy(arena, spec->verify);
	program->spec.metric = text_copy(arena, spec->metric);
	program->spec.params = list_copy(arena, spec->params);
	program->baseline = spec->baseline ? json_deep_copy(spec->baseline) : json_object();
	program->baseline_key = js_canonical(program->baseline);
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
	if (places_find(program, err) || service_new(program, &program->service, err) || program_copied_map(program, err) ||
	    program_check(program, err))
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
	service_free(program->service);
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
	return program->builds ? program->builds->builder : NULL;
}

bool program_is_baseline(const struct program *program, const json_t *config) {
	mem_auto char *key = js_canonical(config);
	return strcmp(key, program->baseline_key) == 0;
}

/* one of the user's own */
static bool program_is_param(const struct program *program, const char *name) {
	return text_is_among(name, program->params.list, program->params.count);
}

static bool program_in_argv(const struct program *program, const char *param) {
	for (const char *const *word = program->spec.argv; *word; word++)
		if (template_mentions(*word, param))
			return true;
	return false;
}

static bool program_in_service(const struct program *program, const char *param) {
	const struct service *service = program->service;
	for (size_t i = 0; service && i < service->count; i++)
		if (template_mentions(service->templates[i].text, param))
			return true;
	return template_mentions(program->spec.setup, param);
}

bool program_is_variable(const struct program *program, const char *param) {
	return program_is_param(program, param) && !program_in_argv(program, param) &&
	       !template_mentions(program->spec.build, param) && !program_in_service(program, param);
}

static bool program_in_setup(const struct program *program, const char *param) {
	return program_in_service(program, param) || template_mentions(program->spec.before_each, param);
}

const char *program_param_way(const struct program *program, const char *param) {
	if (program->spec.openmp && !program_is_param(program, param))
		return "openmp";
	if (template_mentions(program->spec.build, param))
		return "build";
	if (program_in_argv(program, param))
		return "argument";
	return program_in_setup(program, param) ? "setup" : "environment";
}

json_t *program_usage(const struct program *program, const json_t *config) {
	mem_auto char *key = js_canonical(config);
	json_t *usage = json_object_get(program->usage, key);
	return json_incref(usage);
}
