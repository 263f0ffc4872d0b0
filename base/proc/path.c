/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/proc/path.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

/* Returns 0, or the errno that explains why it cannot be run. */
static int why_not(const char *path) {
	struct stat st;
	if (stat(path, &st))
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return access(path, X_OK) ? errno : 0;
}

/* A relative path is relative to cwd. */
static char *below(const char *cwd, const char *path) {
	return cwd && *path != '/' ? mem_printf("%s/%s", cwd, path) : mem_strdup(path);
}

static char *resolved(char *path) {
	char *real = realpath(path, NULL);
	if (!real)
		return path;
	free(path);
	return real;
}

/* "X=1 ./app" sets a variable only in a shell. */
static bool is_assignment(const char *word) {
	size_t length = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
	return length > 0 && word[length] == '=';
}

static void assignment_hint(const char *word, struct err *err) {
	if (is_assignment(word))
		err_hint(err, "to set a variable for a program, write env before it: env %.300s PROGRAM", word);
}

static char *with_slash(const char *program, const char *cwd, struct err *err) {
	char *path = below(cwd, program);
	int why = why_not(path);
	if (!why)
		return resolved(path);
	free(path);
	const char *hint = why == ENOENT   ? "build it first, or check the path"
	                   : why == EISDIR ? "name the program in it"
	                   : why == EACCES ? "is it the program and not its source? chmod +x makes a file executable"
	                                   : NULL;
	err_set(err, ERR_USAGE, hint, "cannot run %.300s: %s", program, strerror(why));
	if (why == ENOENT && cwd)
		err_hint(err, "its path is relative to the folder %.300s", cwd);
	assignment_hint(program, err);
	return NULL;
}

static void not_found(const char *program, const char *cwd, int why, struct err *err) {
	mem_auto char *here = below(cwd, program);
	if (why != ENOENT)
		err_set(err, ERR_USAGE, NULL, "cannot run %.300s: %s", program, strerror(why));
	else
		err_set(err, ERR_USAGE, "check the name and PATH", "there is no program %.300s", program);
	if (!why_not(here))
		err_hint(err, "did you mean ./%.300s?", program);
	assignment_hint(program, err);
}

char *program_path(const char *program, const char *cwd, struct err *err) {
	const char *path = getenv("PATH"), *end;
	int worst = ENOENT;
	if (strchr(program, '/'))
		return with_slash(program, cwd, err);
	for (path = path ? path : "/bin:/usr/bin"; *program; path = end + 1) {
		end = strchrnul(path, ':');
		mem_auto char *folder = mem_printf("%.*s", (int)(end - path), end > path ? path : ".");
		char *file = mem_printf("%s/%s", end > path ? folder : ".", program), *found = below(cwd, file);
		int why = why_not(found);
		free(file);
		if (!why)
			return resolved(found);
		free(found);
		worst = why == EACCES || why == EPERM ? why : worst;
		if (!*end)
			break;
	}
	not_found(program, cwd, worst, err);
	return NULL;
}

static int folder_check(const char *cwd, struct err *err) {
	struct stat st;
	int why = stat(cwd, &st) ? errno : !S_ISDIR(st.st_mode) ? ENOTDIR : access(cwd, X_OK) ? errno : 0;
	return why ? err_set(err, ERR_USAGE, NULL, "cannot enter the folder %.300s: %s", cwd, strerror(why)) : 0;
}

static int input_check(const char *input, const char *cwd, struct err *err) {
	struct stat st;
	mem_auto char *path = below(cwd, input);
	int why = stat(path, &st) ? errno : S_ISDIR(st.st_mode) ? EISDIR : access(path, R_OK) ? errno : 0;
	if (!why)
		return 0;
	err_set(err, ERR_USAGE, "it was given as the input of the program", "cannot read %.300s: %s", input, strerror(why));
	return cwd ? err_hint(err, "the program runs in %.300s, and its path is relative to that folder", cwd) : -1;
}

int program_places_check(const char *cwd, const char *input, struct err *err) {
	return (cwd && folder_check(cwd, err)) || (input && input_check(input, cwd, err)) ? -1 : 0;
}
