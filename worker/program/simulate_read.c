/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/program/simulate.h"
#include "worker/count/simulate.h"

enum { LOG_BYTES_MAX = 16 << 20, PROCESSES_MAX = 8192 };

/* Messages of valgrind 3.19; it continues after them, but not like the program would. */
static const struct {
	const char *words, *meaning;
} troubles[] = {
	{"valgrind: Unrecognised instruction",
     "it does not know an instruction, such as one of AVX-512: build without them"},
	{"== Warning: Can't execute setuid", "it does not run setuid, setgid or setcap programs"},
};

static const char *trouble_find(const char *log) {
	for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
		if (strstr(log, troubles[i].words)) {
			return troubles[i].meaning;
		}
	}
	return NULL;
}

/* The next log in the folder. Sets *process and *text, which the caller frees; NULL: it cannot be read. */
static bool log_next(DIR *dir, const char *folder, int *process, char **text) {
	struct dirent *entry;
	while ((entry = readdir(dir))) {
		if (sscanf(entry->d_name, PROGRAM_SIMULATE_LOG ".%9d", process) == 1) {
			size_t size;
			char *path = mem_printf("%s/%s", folder, entry->d_name);
			*text = simulate_text(path, LOG_BYTES_MAX, &size);
			free(path);
			return true;
		}
	}
	return false;
}

const char *program_simulate_trouble(const char *folder) {
	DIR *dir = opendir(folder);
	const char *trouble = NULL;
	char *text;
	int process;
	while (dir && !trouble && log_next(dir, folder, &process, &text)) {
		trouble = text ? trouble_find(text) : NULL;
		free(text);
	}
	if (dir) {
		closedir(dir);
	}
	return trouble;
}

/* Checks a process's files. It writes one at its end, which a killed process lacks. A forked process begins with the
 * counts of its parent, unless the parent has just written them to a file and started again. Only a process started
 * by exec, which says so, begins at its own block 0. */
static const char *process_check(const struct simulate_harvest *harvest, int process, const char *log) {
	bool ended = false, fresh = strstr(log, "== For interactive control"), inherits = false;
	for (size_t i = 0; i < harvest->count; i++) {
		const struct simulate_part *part = &harvest->parts[i];
		if (part->process == process) {
			ended = ended || strcmp(part->trigger, "Program termination") == 0;
			inherits = inherits || (!fresh && !(part->begin > 0));
		}
	}
	if (!ended) {
		return "a process left no counts: it was killed, or valgrind cannot run it";
	}
	return inherits ? "a process was forked in a way that hides its own work (a stripped static program?)" : NULL;
}

static const char *processes_check(const char *folder, const struct simulate_harvest *harvest, int *processes) {
	DIR *dir = opendir(folder);
	const char *wrong = dir ? NULL : "its folder cannot be read";
	char *text;
	int process;
	*processes = 0;
	while (!wrong && log_next(dir, folder, &process, &text)) {
		wrong = ++*processes > PROCESSES_MAX ? "there are too many processes"
		        : !text                      ? "its messages cannot be read"
		                                     : trouble_find(text);
		wrong = wrong ? wrong : process_check(harvest, process, text);
		free(text);
	}
	if (dir) {
		closedir(dir);
	}
	return wrong || *processes > 0 ? wrong : "it left no files";
}

bool program_simulate_read(const char *folder, struct program_simulated *out, char reason[2 * COUNTER_REASON]) {
	struct simulate_harvest harvest = {.count = 0};
	const char *wrong = simulate_harvest_read(folder, PROGRAM_SIMULATE_OUT, &harvest);
	*out = (struct program_simulated){.processes = 0};
	if (wrong) {
		snprintf(reason, 2 * COUNTER_REASON, "valgrind's files: %s", wrong);
	} else if ((wrong = processes_check(folder, &harvest, &out->processes))) {
		snprintf(reason, 2 * COUNTER_REASON, "valgrind: %s", wrong);
	}
	for (size_t i = 0; i < harvest.count && !wrong; i++) {
		const struct simulate_part *part = &harvest.parts[i];
		for (int e = 0; e < CACHEGRIND_EVENTS; e++) {
			out->values[e] += part->values[e];
		}
		snprintf(out->model, sizeof out->model, "I1 %s; D1 %s; LL %s", part->caches[0], part->caches[1],
		         part->caches[2]);
	}
	simulate_harvest_free(&harvest);
	return !wrong;
}
