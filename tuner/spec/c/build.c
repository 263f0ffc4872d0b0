/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/json/js.h"
#include "src/base/sha256.h"
#include "tuner/build/cache.h"
#include "tuner/spec/c/impl.h"

enum { BUILDS_KEPT = 256, ARGUMENTS_ROOM = 192 };

struct c_builds {
	struct arena *arena;
	const struct c_kernel *kernel;
	struct c_compiler compiler;
	struct build_cache *cache;
	struct build_folder *folder;
	struct stat file; /* the kernel file when it was first read */
	struct c_build *list;
	size_t count, oldest; /* the first that may still have its file */
	unsigned serial;
};

static const char *path_in(const struct c_builds *b, struct arena *arena, const char *name) {
	return arena_printf(arena, "%s/%s", b->compiler.folder, name);
}

/* The harness is the same for all configurations; compiling it first also proves that the compiler works. */
static int harness_build(struct c_builds *b, struct err *err) {
	const char *const arguments[] = {"-O2",
	                                 "-fPIC",
	                                 "-w",
	                                 "-c",
	                                 path_in(b, b->arena, c_harness_file),
	                                 "-o",
	                                 path_in(b, b->arena, c_object_file),
	                                 b->kernel->openmp ? "-fopenmp" : NULL,
	                                 NULL};
	char message[256];
	switch (c_compile(&b->compiler, arguments, message, err)) {
	case C_DONE:
		return 0;
	case C_REFUSED:
		return err_set(err, ERR_FAILED, "name a working C compiler in the environment variable CC",
		               "%s cannot compile a plug-in: %s", b->compiler.words[0], message);
	case C_BROKEN:
	default:
		return -1;
	}
}

/* One folder for all builds of this run. It is not kept, because the plug-ins contain its name. */
static int folder_make(struct c_builds *b, const char *base, struct err *err) {
	char key[SHA256_TEXT];
	sha256_text(b->kernel->file, strlen(b->kernel->file), key);
	b->cache = build_cache_new(base);
	b->folder = build_cache_make(b->cache, key, err);
	if (!b->folder)
		return -1;
	const char *tree = build_folder_tree(b->folder);
	return mkdir(tree, 0700) ? err_set(err, ERR_FAILED, NULL, "cannot make %s: %s", tree, strerror(errno)) : 0;
}

struct c_builds *c_builds_new(const struct c_kernel *kernel, const struct c_compiler *compiler, const char *base,
                              struct err *err) {
	struct c_builds *b = mem_alloc(1, sizeof *b);
	*b = (struct c_builds){.arena = arena_new(), .kernel = kernel, .compiler = *compiler};
	if (stat(kernel->file, &b->file)) {
		err_set(err, ERR_USAGE, NULL, "KernelFile cannot be read");
		goto fail;
	}
	if (folder_make(b, base, err))
		goto fail;
	b->compiler.folder = build_folder_tree(b->folder);
	if (c_sources_write(kernel, b->compiler.folder, err) || harness_build(b, err))
		goto fail;
	return b;
fail:
	c_builds_free(b);
	return NULL;
}

void c_builds_free(struct c_builds *b) {
	if (!b)
		return;
	build_folder_free(b->folder);
	build_cache_free(b->cache);
	for (size_t i = 0; i < b->count; i++) {
		free(b->list[i].key);
		free(b->list[i].path);
		free(b->list[i].message);
	}
	free(b->list);
	arena_free(b->arena);
	free(b);
}

/* The specification's options come last because later options win. */
static int arguments_make(const struct c_builds *b, struct arena *arena, const json_t *config, const char *path,
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
			return err_set(err, ERR_USAGE, NULL, "the configuration cannot be written as C macros");
		arguments[count] = c_define(arena, name, value, err);
		if (!arguments[count++])
			return -1;
	}
	arguments[count++] = path_in(b, arena, c_unit_file);
	arguments[count++] = path_in(b, arena, c_object_file);
	for (size_t i = 0; b->kernel->options[i]; i++)
		arguments[count++] = b->kernel->options[i];
	const char *const last[] = {"-shared", "-Wl,-z,defs", "-lm", "-o", path, NULL};
	memcpy(&arguments[count], last, sizeof last);
	return 0;
}

/* Removes the files of the oldest builds; one that is requested again is built again. */
static void builds_trim(struct c_builds *b) {
	while (b->count - b->oldest > BUILDS_KEPT) {
		struct c_build *build = &b->list[b->oldest++];
		if (build->path)
			unlink(build->path);
		free(build->path);
		build->path = NULL;
	}
}

static int build_make(struct c_builds *b, struct c_build *build, const json_t *config, struct err *err) {
	const char *arguments[ARGUMENTS_ROOM];
	char message[256];
	struct arena *arena = arena_new();
	char *path = mem_printf("%s/build-%u.so", b->compiler.folder,
	                        b->serial++); /* a new name, because a worker may still have the old file open */
	int failed = arguments_make(b, arena, config, path, arguments, err);
	enum c_outcome outcome = failed ? C_BROKEN : c_compile(&b->compiler, arguments, message, err);
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

const struct c_build *c_build_get(struct c_builds *b, const json_t *config, struct err *err) {
	char *key = js_canonical(config);
	size_t i = 0;
	while (i < b->count && strcmp(b->list[i].key, key) != 0)
		i++;
	if (i < b->count) {
		free(key);
	} else {
		b->list = mem_grow(b->list, b->count + 1, sizeof *b->list);
		b->list[b->count++] = (struct c_build){.key = key};
		builds_trim(b);
	}
	struct c_build *build = &b->list[i];
	if (!build->path && !build->message &&
	    (c_file_check(b->kernel->file, &b->file, err) || build_make(b, build, config, err)))
		return NULL;
	return build;
}
