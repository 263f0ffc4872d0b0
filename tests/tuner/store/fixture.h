/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the tests of the store: a folder of their own, and sessions, searches and trials. */
#ifndef TESTS_TUNER_STORE_FIXTURE_H
#define TESTS_TUNER_STORE_FIXTURE_H
#include <dirent.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "tests/tap.h"
#include "tuner/store/store.h"

#define MACHINE       "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define OTHER_MACHINE "sha256:ff"

static char fixture_dir[PATH_MAX];

__attribute__((unused)) static void fixture_begin(void) {
	const char *base = getenv("TMPDIR");
	snprintf(fixture_dir, sizeof fixture_dir, "%s/sweetspot-XXXXXX", base && *base ? base : "/tmp");
	if (!mkdtemp(fixture_dir)) {
		printf("Bail out! no temporary folder\n");
		exit(1);
	}
}

/* Files only, as the tests make no deeper folders than one. */
static void fixture_remove(const char *dir) {
	DIR *d = opendir(dir);
	for (struct dirent *e; d && (e = readdir(d));) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		char *path = mem_printf("%s/%s", dir, e->d_name);
		if (unlink(path) != 0)
			fixture_remove(path);
		free(path);
	}
	if (d)
		closedir(d);
	rmdir(dir);
}

__attribute__((unused)) static int fixture_end(void) {
	fixture_remove(fixture_dir);
	return tap_done();
}

/* Caller frees. */
__attribute__((unused)) static char *fixture_path(const char *name) {
	return mem_printf("%s/%s", fixture_dir, name);
}

__attribute__((unused)) static struct store *fixture_open(const char *path) {
	struct err err = {0};
	struct store *store = store_open(path, STORE_WRITE, &err);
	if (!store) {
		printf("Bail out! %s\n", err.what);
		exit(1);
	}
	return store;
}

__attribute__((unused)) static int64_t fixture_session(struct store *store, const char *fingerprint) {
	struct err err = {0};
	json_t *machine = json_pack("{s:s, s:i}", "cpu", "a \"quoted\" CPU", "threads", 2);
	struct store_session session = {.fingerprint = fingerprint,
	                                .machine = machine,
	                                .command = "sweetspot tune 'a b'",
	                                .seed = UINT64_C(0xfedcba9876543210),
	                                .started = 1700000000.25};
	int rc = store_session_begin(store, &session, &err);
	json_decref(machine);
	return rc ? -1 : session.id;
}

__attribute__((unused)) static struct store_search fixture_like(int64_t session, const char *kernel,
                                                                const char *problem) {
	return (struct store_search){
		.session = session,
		.kernel = kernel,
		.source = "sha256:1234",
		.problem = problem,
		.objective = "time",
		.strategy = "auto",
		.seed = 7,
		.space_hash = "sha256:5678",
		.cartesian = 4608,
		.valid = 1152,
		.baseline = "{\"threads\":2}",
	};
}

__attribute__((unused)) static int64_t fixture_search(struct store *store, int64_t session, const char *kernel,
                                                      const char *problem) {
	struct err err = {0};
	struct store_search search = fixture_like(session, kernel, problem);
	return store_search_begin(store, &search, &err) ? -1 : search.id;
}

/* A trial whose members all follow from `number`. */
__attribute__((unused)) static int fixture_trial(struct store *store, int64_t search, int number, struct err *err) {
	char config[64];
	snprintf(config, sizeof config, "{\"block\":%d}", number);
	double samples[] = {0.1 * number, 1.0 / (number + 3), 1e-9};
	struct store_trial trial = {.search = search,
	                            .phase = number % 2 ? "race" : "search",
	                            .block = number,
	                            .config = config,
	                            .status = "correct",
	                            .value = samples[1],
	                            .samples = samples,
	                            .sample_count = 3,
	                            .started = 1700000000 + number,
	                            .elapsed = 0.5,
	                            .disturbed = number % 3 == 0};
	return store_trial_add(store, &trial, err);
}

/* The object of `tune --json`. New reference. */
__attribute__((unused)) static json_t *fixture_result(const char *kernel, int n, double best) {
	json_t *result = json_pack(
		"{s:s, s:{s:i}, s:s, s:s, s:i, s:{s:i, s:i}, s:i, s:f,"
		" s:{s:i, s:i, s:i, s:i, s:i, s:i},"
		" s:{s:{s:i}, s:f, s:[f, f], s:s},"
		" s:{s:{s:i, s:s, s:s, s:s, s:i, s:s, s:i}, s:f, s:[f, f], s:s},"
		" s:{s:f, s:[f, f]}, s:s}",
		"kernel", kernel, "problem", "n", n, "objective", "time", "strategy", "auto", "seed", 1, "space", "cartesian",
		4608, "valid", 1152, "evaluations", 60, "elapsed_s", 41.0, "failures", "compile", 0, "runtime", 0, "timeout", 0,
		"correctness", 0, "constraints", 0, "censored", 9, "baseline", "config", "threads", 2, "median", 0.41, "ci",
		0.40, 0.42, "unit", "s", "best", "config", "threads", 2, "proc_bind", "close", "places", "cores", "schedule",
		"dynamic", "chunk", 4, "variant", "tiled", "block", 64, "median", best, "ci", best * 0.99, best * 1.01, "unit",
		"s", "speedup", "ratio", 3.7, "ci", 3.6, 3.8, "verdict", "faster");
	return result;
}

/* One finished search of n in a finished session. */
__attribute__((unused)) static int fixture_finish(struct store *store, const char *fingerprint, const char *kernel,
                                                  int n, double best) {
	struct err err = {0};
	char *problem = mem_printf("{\"n\":%d}", n);
	json_t *result = fixture_result(kernel, n, best);
	int64_t session = fixture_session(store, fingerprint);
	int64_t search = fixture_search(store, session, kernel, problem);
	int rc =
		store_search_end(store, search, "done", result, &err) || store_session_end(store, session, "done", 0.011, &err);
	json_decref(result);
	free(problem);
	return rc;
}

#endif
