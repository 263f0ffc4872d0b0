/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/fleet/batch_command_impl.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/proc/proc.h"
#include "base/sys.h"

enum { OUTPUT_MAX = 64 << 10 };

/* Reads its output; *late: it did not end in time. */
static char *output_read(struct proc *proc, double seconds, int *late) {
	double deadline = sys_now() + seconds;
	char *text = mem_strdup(""), *line;
	size_t used = 0, size;
	enum proc_read got = PROC_EOF;
	while (used < OUTPUT_MAX && (got = proc_read(proc, deadline - sys_now(), NULL, &line, &size)) == PROC_LINE) {
		text = mem_grow(text, used + size + 2, 1);
		memcpy(text + used, line, size);
		used += size;
		text[used++] = '\n';
		text[used] = '\0';
	}
	*late = got != PROC_EOF;
	return text;
}

static void last_line(const char *text, char *line, size_t size) {
	size_t length = strlen(text);
	while (length && text[length - 1] == '\n')
		length--;
	size_t start = length;
	while (start && text[start - 1] != '\n')
		start--;
	snprintf(line, size, "%.*s", (int)(length - start), text + start);
}

char *batch_command(const char *const *argv, double seconds, int *status, char *said, size_t size) {
	const struct proc_spec spec = {.argv = argv};
	struct err err = {0};
	struct proc *proc = proc_start(&spec, &err);
	int late;
	*status = -1;
	if (!proc) {
		if (said)
			snprintf(said, size, "%s", err.what);
		return mem_strdup("");
	}
	char *text = output_read(proc, seconds, &late);
	if (said)
		last_line(proc_stderr(proc), said, size);
	if (late && said && !*said)
		snprintf(said, size, "%s did not answer within %.3g s", argv[0], seconds);
	int ended = proc_stop(proc, late ? 0 : 1);
	*status = late ? -1 : ended;
	return text;
}

bool batch_command_found(const char *program) {
	const char *path = getenv("PATH");
	for (size_t length; path && *path; path += length + (path[length] == ':')) {
		length = strcspn(path, ":");
		char *file = mem_printf("%.*s/%s", (int)length, path, program);
		bool found = access(file, X_OK) == 0;
		free(file);
		if (found)
			return true;
	}
	return false;
}
