/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SIGKILL at any time costs at most the trial that was not yet committed; writers at the same time lose nothing. */
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "base/rng.h"
#include "tests/tuner/store/fixture.h"

enum { KILLS = 30, WRITERS = 3, EACH = 150 };

static int count_in_order(void *ctx, const struct store_trial *trial) {
	int *count = ctx;
	/* A gap or a wrong order makes the count wrong for good. */
	*count = trial->block == *count ? *count + 1 : -1000000;
	return 0;
}

static bool is_whole(const char *path) {
	sqlite3 *db;
	sqlite3_stmt *stmt;
	sqlite3_open(path, &db);
	sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &stmt, NULL);
	bool whole = sqlite3_step(stmt) == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(stmt, 0), "ok") == 0;
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return whole;
}

/* Says which search it is and how many trials it was told are stored, in shared memory. */
struct progress {
	atomic_llong search;
	atomic_int stored;
};

static void write_until_killed(const char *path, struct progress *progress) {
	struct err err = {0};
	struct store *store = store_open(path, STORE_WRITE, &err);
	int64_t search = store ? fixture_search(store, fixture_session(store, MACHINE), "fw", "{}") : -1;
	progress->search = search;
	for (int i = 0; search > 0 && fixture_trial(store, search, i, &err) == 0; i++)
		progress->stored = i + 1;
	printf("# the writer failed: %s\n", err.what);
	fflush(stdout);
	_exit(1);
}

static void kill_after(pid_t child, long nanoseconds, int *status) {
	struct timespec wait = {0, nanoseconds};
	nanosleep(&wait, NULL);
	kill(child, SIGKILL);
	waitpid(child, status, 0);
}

static void test_killed(const char *path, struct progress *progress) {
	struct rng rng;
	int bad = 0, lost = 0, total = 0, unborn = 0;
	rng_seed(&rng, 11);
	for (int round = 0; round < KILLS; round++) {
		struct err err = {0};
		int status, count = 0;
		progress->search = 0;
		progress->stored = 0;
		pid_t child = fork();
		if (child == 0)
			write_until_killed(path, progress);
		kill_after(child, (long)rng_below(&rng, 120000000), &status);
		struct store *store = store_open(path, STORE_WRITE, &err);
		bad += !WIFSIGNALED(status) || !store || !is_whole(path);
		if (store && progress->search > 0 &&
		    store_trials_each(store, progress->search, NULL, count_in_order, &count, &err) == 0) {
			/* One more than acknowledged may be there: killed between the commit and the note. */
			lost += count < progress->stored || count > progress->stored + 1;
			total += count;
		} else {
			unborn++;
		}
		store_close(store);
	}
	printf("# %d trials survived; %d times killed before the first\n", total, unborn);
	ok(bad == 0, "killed %d times: it opens and is whole each time", KILLS);
	ok(lost == 0 && total > 0, "no trial that was acknowledged is missing");
}

/* The same from the first moment: the store itself is being made. */
static void test_killed_young(const char *base, struct progress *progress) {
	struct rng rng;
	int bad = 0;
	rng_seed(&rng, 12);
	for (int round = 0; round < KILLS; round++) {
		struct err err = {0};
		int status;
		char *path = mem_printf("%s-%d", base, round);
		pid_t child = fork();
		if (child == 0)
			write_until_killed(path, progress);
		kill_after(child, (long)rng_below(&rng, 15000000), &status);
		struct store *store = store_open(path, STORE_WRITE, &err);
		bad += !store || fixture_session(store, MACHINE) < 1 || !is_whole(path);
		if (!store)
			printf("# %s\n", err.what);
		store_close(store);
		free(path);
	}
	ok(bad == 0, "killed %d times while it is made: it opens for writing each time", KILLS);
}

static int write_some(const char *path, int writer) {
	struct err err = {0};
	char problem[32];
	snprintf(problem, sizeof problem, "{\"n\":%d}", writer);
	struct store *store = store_open(path, STORE_WRITE, &err);
	int64_t search = store ? fixture_search(store, fixture_session(store, MACHINE), "gol", problem) : -1;
	int rc = search < 1;
	for (int i = 0; rc == 0 && i < EACH; i++)
		rc = fixture_trial(store, search, i, &err);
	if (rc)
		printf("# writer %d: %s\n", writer, err.what);
	fflush(stdout);
	store_close(store);
	return rc;
}

static void test_writers(const char *path) {
	struct err err = {0};
	pid_t children[WRITERS];
	int failed = 0, whole = 0;
	for (int i = 0; i < WRITERS; i++)
		if ((children[i] = fork()) == 0)
			_exit(write_some(path, i) != 0);
	for (int i = 0; i < WRITERS; i++) {
		int status;
		failed += waitpid(children[i], &status, 0) != children[i] || status != 0;
	}
	ok(failed == 0, "%d writers at the same time all get through", WRITERS);
	struct store *store = fixture_open(path);
	for (int64_t search = 1; search <= WRITERS; search++) {
		int count = 0;
		whole += store_trials_each(store, search, NULL, count_in_order, &count, &err) == 0 && count == EACH;
	}
	store_close(store);
	ok(whole == WRITERS && is_whole(path), "each writer finds its %d trials in order", EACH);
}

int main(void) {
	fixture_begin();
	char *path = fixture_path("store.db"), *young = fixture_path("young.db"), *many = fixture_path("many.db");
	struct progress *progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	test_killed(path, progress);
	test_killed_young(young, progress);
	test_writers(many);
	free(path);
	free(young);
	free(many);
	return fixture_end();
}
