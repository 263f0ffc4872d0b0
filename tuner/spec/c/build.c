/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiles each configuration to a plug-in, in a folder of the cache for builds. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/json/js.h"
#include "src/base/sys.h"
#include "tuner/build/builder.h"
#include "tuner/build/cache.h"
#include "tuner/build/toolchain.h"
#include "tuner/spec/c/impl.h"

struct c_builds {
	struct arena *arena;
	const struct c_kernel *kernel;
	struct c_compiler compiler;
	struct build_cache *cache;
	struct build_folder *folder; /* of the run */
	struct builder *builder;
	struct stat file;     /* the kernel file when it was first read */
	struct sha256 common; /* of everything except the configuration */
	bool keeps, renews;
	char *path; /* of the last plug-in that was asked for */
};

/* The harness is the same for all configurations; compiling it first also proves that the compiler works. */
static int harness_build(struct c_builds *b, struct err *err) {
	const char *const arguments[] = {"-O2",
	                                 "-fPIC",
	                                 "-w",
	                                 "-c",
	                                 arena_printf(b->arena, "%s/%s", b->compiler.folder, c_harness_file),
	                                 "-o",
	                                 arena_printf(b->arena, "%s/%s", b->compiler.folder, c_object_file),
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

static int tree_make(const struct build_folder *folder, struct err *err) {
	const char *tree = build_folder_tree(folder);
	return mkdir(tree, 0700) ? err_set(err, ERR_FAILED, NULL, "cannot make %s: %s", tree, strerror(errno)) : 0;
}

/* The folder of the run is removed at its end: what it holds is made again in no time, and reference outputs may be
 * large. */
static int folder_make(struct c_builds *b, const char *base, struct err *err) {
	char key[SHA256_TEXT];
	sha256_text(b->kernel->file, strlen(b->kernel->file), key);
	b->cache = build_cache_new(base);
	b->folder = build_cache_make(b->cache, key, err);
	if (!b->folder || tree_make(b->folder, err))
		return -1;
	b->compiler.folder = build_folder_tree(b->folder);
	return 0;
}

static void words_hash(struct sha256 *sha, const char *const *words) {
	for (; *words; words++)
		toolchain_hash_text(sha, *words);
	toolchain_hash_text(sha, NULL);
}

static void common_hash(struct c_builds *b) {
	struct sha256 *sha = &b->common;
	toolchain_hash_text(sha, b->compiler.cwd);
	words_hash(sha, c_first_options);
	words_hash(sha, b->kernel->options);
	words_hash(sha, b->compiler.words);
	for (size_t i = 0; b->compiler.words[i]; i++)
		toolchain_hash_line(sha, b->compiler.words[i]);
	toolchain_hash_host(sha);
}

static char *build_key(void *ctx, const json_t *config) {
	(void)ctx;
	return js_canonical(config);
}

/* Keeps the folder for later sessions where it is known what the plug-in was made of. */
static int folder_compile(const struct c_builds *b, const struct c_compiler *compiler, struct build_folder *folder,
                          const json_t *config, struct built *built, struct err *err) {
	json_t *facts = NULL;
	int failed = tree_make(folder, err) ||
	             c_plugin_compile(b->kernel, compiler, config, build_folder_tree(folder), built, &facts, err);
	if (facts && b->keeps)
		build_folder_keep(folder, facts, built->seconds);
	json_decref(facts);
	return failed ? -1 : 0;
}

static struct build_folder *earlier_find(const struct c_builds *b, const char *key, struct built *built) {
	struct build_folder *folder = b->keeps && !b->renews ? build_cache_find(b->cache, key, c_depend_holds, NULL) : NULL;
	if (!folder)
		return NULL;
	built->found = true;
	built->status = TRIAL_CORRECT;
	built->seconds = build_folder_seconds(folder);
	return folder;
}

static int plugin_make(void *ctx, struct worker *worker, const char *config_text, const json_t *config, double seconds,
                       struct built *built, struct err *err) {
	const struct c_builds *b = ctx;
	struct c_compiler compiler = b->compiler;
	struct sha256 sha = b->common;
	char key[SHA256_TEXT];
	compiler.interrupt = worker_interrupt(worker);
	compiler.worker = b->compiler.worker ? worker : NULL;
	compiler.seconds = seconds;
	toolchain_hash_text(&sha, config_text);
	sha256_end(&sha, key);
	if (c_file_check(b->kernel->file, &b->file, err))
		return -1;
	built->artefact = earlier_find(b, key, built);
	if (built->artefact)
		return 0;
	struct build_folder *folder = build_cache_make(b->cache, key, err);
	int failed = folder ? folder_compile(b, &compiler, folder, config, built, err) : -1;
	if (failed || built->status != TRIAL_CORRECT) {
		build_folder_free(folder);
		folder = NULL;
	}
	built->artefact = folder;
	return failed;
}

static void plugin_release(void *ctx, struct built *built) {
	(void)ctx;
	build_folder_free(built->artefact);
	built->artefact = NULL;
}

struct c_builds *c_builds_new(const struct c_kernel *kernel, const struct c_compiler *compiler, const char *base,
                              struct worker *worker, struct err *err) {
	struct c_builds *b = mem_alloc(1, sizeof *b);
	const struct build_work work = {.ctx = b, .key = build_key, .make = plugin_make, .release = plugin_release};
	*b = (struct c_builds){.arena = arena_new(), .kernel = kernel, .compiler = *compiler, .keeps = !compiler->worker};
	sha256_start(&b->common);
	if (stat(kernel->file, &b->file)) {
		err_set(err, ERR_USAGE, NULL, "KernelFile cannot be read");
		goto fail;
	}
	if (folder_make(b, base, err) || c_sources_write(kernel, b->compiler.folder, &b->common, err) ||
	    harness_build(b, err))
		goto fail;
	common_hash(b);
	b->builder = builder_new(&work, worker);
	return b;
fail:
	c_builds_free(b);
	return NULL;
}

void c_builds_free(struct c_builds *b) {
	if (!b)
		return;
	builder_free(b->builder);
	build_folder_free(b->folder);
	build_cache_free(b->cache);
	arena_free(b->arena);
	free(b->path);
	free(b);
}

void c_builds_renew(struct c_builds *b) {
	b->renews = true;
}

struct builder *c_builds_builder(struct c_builds *b) {
	return b->builder;
}

const char *c_builds_folder(const struct c_builds *b) {
	return b->compiler.folder;
}

int c_build_get(struct c_builds *b, const json_t *config, double left_s, struct c_build *build, struct err *err) {
	const struct built *built = builder_get(b->builder, config, left_s, err);
	if (!built)
		return -1;
	*build = (struct c_build){0};
	if (built->status != TRIAL_CORRECT) {
		build->message = built->message;
		return 0;
	}
	free(b->path);
	build->path = b->path = mem_printf("%s/%s", build_folder_tree(built->artefact), c_plugin_file);
	return 0;
}
