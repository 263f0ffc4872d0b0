/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/proc/proc.h"
#include "base/scratch.h"
#include "base/sys.h"
#include "src/plan/openmp.h"

enum { ARGS_MAX = 4096 };
static const double WATCH_SECONDS = 5, LOOK_SECONDS = 0.02;

struct seen {
	enum openmp_runtime runtime;
	char program[4096]; /* that has it; empty if it was opened later, by an interpreter for example */
};

/* "\t 17813:\tcalling init: /lib/libgomp.so.1", then "\tinitialize program: ./omp" */
static void line_read(const char *line, struct seen *seen) {
	static const char library[] = "calling init: ", program[] = "initialize program: ";
	const char *at = strstr(line, library);
	enum openmp_runtime runtime = at ? openmp_runtime_of(at + strlen(library)) : OPENMP_NONE;
	if (runtime != OPENMP_NONE && seen->runtime == OPENMP_NONE)
		seen->runtime = runtime;
	at = strstr(line, program);
	if (at && seen->runtime != OPENMP_NONE && !*seen->program)
		snprintf(seen->program, sizeof seen->program, "%.*s", (int)strcspn(at + strlen(program), "\n"),
		         at + strlen(program));
}

/* The loader writes a file for each process. */
static void file_read(const char *folder, const char *name, struct seen *seen) {
	char *path = mem_printf("%s/%s", folder, name), *line = NULL;
	FILE *file = strncmp(name, "loader.", 7) == 0 ? fopen(path, "re") : NULL;
	size_t size = 0;
	while (file && !*seen->program && getline(&line, &size, file) > 0)
		line_read(line, seen);
	if (file)
		fclose(file);
	free(line);
	free(path);
}

static void folder_read(const char *folder, struct seen *seen) {
	DIR *entries = opendir(folder);
	for (struct dirent *entry; entries && seen->runtime == OPENMP_NONE && (entry = readdir(entries));)
		file_read(folder, entry->d_name, seen);
	if (entries)
		closedir(entries);
}

static struct proc *command_start(const char *const *argv, const char *cwd, const char *input, const char *folder) {
	const char *words[ARGS_MAX] = {"sh", "-c", "file=$1; shift; exec \"$@\" <\"$file\"", "sh", input ? input : "/dev/null"};
	size_t count = 5;
	for (; *argv && count < ARGS_MAX - 1; argv++)
		words[count++] = *argv;
	char *output = mem_printf("LD_DEBUG_OUTPUT=%s/loader", folder);
	const char *const set[] = {"LD_DEBUG=libs", output, NULL};
	const struct proc_spec spec = {.argv = words, .set = set, .cwd = cwd, .no_core = true};
	struct proc *proc = *argv ? NULL : proc_start(&spec, NULL);
	free(output);
	return proc;
}

static void watch(struct proc *proc, const char *folder, struct seen *seen) {
	double end = sys_now() + WATCH_SECONDS;
	enum proc_read what = PROC_TIMEOUT;
	char *line;
	size_t size;
	while (what != PROC_EOF && seen->runtime == OPENMP_NONE && sys_now() < end) {
		what = proc_read(proc, LOOK_SECONDS, NULL, &line, &size);
		folder_read(folder, seen);
	}
}

void openmp_watch(const char *const *argv, const char *cwd, const char *input, struct openmp_program *out) {
	struct scratch scratch;
	struct seen seen = {.runtime = OPENMP_NONE};
	if (scratch_open(&scratch, SCRATCH_RUN, NULL))
		return;
	struct proc *proc = command_start(argv, cwd, input, scratch.path);
	if (proc) {
		watch(proc, scratch.path, &seen);
		proc_stop(proc, 0);
	}
	scratch_close(&scratch);
	if (seen.runtime == OPENMP_NONE)
		return;
	out->runtime = seen.runtime;
	struct openmp_program inside;
	if (*seen.program && openmp_inspect(seen.program, cwd, &inside, NULL) == 0 && inside.runtime == seen.runtime)
		*out = inside;
}
