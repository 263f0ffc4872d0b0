/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A store whose folder or file somebody else has locked: waiting has an end, by a clock that only sleeping moves. */
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "tests/tuner/store/fixture.h"

enum { LIMIT_SECONDS = 60 }; /* what SECURITY.md promises */

static struct timespec now = {.tv_sec = 1000};

/* These two take the place of libc's. */
int clock_gettime(clockid_t clock, struct timespec *time) {
	(void)clock;
	*time = now;
	return 0;
}

int nanosleep(const struct timespec *length, struct timespec *rest) {
	(void)rest;
	long nanoseconds = now.tv_nsec + length->tv_nsec;
	now.tv_sec += length->tv_sec + nanoseconds / 1000000000;
	now.tv_nsec = nanoseconds % 1000000000;
	return 0;
}

/* Was about as much waited as is promised since then? */
static bool waited(time_t begun) {
	printf("# %lld seconds\n", (long long)(now.tv_sec - begun));
	return now.tv_sec - begun >= LIMIT_SECONDS - 1 && now.tv_sec - begun <= LIMIT_SECONDS + 1;
}

/* Anybody who can read the folder can do this, for as long as they like. */
static void test_folder(const char *path) {
	int held = open(fixture_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	time_t begun = now.tv_sec;
	if (held < 0 || flock(held, LOCK_EX | LOCK_NB)) {
		tap_skip("a locked folder", "it cannot be locked");
		return;
	}
	struct store *store = fixture_open(path);
	ok(waited(begun), "a folder that another process keeps locked is waited for, up to a minute");
	ok(fixture_search(store, fixture_session(store, MACHINE), "fw", "{}") > 0,
	   "the store works once the folder is free");
	store_close(store);
	close(held);
	begun = now.tv_sec;
	store_close(fixture_open(path));
	ok(now.tv_sec == begun, "one that is free again is not waited for");
}

static void test_file(const char *path) {
	struct err err = {0};
	sqlite3 *other = NULL;
	struct store *store = fixture_open(path);
	int64_t search = fixture_search(store, fixture_session(store, MACHINE), "fw", "{}");
	if (sqlite3_open(path, &other) || sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL))
		printf("Bail out! %s\n", sqlite3_errmsg(other));
	time_t begun = now.tv_sec;
	ok(fixture_trial(store, search, 0, &err) != 0 && waited(begun),
	   "the owner's other process that does not end writing is waited for, up to a minute");
	ok(err.code == ERR_FAILED && strstr(err.what, path) && *err.hint, "a store that stays locked is an error: %s (%s)",
	   err.what, err.hint);
	sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_close(other);
	ok(fixture_trial(store, search, 0, &err) == 0, "the trial can be stored once the other process is out of the way");
	store_close(store);
}

int main(void) {
	fixture_begin();
	char *path = fixture_path("s.db");
	test_folder(path);
	test_file(path);
	free(path);
	return fixture_end();
}
