/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that is built runs in a copy of its folder, where "/home/me/app/lev" would still be the old program: paths
 * of the folder itself become {BUILD}. */
#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/js.h"
#include "tuner/build/toolchain.h"
#include "tuner/program/program_impl.h"

/* The inputs of a build command besides the sources. */
void program_build_identity(const struct program *program, const json_t *environment, const json_t *config,
                            char hash[SHA256_TEXT]) {
	const struct program_case one = {program, config, "{BUILD}"};
	const char *missing, *source = program_build_source(program);
	mem_auto char *line = program_fill(&one, program->spec.build, true, &missing),
				  *variables = js_canonical(environment);
	struct sha256 sha;
	sha256_start(&sha);
	toolchain_hash_text(&sha, "1");
	toolchain_hash_text(&sha, source);
	toolchain_hash_text(&sha, program->out_of_tree ? program->here : NULL);
	toolchain_hash_text(&sha, line);
	toolchain_hash_text(&sha, variables);
	toolchain_hash_line(&sha, line ? line : "");
	toolchain_hash_host(&sha);
	sha256_end(&sha, hash);
}

static const char ENDS[] = " \t\n'\"`;|&()<>$:,={}*?[]", STARTS[] = " \t\n`;|&(<>:,=", VARIES[] = "{*?[$";

/* Does a word, or a part of one such as a value, begin here? Not in "$DIR"/lev. */
static bool is_start(const char *text, const char *at) {
	if (at > text && (at[-1] == '"' || at[-1] == '\''))
		at--;
	return at == text || strchr(STARTS, at[-1]);
}

/* Is there a path at `at`, which is absolute or begins with ".."? "-I/usr/include" has one, "a/b" has not. */
static bool is_path_start(const char *text, const char *at) {
	if (*at != '/' && strncmp(at, "../", 3) != 0)
		return false;
	const char *word = at;
	while (word > text && !strchr(ENDS, word[-1]))
		word--;
	return is_start(text, word) && (word == at || (*word == '-' && strcspn(word, "/.") >= (size_t)(at - word)));
}

/* The path with the links to its folder resolved, as far as it exists. NULL: nothing of it does. Caller frees. */
static char *path_resolve(const char *folder, const char *path) {
	char *whole = *path == '/' ? mem_strdup(path) : mem_printf("%s/%s", folder, path), real[PATH_MAX], *result = NULL;
	struct stat info;
	size_t length = strlen(whole);
	bool is_folder = stat(whole, &info) == 0 && S_ISDIR(info.st_mode);
	for (size_t end = is_folder ? length : (size_t)(strrchr(whole, '/') - whole); end > 0 && !result;) {
		mem_auto char *rest = end < length ? mem_strdup(whole + end) : mem_strdup("");
		whole[end] = '\0';
		if (realpath(whole, real))
			result = mem_printf("%s%s", real, rest);
		strcpy(whole + end, end < length ? "/" : "");
		while (end > 0 && whole[--end] != '/')
			continue;
	}
	free(whole);
	return result;
}

/* Returns the part of a path below the folder; NULL: the path is somewhere else. */
static const char *below(const char *folder, const char *path) {
	size_t length = strlen(folder);
	bool inside = strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
	return inside && length > 1 ? path + length : NULL;
}

/* Does the folder hold a program or a library? */
static bool has_executable(const char *folder) {
	DIR *dir = opendir(folder);
	struct stat info;
	bool found = false;
	for (const struct dirent *entry; dir && !found && (entry = readdir(dir));)
		found = fstatat(dirfd(dir), entry->d_name, &info, 0) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 0111);
	if (dir)
		closedir(dir);
	return found;
}

/* Can a build make this, or something in it? A file of data stays the user's own, whose copy may be an old one. */
static bool is_made(const char *path, const char *rest) {
	struct stat info;
	if (!*rest || stat(path, &info))
		return true;
	return S_ISDIR(info.st_mode) ? has_executable(path) : S_ISREG(info.st_mode) && (info.st_mode & 0111);
}

/* The path in the build folder that takes the place of a path, which `next` follows; NULL: none. */
static char *place_of(const char *source, const char *path, char next) {
	char *real = path_resolve(source, path), *place = NULL;
	const char *rest = real ? below(source, real) : NULL;
	bool slash = rest && path[strlen(path) - 1] == '/' && (!*rest || rest[strlen(rest) - 1] != '/');
	if (rest && (is_made(real, rest) || (next && strchr(VARIES, next))))
		place = mem_printf("{BUILD}%s%s", rest, slash ? "/" : "");
	free(real);
	return place;
}

/* In quotes, and as all of a word or of the value in it, a path may have blanks. */
static size_t path_length(const char *text, const char *at, bool is_word) {
	const char *quote = at > text && strchr("'\"", at[-1]) ? strchr(at, at[-1]) : NULL;
	if (quote)
		return (size_t)(quote - at);
	bool is_rest = is_word && (at == text || at[-1] == '=');
	return is_rest && access(at, F_OK) == 0 ? strlen(at) : strcspn(at, ENDS);
}

/* The text with all paths of the source folder replaced, for the arena to keep. */
static const char *text_map(struct program *program, const char *source, const char *text, bool is_word) {
	struct program_text out = {0};
	const char *done = text;
	for (const char *at = text; text && *at; at++) {
		size_t length = is_path_start(text, at) ? path_length(text, at, is_word) : 0;
		if (length == 0)
			continue;
		mem_auto char *path = mem_printf("%.*s", (int)length, at), *place = place_of(source, path, at[length]);
		if (place) {
			program_text_add_part(&out, done, (size_t)(at - done));
			program_text_add(&out, place);
			done = at + length;
		}
		at += length - 1;
	}
	if (!text || done == text) {
		free(program_text_detach(&out));
		return text;
	}
	program_text_add(&out, done);
	mem_auto char *mapped = program_text_detach(&out);
	text = arena_strdup(program->arena, mapped);
	return text;
}

/* "../data" exists where the user types it, but not beside the copy. */
static int outside_check(const char *source, const char *word, struct err *err) {
	const char *equals = strchr(word, '='), *path = *word != '.' && equals ? equals + 1 : word;
	mem_auto char *whole = mem_printf("%s/%s", source, path);
	bool misses = strncmp(path, "../", 3) == 0 && access(whole, F_OK) == 0;
	if (!misses)
		return 0;
	return err_set(err, ERR_USAGE,
	               "write its absolute path; if it is built, start in the folder that holds it and all sources",
	               "%s is outside of %s, in a copy of which the program is built and runs", path, source);
}

int program_copied_map(struct program *program, struct err *err) {
	struct program_spec *spec = &program->spec;
	char source[PATH_MAX];
	size_t count = 0;
	if (!spec->build || program->out_of_tree || !realpath(program_build_source(program), source))
		return 0;
	while (spec->argv[count])
		count++;
	const char **argv = arena_alloc(program->arena, count + 1, sizeof *argv);
	for (size_t i = 0; i < count; i++) {
		argv[i] = text_map(program, source, spec->argv[i], !spec->shell);
		if (!spec->shell && !spec->cwd && outside_check(source, argv[i], err))
			return -1;
	}
	spec->argv = argv;
	spec->build = text_map(program, source, spec->build, false);
	spec->before_each = text_map(program, source, spec->before_each, false);
	return 0;
}
