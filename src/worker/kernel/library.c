/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/kernel/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/file_hash.h"
#include "src/base/mem.h"

enum { FILE_MAX = 256 << 20 };

struct library {
	const char *path;
	struct stat stat; /* of the loaded file */
	const struct kernel_entry *entries;
};

struct libraries {
	struct arena *arena;
	struct library items[LIBRARIES_MAX];
	size_t count;
};

struct libraries *libraries_new(void) {
	struct libraries *libraries = mem_alloc(1, sizeof *libraries);
	libraries->arena = arena_new();
	return libraries;
}

void libraries_free(struct libraries *libraries) {
	if (libraries) {
		arena_free(libraries->arena);
		free(libraries);
	}
}

static bool same_file(const struct stat *a, const struct stat *b) {
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int file_check(const char *path, struct stat *now, struct err *err) {
	static const char hint[] = "name the shared object that your build writes, for example ./libmine.so";
	if (path[0] != '/') {
		return err_set(err, ERR_USAGE, hint, "the plug-in's path \"%.200s\" is not absolute", path);
	}
	if (stat(path, now) != 0 || !S_ISREG(now->st_mode)) {
		return err_set(err, ERR_USAGE, hint, "the file %.300s does not exist", path);
	}
	return 0;
}

static bool is_elf(const char *path) {
	char magic[4] = "";
	FILE *file = fopen(path, "rbe");
	bool elf = file && fread(magic, sizeof magic, 1, file) == 1 && memcmp(magic, "\177ELF", sizeof magic) == 0;
	if (file) {
		fclose(file);
	}
	return elf;
}

static int hash_take(const char *path, char hash[SHA256_TEXT], struct err *err) {
	if (!file_hash(path, 0, FILE_MAX, hash)) {
		return err_set(err, ERR_USAGE, NULL, "cannot read %.300s: %s", path, strerror(errno));
	}
	return is_elf(path) ? 0
	                    : err_set(err, ERR_USAGE, "build one with cc -shared -fPIC: see doc/plugins.md",
	                              "%.300s is not a shared object", path);
}

static const struct ss_plugin *plugin_open(const char *path, struct err *err) {
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		err_set(err, ERR_USAGE, "link it with all the libraries that it needs (cc -shared -fPIC ... -lm)",
		        "%.300s cannot be loaded: %.180s", path, dlerror());
		return NULL;
	}
	const struct ss_plugin *plugin = dlsym(handle, "sweetspot_plugin");
	if (!plugin) {
		err_set(err, ERR_USAGE, "write SS_PLUGIN(&your_kernel); in one of its files (sweetspot/kernel.h)",
		        "%.300s is not a plug-in: it does not export sweetspot_plugin", path);
	}
	return plugin;
}

static const struct kernel_entry *entries_new(struct arena *arena, const struct ss_plugin *plugin, const char *hash) {
	const char *source = arena_strdup(arena, hash);
	struct kernel_entry *entries = arena_alloc(arena, LIBRARY_KERNELS_MAX + 1, sizeof *entries);
	for (size_t i = 0; plugin->kernels[i]; i++) {
		entries[i] = (struct kernel_entry){.kernel = plugin->kernels[i], .source = source};
	}
	return entries;
}

/* The hash is taken before loading; a file that changes in between is caught by its time stamp. */
static const struct kernel_entry *library_add(struct libraries *libraries, const char *path, const struct stat *now,
                                              struct err *err) {
	char hash[SHA256_TEXT];
	if (libraries->count == LIBRARIES_MAX) {
		err_set(err, ERR_USAGE, "tune them in several runs", "more than %d plug-ins are loaded", LIBRARIES_MAX);
		return NULL;
	}
	const struct ss_plugin *plugin = hash_take(path, hash, err) == 0 ? plugin_open(path, err) : NULL;
	if (!plugin) {
		return NULL;
	}
	if (library_check(plugin, err) != 0) {
		err_prefix(err, "%.300s", path);
		return NULL;
	}
	struct library *library = &libraries->items[libraries->count++];
	*library = (struct library){.path = arena_strdup(libraries->arena, path),
	                            .stat = *now,
	                            .entries = entries_new(libraries->arena, plugin, hash)};
	return library->entries;
}

const struct kernel_entry *libraries_load(struct libraries *libraries, const char *path, struct err *err) {
	struct stat now;
	if (file_check(path, &now, err) != 0) {
		return NULL;
	}
	for (size_t i = 0; i < libraries->count; i++) {
		const struct library *library = &libraries->items[i];
		if (strcmp(library->path, path) != 0) {
			continue;
		}
		if (same_file(&library->stat, &now)) {
			return library->entries;
		}
		err_set(err, ERR_USAGE, "run it again once the build is done: results of two builds must not be mixed",
		        "%.300s has changed since it was loaded", path);
		return NULL;
	}
	return library_add(libraries, path, &now, err);
}
