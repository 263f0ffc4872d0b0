/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/gpu/emulator/nvrtc/program.h"

extern char **environ;

enum { PATH = 400, ARGUMENTS_MAX = 160 };

static bool write_file(const char *folder, const char *name, const char *bytes, size_t size) {
	char path[PATH + 200];
	if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
		return false;
	for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	FILE *file = fopen(path, "wbe");
	if (!file)
		return false;
	bool fine = fwrite(bytes, 1, size, file) == size;
	return fclose(file) == 0 && fine;
}

static bool read_file(const char *folder, const char *name, struct text *text) {
	char path[PATH + 200];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return text_read(text, path);
}

/* Its standard output and errors go to files in the folder. */
static bool run(const char *folder, char *const *arguments, const char *output) {
	posix_spawn_file_actions_t actions;
	char out[PATH + 200], errors[PATH + 200];
	pid_t child;
	int status = -1;
	snprintf(out, sizeof out, "%s/%s", folder, output);
	snprintf(errors, sizeof errors, "%s/errors", folder);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0600);
	bool started = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ) == 0;
	posix_spawn_file_actions_destroy(&actions);
	while (started && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return started && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int remove_entry(const char *path, const struct stat *facts, int kind, struct FTW *place) {
	(void)facts, (void)kind, (void)place;
	return remove(path);
}

static void remove_folder(const char *folder) {
	nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static char *compiler(void) {
	char *other = getenv("SWEETSPOT_EMULATOR_CXX");
	return other && *other ? other : EMULATOR_CXX;
}

/* Macros and includes first, with nothing of the emulator's in sight, so that the text can be looked through. */
static bool preprocess(struct program *program, const char *folder, const char *const *options, int count) {
	static const char *const plain[] = {"-E",
	                                    "-x",
	                                    "c++",
	                                    "-std=c++17",
	                                    "-w",
	                                    "-undef",
	                                    "-nostdinc",
	                                    "-D__CUDACC__",
	                                    "-D__CUDACC_RTC__",
	                                    "-D__NVCC__",
	                                    "-D__CUDA_ARCH__=900",
	                                    "-DSWEETSPOT_EMULATED",
	                                    "-D__x86_64__",
	                                    "-D__LP64__"};
	char *arguments[ARGUMENTS_MAX];
	int n = 0;
	arguments[n++] = compiler();
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		arguments[n++] = (char *)(uintptr_t)plain[i];
	arguments[n++] = "-I" EMULATOR_HEADERS;
	for (int i = 0; i < count && n < ARGUMENTS_MAX - 6; i++)
		arguments[n++] = (char *)(uintptr_t)options[i];
	char include[PATH + 4], source[PATH + 200];
	snprintf(include, sizeof include, "-I%s", folder);
	snprintf(source, sizeof source, "%s/%s", folder, program->name);
	arguments[n++] = include;
	arguments[n++] = source;
	arguments[n] = NULL;
	return run(folder, arguments, "preprocessed");
}

static char *level(void) { /* -O0 is quicker where much is compiled and little runs */
	char *other = getenv("SWEETSPOT_EMULATOR_LEVEL");
	return other && *other ? other : "-O1";
}

static char *header(void) {
	char *other = getenv("SWEETSPOT_EMULATOR_HEADER");
	return other && *other ? other : EMULATOR_HEADER;
}

static bool build(const char *folder) {
	char source[PATH + 20], object[PATH + 20];
	snprintf(source, sizeof source, "%s/translated.ii", folder);
	snprintf(object, sizeof object, "%s/object", folder);
	/* The header may be compiled beforehand (local.mk), with these flags and no others. Nothing is linked with libc or
	 * libm, which would take longer than assembling: a process that loads the object has both (module.c). */
	char *arguments[] = {compiler(), "-x", "c++",  level(), "@" EMULATOR_FLAGS, "-shared", "-include",
	                     header(),   "-o", object, source,  "-nostdlib",        "-lgcc",   NULL};
	return run(folder, arguments, "unused");
}

/* Compiles it, unless somebody did. */
static bool build_object(struct program *program, const char *folder, const struct text *translated) {
	const char *const words[] = {compiler(), level(), header(), NULL};
	uint64_t key = object_key(translated, folder, words);
	if (object_find(key, &program->cubin))
		return true;
	if (!write_file(folder, "translated.ii", translated->bytes, translated->size) || !build(folder) ||
	    !read_file(folder, "object", &program->cubin))
		return false;
	object_keep(key, &program->cubin);
	return true;
}

static bool put_sources(struct program *program, const char *folder) {
	bool fine = write_file(folder, program->name, program->source.bytes, program->source.size);
	for (int i = 0; i < program->headers && fine; i++)
		fine = write_file(folder, program->header_names[i], program->header_texts[i], strlen(program->header_texts[i]));
	return fine;
}

static bool compile_in(struct program *program, const char *folder, const char *const *options, int count) {
	struct text plain = {.bytes = NULL}, translated = {.bytes = NULL};
	bool fine = put_sources(program, folder) && preprocess(program, folder, options, count) &&
	            read_file(folder, "preprocessed", &plain) && translate(program, &plain, &translated) &&
	            build_object(program, folder, &translated);
	text_free(&plain);
	text_free(&translated);
	return fine;
}

/* Messages without the folder's name. */
static void take_log(struct program *program, const char *folder) {
	struct text errors = {.bytes = NULL};
	size_t prefix = strlen(folder) + 1;
	read_file(folder, "errors", &errors);
	for (const char *at = errors.bytes; at && *at;) {
		const char *found = strstr(at, folder);
		text_add(&program->log, at, found ? (size_t)(found - at) : strlen(at));
		at = found ? found + (found[prefix - 1] == '/' ? prefix : prefix - 1) : NULL;
	}
	text_free(&errors);
}

bool compile(struct program *program, const char *const *options, int count) {
	char folder[PATH];
	const char *root = getenv("TMPDIR");
	if (snprintf(folder, sizeof folder, "%s/emulated-XXXXXX", root ? root : "/tmp") >= PATH || !mkdtemp(folder)) {
		text_print(&program->log, "no temporary folder: %s\n", strerror(errno));
		return false;
	}
	bool fine = compile_in(program, folder, options, count);
	take_log(program, folder);
	if (!fine && !program->log.bytes)
		text_print(&program->log, "%s does not run\n", compiler());
	remove_folder(folder);
	return fine;
}
