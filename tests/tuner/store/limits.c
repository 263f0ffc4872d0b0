/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Without space or permission there must be a clear error, and earlier content must survive. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/tuner/store/fixture.h"

static int count_trial(void *ctx, const struct store_trial *trial) {
	int *count = ctx;
	*count += trial->block == *count;
	return 0;
}

static int count_trials(struct store *store, int64_t search) {
	struct err err = {0};
	int count = 0;
	return store_trials_each(store, search, NULL, count_trial, &count, &err) ? -1 : count;
}

/* Adds trials until one fails, at most `max`. */
static int fill(struct store *store, int64_t search, int max, struct err *err) {
	int n = 0;
	while (n < max && fixture_trial(store, search, n, err) == 0)
		n++;
	return n;
}

/* Writes into a store until `what` stops it, lifts the limit, and goes on. */
static void test_full(const char *path, const char *what, int (*limit)(const char *path, bool on)) {
	enum { MAX = 20000 };
	struct err err = {0};
	struct store *store = fixture_open(path);
	int64_t search = fixture_search(store, fixture_session(store, MACHINE), "fw", "{}");
	if (limit(path, true)) {
		tap_skip(what, strerror(errno));
		store_close(store);
		return;
	}
	int stored = fill(store, search, MAX, &err);
	ok(stored < MAX && err.code == ERR_FAILED && *err.hint, "%s after %d trials: %s", what, stored, err.what);
	ok(fixture_trial(store, search, stored, &err) != 0 && count_trials(store, search) == stored,
	   "%s: the store can still be read, and has all that was acknowledged", what);
	store_close(store);
	store = store_open(path, STORE_READ, &err);
	ok(store && count_trials(store, search) == stored, "%s: the same after it is opened again", what);
	store_close(store);
	limit(path, false);
	store = fixture_open(path);
	ok(count_trials(store, search) == stored && fixture_trial(store, search, stored, &err) == 0 &&
	       count_trials(store, search) == stored + 1,
	   "%s: with space again it goes on", what);
	store_close(store);
}

static int limit_size(const char *path, bool on) {
	struct rlimit limit;
	(void)path;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = on ? 600000 : limit.rlim_max;
	return setrlimit(RLIMIT_FSIZE, &limit);
}

/* A file system of our own gets full; `filler` takes what the store leaves, and goes away. */
static int limit_space(const char *path, bool on) {
	char *filler = mem_printf("%s.filler", path), block[4096] = "";
	int fd = on ? open(filler, O_CREAT | O_WRONLY | O_TRUNC, 0666) : -1;
	while (fd >= 0 && write(fd, block, sizeof block) > 0)
		;
	if (fd >= 0) {
		/* A few pages are left, so that it ends amid work. */
		struct stat st;
		if (fstat(fd, &st) != 0 || ftruncate(fd, st.st_size - 65536) != 0)
			perror("# filler");
		close(fd);
	} else {
		unlink(filler);
	}
	free(filler);
	return 0;
}

static bool mount_own(const char *dir) {
	return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", dir, "tmpfs", 0, "size=1m") == 0;
}

static void test_mounts(void) {
	struct err err = {0};
	char *dir = fixture_path("mount"), *path = fixture_path("mount/store.db");
	mkdir(dir, 0777);
	if (mount_own(dir)) {
		test_full(path, "the disk gets full", limit_space);
		int before, after;
		struct store *store = store_open(path, STORE_READ, &err);
		before = store ? count_trials(store, 1) : -1;
		store_close(store);
		store_close(fixture_open(path));
		ok(mount("none", dir, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0, "the file system turns read-only");
		store = store_open(path, STORE_WRITE, &err);
		ok(!store && err.code == ERR_FAILED && *err.hint, "a store on a read-only file system cannot be written: %s",
		   err.what);
		store = store_open(path, STORE_READ, &err);
		after = store ? count_trials(store, 1) : -2;
		ok(before > 0 && before == after, "a store on a read-only file system has all its trials");
		store_close(store);
		umount(dir);
	} else {
		tap_skip("a full and a read-only file system", "mounting is not permitted here");
	}
	free(dir);
	free(path);
}

/* Runs as nobody where the test runs as root, since root may write anywhere. 0: as wanted. */
static int unprivileged(const char *path, bool reads) {
	struct err err[2] = {0};
	if (geteuid() == 0 && setuid(65534) != 0)
		return 9;
	struct store *store = store_open(path, STORE_WRITE, &err[0]);
	printf("# %s\n", err[0].what);
	fflush(stdout);
	if (store || err[0].code != ERR_FAILED || !*err[0].hint)
		return 1;
	store = store_open(path, STORE_READ, &err[1]);
	if (!reads)
		return store || !*err[1].hint;
	return !store || count_trials(store, 1) != 3;
}

static void expect_unprivileged(const char *path, bool reads, const char *what) {
	int status = -1;
	pid_t child = fork();
	if (child == 0)
		_exit(unprivileged(path, reads));
	ok(waitpid(child, &status, 0) == child && status == 0, "%s", what);
}

static const char *const parts[] = {"", "-wal", "-shm"};

static void permit(const char *path, mode_t mode) {
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		char *part = mem_printf("%s%s", path, parts[i]);
		chmod(part, mode);
		free(part);
	}
}

static void owners_alone(const char *path) {
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		struct stat info = {0};
		char *part = mem_printf("%s%s", path, parts[i]);
		ok(stat(part, &info) == 0 && (info.st_mode & 0777) == 0600, "store.db%s is its owner's alone", parts[i]);
		free(part);
	}
}

static void test_permissions(void) {
	struct err err = {0};
	mode_t mask = umask(0);
	char *dir = fixture_path("others"), *path = fixture_path("others/store.db"),
		 *absent = fixture_path("others/new.db");
	chmod(fixture_dir, 0755);
	mkdir(dir, 0755);
	struct store *store = fixture_open(path);
	int64_t search = fixture_search(store, fixture_session(store, MACHINE), "fw", "{}");
	fill(store, search, 3, &err);
	owners_alone(path);
	expect_unprivileged(path, false, "another user can't read a store that is its owner's alone");
	permit(path, 0444);
	expect_unprivileged(path, true, "a store that its owner has opened to others, in use: read, not written");
	store_close(store);
	expect_unprivileged(path, true, "a read-only file: read, not written");
	chmod(dir, 0555);
	expect_unprivileged(path, true, "a read-only folder: read, not written");
	expect_unprivileged(absent, false, "no store can be made there");
	chmod(dir, 0755);
	chmod(path, 0);
	expect_unprivileged(path, false, "a file that can't even be read");
	umask(mask);
	free(dir);
	free(path);
	free(absent);
}

int main(void) {
	fixture_begin();
	char *path = fixture_path("store.db");
	test_full(path, "the file may not grow", limit_size);
	test_permissions();
	test_mounts();
	free(path);
	return fixture_end();
}
