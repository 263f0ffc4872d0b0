/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/spec_c.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/js.h"
#include "src/base/sha256.h"
#include "src/base/sys.h"
#include "tuner/spec_c_impl.h"

enum { KERNEL_FILE_MAX = 16 << 20, BUILDS_KEPT = 256, REFERENCES_MAX = 16, ARGUMENTS_ROOM = 192 };

struct build {
	char *key;     /* configuration, canonical JSON */
	char *path;    /* NULL: failed, or removed since */
	char *message; /* of what did not compile; else NULL */
};

struct spec_c {
	struct arena *arena;
	struct c_kernel kernel;
	struct c_compiler compiler;
	char folder[4096], source[SHA256_TEXT];
	bool made;        /* the folder */
	struct stat file; /* the kernel's, as it was */
	json_t *baseline;
	struct runner worker;
	struct build *builds;
	size_t build_count, oldest; /* the first that may still have its file */
	unsigned serial;
	uint64_t references[REFERENCES_MAX]; /* seeds that have one */
	size_t reference_count;
};

static const char *const *compiler_words(struct arena *arena) {
	const char *said = getenv("CC");
	char *text = arena_strdup(arena, said && *said ? said : "cc"), *rest = NULL;
	const char **words = arena_alloc(arena, strlen(text) + 2, sizeof *words);
	size_t count = 0;
	for (char *word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
		words[count++] = word;
	if (count == 0)
		words[0] = "cc";
	return words;
}

static int folder_make(struct spec_c *c, struct err *err) {
	const char *base = getenv("TMPDIR");
	char whole[sizeof c->folder - 64];
	if (!base || *base != '/')
		base = "/tmp";
	if ((size_t)snprintf(whole, sizeof whole, "%s", base) >= sizeof whole)
		return err_set(err, ERR_FAILED, "set TMPDIR to a shorter path", "the path of TMPDIR is too long");
	snprintf(c->folder, sizeof c->folder, "%s/sweetspot-c-XXXXXX", whole);
	if (!mkdtemp(c->folder))
		return err_set(err, ERR_FAILED, "set TMPDIR to a folder that can be written", "no folder can be made in %s",
		               base);
	c->made = true;
	return 0;
}

static void folder_remove(const char *folder) {
	DIR *dir = opendir(folder);
	for (const struct dirent *entry; dir && (entry = readdir(dir));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(folder);
}

static int source_hash(struct spec_c *c, const struct spec *spec, struct err *err) {
	size_t size;
	char hash[SHA256_TEXT], *text = sys_read_file(c->kernel.file, KERNEL_FILE_MAX, &size, err);
	if (!text || stat(c->kernel.file, &c->file) != 0) {
		free(text);
		return text ? err_set(err, ERR_USAGE, NULL, "KernelFile can't be read") : -1;
	}
	sha256_text(text, size, hash);
	free(text);
	const char *all = arena_printf(c->arena, "%s %s", spec_hash(spec), hash);
	for (size_t i = 0; c->compiler.words[i]; i++)
		all = arena_printf(c->arena, "%s %s", all, c->compiler.words[i]);
	sha256_text(all, strlen(all), c->source);
	return 0;
}

/* Each value must be able to stand in a -D. */
static int space_check(struct arena *arena, const struct space *space, const struct c_kernel *kernel, struct err *err) {
	for (size_t p = 0; space && p < space_params(space); p++) {
		const char *name = space_param_name(space, p);
		if (strcmp(name, kernel->name) == 0)
			return err_set(err, ERR_USAGE, "call one of them otherwise", "a parameter has the kernel's name %s", name);
		for (size_t v = 0; v < space_param_values(space, p); v++)
			if (!c_define(arena, name, space_param_value(space, p, v), err))
				return -1;
	}
	return 0;
}

static char *path_in(struct spec_c *c, const char *name) {
	return arena_printf(c->arena, "%s/%s", c->folder, name);
}

/* What is the same for all configurations, and proof that the compiler works. */
static int harness_build(struct spec_c *c, struct err *err) {
	const char *const arguments[] = {"-O2",
	                                 "-fPIC",
	                                 "-w",
	                                 "-c",
	                                 path_in(c, c_harness_file),
	                                 "-o",
	                                 path_in(c, c_object_file),
	                                 c->kernel.openmp ? "-fopenmp" : NULL,
	                                 NULL};
	char message[256];
	switch (c_compile(&c->compiler, arguments, message, err)) {
	case C_DONE:
		return 0;
	case C_REFUSED:
		return err_set(err, ERR_FAILED, "name a C compiler that works in the variable CC",
		               "%s can't compile a plug-in: %s", c->compiler.words[0], message);
	case C_BROKEN:
	default:
		return -1;
	}
}

struct spec_c *spec_c_new(const struct spec *spec, struct worker *worker, struct err *err) {
	struct spec_c *c = mem_alloc(1, sizeof *c);
	c->arena = arena_new();
	c->baseline = json_incref((json_t *)spec_baseline(spec));
	c->worker = worker_runner(worker);
	c->compiler = (struct c_compiler){.words = compiler_words(c->arena),
	                                  .folder = c->folder,
	                                  .cwd = arena_strdup(c->arena, spec_folder(spec)),
	                                  .interrupt = worker_interrupt(worker)};
	if (c_kernel_read(spec_kernel(spec), spec_folder(spec), c->arena, &c->kernel, err) ||
	    space_check(c->arena, spec_space(spec), &c->kernel, err) || source_hash(c, spec, err) || folder_make(c, err) ||
	    c_sources_write(&c->kernel, c->folder, err) || harness_build(c, err)) {
		spec_c_free(c);
		return NULL;
	}
	return c;
}

void spec_c_free(struct spec_c *c) {
	if (!c)
		return;
	if (c->made)
		folder_remove(c->folder);
	for (size_t i = 0; i < c->build_count; i++) {
		free(c->builds[i].key);
		free(c->builds[i].path);
		free(c->builds[i].message);
	}
	free(c->builds);
	json_decref(c->baseline);
	arena_free(c->arena);
	free(c);
}

const char *spec_c_source(const struct spec_c *c) {
	return c->source;
}

static int file_check(const struct spec_c *c, struct err *err) {
	struct stat now;
	if (stat(c->kernel.file, &now) == 0 && now.st_size == c->file.st_size &&
	    now.st_mtim.tv_sec == c->file.st_mtim.tv_sec && now.st_mtim.tv_nsec == c->file.st_mtim.tv_nsec)
		return 0;
	return err_set(err, ERR_USAGE, "begin anew: results of two versions must not be mixed", "%s has changed meanwhile",
	               c->kernel.file);
}

/* The compiler's arguments; later options win, so that the specification's do. */
static int arguments_make(struct spec_c *c, struct arena *arena, const json_t *config, const char *path,
                          const char *arguments[ARGUMENTS_ROOM], struct err *err) {
	static const char *const first[] = {"-O3", "-march=native", "-fPIC", "-fvisibility=hidden"};
	size_t count = 0;
	const char *name;
	json_t *member;
	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		arguments[count++] = first[i];
	json_object_foreach((json_t *)config, name, member) {
		struct value value;
		if (count >= ARGUMENTS_ROOM - C_OPTIONS_MAX - 16 || !value_from_json(member, &value))
			return err_set(err, ERR_USAGE, NULL, "the configuration has no C form");
		arguments[count] = c_define(arena, name, value, err);
		if (!arguments[count++])
			return -1;
	}
	arguments[count++] = path_in(c, c_unit_file);
	arguments[count++] = path_in(c, c_object_file);
	for (size_t i = 0; c->kernel.options[i]; i++)
		arguments[count++] = c->kernel.options[i];
	const char *const last[] = {"-shared", "-Wl,-z,defs", "-lm", "-o", path, NULL};
	memcpy(&arguments[count], last, sizeof last);
	return 0;
}

/* Files of builds that are long past are removed; who asks for one again gets it built again. */
static void builds_trim(struct spec_c *c) {
	while (c->build_count - c->oldest > BUILDS_KEPT) {
		struct build *build = &c->builds[c->oldest++];
		if (build->path)
			unlink(build->path);
		free(build->path);
		build->path = NULL;
	}
}

static int build_make(struct spec_c *c, struct build *build, const json_t *config, struct err *err) {
	const char *arguments[ARGUMENTS_ROOM];
	char message[256];
	struct arena *arena = arena_new();
	char *path = mem_printf("%s/build-%u.so", c->folder, c->serial++); /* never one that a worker knows */
	int failed = arguments_make(c, arena, config, path, arguments, err);
	enum c_outcome outcome = failed ? C_BROKEN : c_compile(&c->compiler, arguments, message, err);
	arena_free(arena);
	if (outcome == C_DONE) {
		build->path = path;
		return 0;
	}
	unlink(path);
	free(path);
	if (outcome == C_REFUSED)
		build->message = mem_strdup(message);
	return outcome == C_REFUSED ? 0 : -1;
}

/* The build of a configuration, new or old; NULL and err where nothing can be built. */
static const struct build *build_get(struct spec_c *c, const json_t *config, struct err *err) {
	char *key = js_canonical(config);
	size_t i = 0;
	while (i < c->build_count && strcmp(c->builds[i].key, key) != 0)
		i++;
	if (i < c->build_count) {
		free(key);
	} else {
		c->builds = mem_grow(c->builds, c->build_count + 1, sizeof *c->builds);
		c->builds[c->build_count++] = (struct build){.key = key};
		builds_trim(c);
	}
	struct build *build = &c->builds[i];
	if (!build->path && !build->message && (file_check(c, err) || build_make(c, build, config, err)))
		return NULL;
	return build;
}

/* The request of a build: it has no parameters of its own any more, but an OpenMP kernel has its team. */
static struct trial_request request_of(const struct spec_c *c, const struct trial_request *request,
                                       const struct build *build, json_t *own) {
	struct trial_request of = *request;
	const json_t *threads = c->kernel.openmp ? json_object_get(request->config, "threads") : NULL;
	json_object_set_new(own, "problem", json_object());
	json_object_set_new(own, "config", json_object());
	if (json_is_integer(threads))
		json_object_set(json_object_get(own, "config"), "threads", (json_t *)threads);
	of.kernel = "t1";
	of.library = build->path;
	of.problem = json_object_get(own, "problem");
	of.config = json_object_get(own, "config");
	return of;
}

static int baseline_failed(const struct spec_c *c, const char *how, const char *message, struct err *err) {
	char *config = js_canonical(c->baseline);
	err_set(err, ERR_FAILED, "set the Defaults to a configuration that works: the others are compared with it",
	        "the baseline %.150s %s: %.200s", config, how, message);
	free(config);
	return -1;
}

/* The outputs that are right for this seed: those of the baseline. */
static int reference_make(struct spec_c *c, const struct trial_request *like, struct err *err) {
	for (size_t i = 0; i < c->reference_count; i++)
		if (c->references[i] == like->seed)
			return 0;
	const struct build *build = build_get(c, c->baseline, err);
	if (!build)
		return -1;
	if (!build->path)
		return baseline_failed(c, "does not compile", build->message, err);
	json_t *own = json_object();
	struct trial_result result = {0};
	struct trial_request base = *like;
	base.config = c->baseline;
	struct trial_request request = request_of(c, &base, build, own);
	json_object_set_new((json_t *)request.problem, "reference", json_integer(1));
	request.samples = 1;
	request.warmup = 0;
	request.min_sample_s = request.limit_s = 0;
	request.counters = NULL;
	int failed = c->worker.run(c->worker.ctx, &request, &result, err);
	if (!failed && result.status != TRIAL_CORRECT)
		failed = baseline_failed(c, trial_status_text(result.status), result.message, err);
	if (!failed)
		c->references[c->reference_count < REFERENCES_MAX ? c->reference_count++ : 0] = like->seed;
	trial_result_clear(&result);
	json_decref(own);
	return failed;
}

static int c_run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct spec_c *c = ctx;
	double start = sys_now();
	memset(result, 0, sizeof *result);
	result->value = result->least = NAN;
	if (reference_make(c, request, err))
		return -1;
	const struct build *build = build_get(c, request->config, err);
	if (!build)
		return -1;
	if (!build->path) {
		result->status = TRIAL_COMPILE;
		snprintf(result->message, sizeof result->message, "%s", build->message);
		result->elapsed_s = sys_now() - start;
		return 0;
	}
	json_t *own = json_object();
	struct trial_request of = request_of(c, request, build, own);
	int failed = c->worker.run(c->worker.ctx, &of, result, err);
	result->elapsed_s = sys_now() - start;
	json_decref(own);
	return failed;
}

struct runner spec_c_runner(struct spec_c *c) {
	return (struct runner){.ctx = c, .run = c_run};
}
