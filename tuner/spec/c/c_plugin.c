/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiles one configuration to a plug-in. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file_hash.h"
#include "base/json/js.h"
#include "base/sys.h"
#include "tuner/spec/c/impl.h"

/* The prerequisites that a compiler writes with -MD, a rule of make, as hashes of the files. */

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

/* From the rule that the compiler has written into the file `rule`: {"PATH": "sha256:.."}, without files below `skip`,
 * whose texts are part of the key. NULL: it cannot be read, or a file was changed after `begun` (seconds since 1970).
 * Relative paths are relative to `cwd`. New reference. */
static json_t *c_depend_seen(const char *rule, const char *cwd, const char *skip, double begun) {
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
	(void)ctx;
	js_members (path, was, facts) {
		json_t *now = hash_of(path);
		bool same = now && json_equal(now, was);
		json_decref(now);
		if (!same)
			return false;
	}
	return true;
}

enum { ARGUMENTS_ROOM = 192 };

static const char rule_file[] = "depend";
const char c_plugin_file[] = "kernel.so";
const char *const c_first_options[] = {"-O3", "-march=native", "-fPIC", "-fvisibility=hidden", NULL};

/* The specification's options come last because later options win. */
static int arguments_make(const struct c_kernel *kernel, const char *folder, struct arena *arena, const json_t *config,
                          const char *tree, const char *arguments[ARGUMENTS_ROOM], struct err *err) {
	size_t count = 0;
	const char *name;
	json_t *member;
	while (c_first_options[count]) {
		arguments[count] = c_first_options[count];
		count++;
	}
	json_object_foreach((json_t *)config, name, member) {
		struct value value;
		if (count >= ARGUMENTS_ROOM - C_OPTIONS_MAX - 16 || !value_from_json(member, &value))
			return err_set(err, ERR_USAGE, NULL, "the configuration cannot be written as C macros");
		arguments[count] = c_define(arena, name, value, err);
		if (!arguments[count++])
			return -1;
	}
	arguments[count++] = arena_printf(arena, "%s/%s", folder, c_unit_file);
	arguments[count++] = arena_printf(arena, "%s/%s", folder, c_object_file);
	for (size_t i = 0; kernel->options[i]; i++)
		arguments[count++] = kernel->options[i];
	const char *const last[] = {"-shared", "-Wl,-z,defs",
	                            "-lm",     "-MD",
	                            "-MF",     arena_printf(arena, "%s/%s", tree, rule_file),
	                            "-o",      arena_printf(arena, "%s/%s", tree, c_plugin_file),
	                            NULL};
	memcpy(&arguments[count], last, sizeof last);
	return 0;
}

int c_plugin_compile(const struct c_kernel *kernel, const struct c_compiler *compiler, const json_t *config,
                     const char *tree, struct built *built, json_t **facts, struct err *err) {
	const char *arguments[ARGUMENTS_ROOM];
	struct arena *arena = arena_new();
	double begun = sys_now(), wall = sys_wall();
	enum c_outcome outcome = C_BROKEN;
	if (arguments_make(kernel, compiler->folder, arena, config, tree, arguments, err) == 0)
		outcome = c_compile(compiler, arguments, built->message, err);
	built->seconds = sys_now() - begun;
	built->status = outcome == C_DONE ? TRIAL_CORRECT : TRIAL_COMPILE;
	if (outcome == C_DONE)
		*facts = c_depend_seen(arena_printf(arena, "%s/%s", tree, rule_file), compiler->cwd, compiler->folder, wall);
	arena_free(arena);
	return outcome == C_BROKEN ? -1 : 0;
}
