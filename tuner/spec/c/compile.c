/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "src/base/proc/proc.h"
#include "src/base/sys.h"
#include "tuner/spec/c/impl.h"

static const double COMPILE_SECONDS = 60, STOP_SECONDS = 5;
enum { STDERR_KEEP = 256 << 10, WORDS_MAX = 256 };
static const uint64_t COMPILER_MEMORY = UINT64_C(8) << 30;

/* "/long/path/kernel.c:3:1: error: x" without the folder. */
static const char *without_folder(const char *line, size_t size) {
	const char *colon = memchr(line, ':', size), *name = line;
	for (const char *c = line; colon && *line == '/' && c < colon; c++)
		if (*c == '/')
			name = c + 1;
	return name;
}

/* The first line that names an error, or else the first line that is not empty. */
void c_first_error(const char *text, char message[256]) {
	static const char *const marks[] = {"undefined reference", "error: ", "ld: ", ""};
	message[0] = '\0';
	for (size_t m = 0; m < sizeof marks / sizeof *marks && !message[0]; m++) {
		for (const char *line = text; *line && !message[0];) {
			size_t size = strcspn(line, "\n");
			const char *found = memmem(line, size, marks[m], strlen(marks[m])), *from = without_folder(line, size);
			if (found && size)
				snprintf(message, 256, "%.*s", (int)(size - (size_t)(from - line)), from);
			line += size + (line[size] == '\n');
		}
	}
}

static const char **command(const struct c_compiler *compiler, const char *const *arguments) {
	const char **words = mem_alloc(WORDS_MAX + 1, sizeof *words);
	size_t count = 0;
	for (size_t i = 0; compiler->words[i] && count < WORDS_MAX; i++)
		words[count++] = compiler->words[i];
	for (size_t i = 0; arguments[i] && count < WORDS_MAX; i++)
		words[count++] = arguments[i];
	return words;
}

static double limit_of(const struct c_compiler *compiler) {
	return compiler->seconds > 0 ? fmin(compiler->seconds, COMPILE_SECONDS) : COMPILE_SECONDS;
}

/* Reads the output to its end, at most for the time limit. */
static enum proc_read finish(struct proc *proc, const struct c_compiler *compiler) {
	double until = sys_now() + limit_of(compiler);
	char *line;
	size_t size;
	for (;;) {
		double left = until - sys_now();
		enum proc_read got = proc_read(proc, left > 0 ? left : 0, compiler->interrupt, &line, &size);
		if (got == PROC_EOF || got == PROC_TIMEOUT || got == PROC_INTERRUPTED)
			return got;
	}
}

enum c_outcome c_compile(const struct c_compiler *compiler, const char *const *arguments, char message[256],
                         struct err *err) {
	char *temporary = mem_printf("TMPDIR=%s", compiler->folder);
	const char *const set[] = {"LC_ALL=C", temporary, NULL};
	const char **argv = command(compiler, arguments);
	const struct proc_spec spec = {
		.argv = argv, .set = set, .cwd = compiler->cwd, .address_space = COMPILER_MEMORY, .stderr_keep = STDERR_KEEP};
	enum c_outcome outcome = C_BROKEN;
	if (compiler->worker) {
		outcome = c_compile_there(compiler, argv, limit_of(compiler), message, err);
		goto done;
	}
	struct proc *proc = proc_start(&spec, err);
	if (!proc) {
		err_hint(err, "install a C compiler, or name one in the environment variable CC");
		goto done;
	}
	enum proc_read end = finish(proc, compiler);
	c_first_error(proc_stderr(proc), message);
	int status = proc_stop(proc, end == PROC_EOF ? STOP_SECONDS : 0);
	outcome = end == PROC_EOF && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? C_DONE : C_REFUSED;
	if (end == PROC_INTERRUPTED) {
		err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
		outcome = C_BROKEN;
	} else if (end == PROC_TIMEOUT) {
		snprintf(message, 256, "the compiler took longer than %.3g s", limit_of(compiler));
	} else if (outcome == C_REFUSED && !message[0]) {
		char text[80];
		proc_status_text(status, text, sizeof text);
		snprintf(message, 256, "the compiler ended: %s", text);
	}
done:
	free(temporary);
	free(argv);
	return outcome;
}
