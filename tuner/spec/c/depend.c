/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The prerequisites that a compiler writes with -MD, a rule of make, as hashes of the files. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/file_hash.h"
#include "src/base/sys.h"
#include "tuner/spec/c/impl.h"

enum { RULE_MAX = 4 << 20, FILE_MAX = 64 << 20, FILES_MAX = 10000 };

static json_t *hash_of(const char *path) {
	char hash[SHA256_TEXT];
	return file_hash(path, 0, FILE_MAX, hash) ? json_string(hash) : NULL;
}

/* The next name of a rule, into `name`, which has room for all of the rule; NULL: there are no more. */
static const char *name_next(const char *at, char *name) {
	size_t size = 0;
	while (*at == ' ' || *at == '\n' || *at == '\t' || (at[0] == '\\' && at[1] == '\n'))
		at++;
	for (; *at && !strchr(" \n\t", *at) && !(at[0] == '\\' && at[1] == '\n'); at++) {
		bool quotes = (at[0] == '\\' && at[1] && strchr(" #\\", at[1])) || (at[0] == '$' && at[1] == '$');
		at += quotes;
		name[size++] = *at;
	}
	name[size] = '\0';
	return size ? at : NULL;
}

static bool is_below(const char *path, const char *folder) {
	size_t size = strlen(folder);
	return strncmp(path, folder, size) == 0 && path[size] == '/';
}

/* A file that changed during the build may be another one than the compiler has read. */
static bool file_add(json_t *files, const char *path, double begun) {
	struct stat info;
	if (json_object_get(files, path))
		return true;
	return json_object_size(files) < FILES_MAX && stat(path, &info) == 0 &&
	       (double)info.st_mtim.tv_sec < floor(begun) && json_object_set_new(files, path, hash_of(path)) == 0;
}

json_t *c_depend_seen(const char *rule, const char *cwd, const char *skip, double begun) {
	struct err none = {0};
	char *text = sys_read_file(rule, RULE_MAX, NULL, &none);
	const char *at = text ? strstr(text, ": ") : NULL;
	char *name = mem_alloc(text ? strlen(text) + 1 : 1, 1);
	json_t *files = json_object();
	bool good = at;
	for (at = at ? at + 1 : ""; good && (at = name_next(at, name));) {
		char *path = *name == '/' ? mem_strdup(name) : mem_printf("%s/%s", cwd, name);
		good = is_below(path, skip) || file_add(files, path, begun);
		free(path);
	}
	free(name);
	free(text);
	if (good)
		return files;
	json_decref(files);
	return NULL;
}

bool c_depend_holds(void *ctx, const json_t *facts) {
	const char *path;
	json_t *was;
	(void)ctx;
	json_object_foreach((json_t *)facts, path, was) {
		json_t *now = hash_of(path);
		bool same = now && json_equal(now, was);
		json_decref(now);
		if (!same)
			return false;
	}
	return true;
}
