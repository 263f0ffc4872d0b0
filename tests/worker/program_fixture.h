/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A worker that runs programs, in a folder of the test's own. */
#ifndef TESTS_WORKER_PROGRAM_FIXTURE_H
#define TESTS_WORKER_PROGRAM_FIXTURE_H
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/tree.h"
#include "tests/tap.h"
#include "tests/worker/protocol_client.h"

struct fixture {
	char home[PATH_MAX];    /* empty at first; programs run here */
	char scratch[PATH_MAX]; /* the worker's TMPDIR */
	char app[PATH_MAX];     /* tests/worker/program_app */
	struct client *client;
};

__attribute__((unused)) static void fixture_open(struct fixture *fixture) {
	const char *build = getenv("BUILDDIR");
	char template[] = "/tmp/sweetspot-test-XXXXXX", *home = mkdtemp(template);
	if (!home || !realpath(home, fixture->home) || !realpath(build ? build : ".", fixture->app)) {
		printf("Bail out! no folder to work in\n");
		exit(99);
	}
	strcat(fixture->app, "/tests/worker/program_app");
	snprintf(fixture->scratch, sizeof fixture->scratch, "%.4000s/scratch", fixture->home);
	mkdir(fixture->scratch, 0700);
	setenv("TMPDIR", fixture->scratch, 1);
	setenv("FIXTURE_LEFT", "inherited", 1);
	fixture->client = client_start("sweetspot-worker", 0);
}

__attribute__((unused)) static void fixture_close(struct fixture *fixture) {
	if (fixture->client)
		client_stop(fixture->client);
	ok(tree_remove(fixture->home) == 0, "the folder of the test can be removed");
}

/* Nothing is in the worker's TMPDIR. */
__attribute__((unused)) static bool no_scratch(const struct fixture *fixture) {
	DIR *dir = opendir(fixture->scratch);
	int found = 0;
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		found += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return dir && found == 0;
}

/* A file in the folder, made where it isn't there. Caller frees. */
__attribute__((unused)) static char *file_path(const struct fixture *fixture, const char *name) {
	char *path = mem_printf("%s/%s", fixture->home, name);
	int fd = open(path, O_CREAT | O_RDWR, 0600);
	if (fd >= 0)
		close(fd);
	return path;
}

/* Nobody holds a lock on it. */
__attribute__((unused)) static bool unlocked(const char *path) {
	int fd = open(path, O_RDWR | O_CLOEXEC);
	bool is_free = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
	if (fd >= 0)
		close(fd);
	return is_free;
}

__attribute__((unused)) static const char *text_of(json_t *json, const char *path) {
	const char *text = json_string_value(path_get(json, path));
	return text ? text : "";
}

__attribute__((unused)) static double number_of(json_t *json, const char *path) {
	json_t *found = path_get(json, path);
	return json_is_number(found) ? json_number_value(found) : NAN;
}

/* The status, and a message that holds the text. Takes the answer. */
__attribute__((unused)) static bool answers(json_t *answer, const char *status, const char *text, const char *what) {
	bool good = strcmp(text_of(answer, "status"), status) == 0 && strstr(text_of(answer, "message"), text);
	if (!ok(good, "%s", what))
		printf("# status %s, message %s, error %s\n", text_of(answer, "status"), text_of(answer, "message"),
		       text_of(answer, "error.what"));
	json_decref(answer);
	return good;
}

/* RUN is what begins a request for a shell line, APP one for program_app. */
#define RUN "{\"op\":\"program\",\"cwd\":\"%s\",\"argv\":[\"/bin/sh\",\"-c\","
#define APP "{\"op\":\"program\",\"cwd\":\"%s\",\"argv\":[\"%s\","

#endif
