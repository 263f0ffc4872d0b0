/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs tests/lib/app with the library on, and reads its files. */
#ifndef TESTS_LIB_RIG_H
#define TESTS_LIB_RIG_H
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/tree.h"
#include "worker/program/runner_program.h"
#include "tests/tap.h"

struct rig {
	char home[64], app[4096];
	struct arena *arena;
	const struct regions_event *events;
	size_t count;
	json_t *found, *notes; /* of the last run */
	int status;
};

__attribute__((unused)) static void rig_open(struct rig *rig, const struct regions_event *events, size_t count) {
	const char *build = getenv("BUILDDIR");
	*rig = (struct rig){.home = "/tmp/sweetspot-test-XXXXXX", .events = events, .count = count, .arena = arena_new()};
	if (!mkdtemp(rig->home)) {
		printf("Bail out! no folder to work in\n");
		exit(99);
	}
	snprintf(rig->app, sizeof rig->app, "%.4000s/tests/lib/app", build ? build : ".");
}

__attribute__((unused)) static void rig_close(struct rig *rig) {
	json_decref(rig->found);
	json_decref(rig->notes);
	arena_free(rig->arena);
	ok(tree_remove(rig->home) == 0, "the folder of the test can be removed");
}

/* Waits for it; forgets what an earlier run left. */
__attribute__((unused)) static void rig_run(struct rig *rig, const char *what, const char *number) {
	struct regions regions;
	struct err err;
	if (regions_prepare(rig->arena, rig->home, rig->events, rig->count, &regions, &err) != 0) {
		printf("Bail out! %s\n", err.what);
		exit(99);
	}
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < REGIONS_VARIABLES; i++)
			putenv((char *)regions.variables[i]);
		execl(rig->app, rig->app, what, number, (char *)NULL);
		_exit(127);
	}
	rig->status = -1;
	waitpid(pid, &rig->status, 0);
	json_decref(rig->found);
	json_decref(rig->notes);
	rig->found = regions_read(&regions, &rig->notes);
	ok(rig->status == 0 || strcmp(what, "killed") == 0, "%s %s runs", what, number);
}

/* NULL if it is missing. */
__attribute__((unused)) static json_t *region(const struct rig *rig, const char *name) {
	json_t *one;
	size_t i;
	json_array_foreach(rig->found, i, one) {
		if (strcmp(json_string_value(json_object_get(one, "name")), name) == 0)
			return one;
	}
	return NULL;
}

/* NAN if it is missing. */
__attribute__((unused)) static double figure(const struct rig *rig, const char *name, const char *key) {
	json_t *value = json_object_get(region(rig, name), key);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

__attribute__((unused)) static json_t *counter(const struct rig *rig, const char *name, const char *event) {
	json_t *one;
	size_t i;
	json_array_foreach(json_object_get(region(rig, name), "counters"), i, one) {
		if (strcmp(json_string_value(json_object_get(one, "name")), event) == 0)
			return one;
	}
	return NULL;
}

/* Some note has this in it. */
__attribute__((unused)) static bool noted(const struct rig *rig, const char *text) {
	json_t *note;
	size_t i;
	json_array_foreach(rig->notes, i, note) {
		if (strstr(json_string_value(note), text))
			return true;
	}
	return false;
}

#endif
