/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sys.h"
#include "tests/tap.h"

/* How a child that runs `act` ends, with its stderr thrown away. */
static int status_of(void (*act)(void)) {
	int status = 0;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		act();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

/* volatile: the compiler must not see that this can't work. */
static volatile size_t vast = SIZE_MAX / 2;

static void overflow_alloc(void) {
	free(mem_alloc(vast, 3));
}

static void overflow_grow(void) {
	free(mem_grow(NULL, vast, 3));
}

static void overflow_arena(void) {
	struct arena *arena = arena_new();
	arena_alloc(arena, vast, 3);
}

static void unending_alloc(void) {
	free(mem_alloc(vast + 2, 1));
}

static void ends_well(void) {
	free(mem_alloc(3, 3));
}

/* Blocks of a few pages, and of many. */
static void test_large(void) {
	static const size_t sizes[] = {1, 5000, (1 << 21) - 1, 1 << 21, 5000001};
	bool whole = true;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		size_t size = sizes[i], grown = size + size / 2 + 1;
		char *large = memset(mem_large(size), 'x', size);
		large = mem_grow(large, grown, 1);
		memset(large + size, 'y', grown - size);
		whole = whole && large[0] == 'x' && large[size - 1] == 'x' && large[size] == 'y' && large[grown - 1] == 'y';
		free(large);
	}
	ok(whole, "large memory is written, grows and goes");
}

static void overflow_large(void) {
	free(mem_large(vast * 2));
}

static void test_memory(void) {
	char *zero = mem_alloc(1000, 1), *nothing = mem_alloc(0, 8);
	bool clear = true;
	for (int i = 0; i < 1000; i++)
		clear = clear && zero[i] == 0;
	ok(clear && nothing, "memory is zeroed, and nothing is something");
	zero = mem_grow(memset(zero, 'x', 1000), 100000, 1);
	ok(zero[0] == 'x' && zero[999] == 'x', "growing keeps the content");
	nothing = mem_grow(nothing, 0, 8);
	ok(nothing != NULL, "nothing stays something");
	char *text = mem_printf("%s-%d", "a", 5);
	is_text(text, "a-5", "mem_printf");
	free(text);
	free(zero);
	free(nothing);
	ok(status_of(ends_well) == 0, "a small allocation goes well");
	ok(status_of(overflow_alloc) == W_EXITCODE(1, 0) && status_of(overflow_grow) == W_EXITCODE(1, 0) &&
	       status_of(overflow_arena) == W_EXITCODE(1, 0) && status_of(overflow_large) == W_EXITCODE(1, 0) &&
	       status_of(unending_alloc) == W_EXITCODE(1, 0),
	   "a size that overflows ends the process with status 1");
}

struct piece {
	unsigned char *at;
	size_t size;
	unsigned char mark;
};

/* Every piece is aligned, zeroed, and separate: writing to one does not change another. */
static void test_arena(void) {
	enum { PIECES = 3000 };
	struct arena *arena = arena_new();
	struct piece *pieces = mem_alloc(PIECES, sizeof(*pieces));
	int unaligned = 0, dirty = 0, torn = 0;
	struct rng rng;
	rng_seed(&rng, 1);
	for (int i = 0; i < PIECES; i++) {
		struct piece *piece = &pieces[i];
		piece->size = rng_below(&rng, rng_below(&rng, 50) ? 200 : 100000);
		piece->at = arena_alloc(arena, piece->size, 1);
		piece->mark = (unsigned char)(1 + rng_below(&rng, 255));
		unaligned += (uintptr_t)piece->at % _Alignof(max_align_t) != 0;
		for (size_t k = 0; k < piece->size; k++)
			dirty += piece->at[k] != 0;
		memset(piece->at, piece->mark, piece->size);
	}
	for (int i = 0; i < PIECES; i++)
		for (size_t k = 0; k < pieces[i].size; k++)
			torn += pieces[i].at[k] != pieces[i].mark;
	ok(unaligned == 0, "an arena's pieces are aligned");
	ok(dirty == 0, "an arena's memory is zeroed");
	ok(torn == 0, "no two pieces overlap");
	is_text(arena_strdup(arena, "text"), "text", "arena_strdup");
	char *want = mem_printf("%05d|%300s|", 42, ""), *got = arena_printf(arena, "%05d|%300s|", 42, "");
	is_text(got, want, "arena_printf");
	free(want);
	free(pieces);
	arena_free(arena);
	arena_free(NULL);
}

static bool holds(const char *path, const char *want) {
	size_t size;
	char *data = sys_read_file(path, 1 << 20, &size, NULL);
	bool same = data && size == strlen(want) && memcmp(data, want, size + 1) == 0;
	free(data);
	return same;
}

static size_t entries(const char *folder) {
	char command[300], text[32] = "";
	snprintf(command, sizeof(command), "ls -A '%s' | wc -l", folder);
	FILE *pipe = popen(command, "r");
	bool got = fgets(text, sizeof(text), pipe) != NULL;
	pclose(pipe);
	return got ? strtoul(text, NULL, 10) : 0;
}

static void test_read(void) {
	struct err err;
	char line[8];
	size_t size;
	ok(sys_write_file("plain", "one\ntwo\n", 8, &err) == 0 && holds("plain", "one\ntwo\n"),
	   "a written file reads back");
	ok(sys_read_line("plain", line, sizeof(line)) && strcmp(line, "one") == 0, "the first line of it");
	ok(sys_read_line("plain", line, 3) && strcmp(line, "on") == 0, "a long line is cut to the room");
	ok(!sys_read_line("absent", line, sizeof(line)) && !sys_read_line(".", line, sizeof(line)),
	   "a folder does not have lines");
	char *data = sys_read_file("plain", 8, &size, &err);
	ok(data && size == 8, "a file as large as the limit is read");
	free(data);
	ok(!sys_read_file("plain", 7, &size, &err) && err.code == ERR_USAGE && strstr(err.what, "plain"),
	   "a larger one is not");
	ok(!sys_read_file("absent", 7, &size, &err) && err.code == ERR_USAGE && strstr(err.what, "absent"),
	   "an absent file is not read");
	ok(!sys_read_file(".", 7, &size, &err) && strstr(err.what, "directory"), "a folder is not read");
	ok(!sys_read_file("/dev/zero", 100000, &size, &err) && strstr(err.what, "larger"),
	   "a file without end is not read");
	sys_write_file("nul", "a\0b", 3, &err);
	data = sys_read_file("nul", 9, &size, &err);
	ok(data && size == 3 && data[2] == 'b', "bytes of 0 are kept");
	free(data);
}

static void test_write(void) {
	struct err err;
	struct stat st;
	chmod("plain", 0640);
	ok(symlink("plain", "link") == 0 && sys_write_file("link", "new", 3, &err) == 0 && holds("plain", "new") &&
	       lstat("link", &st) == 0 && S_ISLNK(st.st_mode),
	   "a link is followed and stays");
	ok(stat("plain", &st) == 0 && (st.st_mode & 0777) == 0640, "permissions stay");
	ok(sys_write_file("/dev/null", "x", 1, &err) == 0 && stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode),
	   "a device stays one");
	ok(sys_write_file("/dev/full", "x", 1, &err) < 0 && err.code == ERR_FAILED && err.hint[0],
	   "a full disk is an error with a hint");
	ok(sys_write_file("no/such/file", "x", 1, &err) < 0 && strstr(err.what, "no/such/file"),
	   "a missing folder is an error");
	ok(sys_write_file(".", "x", 1, &err) < 0, "a folder in the place of the file is an error");
	size_t before = entries(".");
	ok(sys_write_file("plain", "newer", 5, &err) == 0 && entries(".") == before, "no temporary file is left");
	ok(sys_write_file("/proc/self/nothing", "x", 1, &err) < 0, "a folder that takes no files is an error");
}

/* A reader sees one of the two versions, whenever it looks. */
static void test_atomic(void) {
	enum { SIZE = 50000 };
	static char a[SIZE], b[SIZE];
	int half = 0, versions[2] = {0, 0};
	memset(a, 'a', SIZE);
	memset(b, 'b', SIZE);
	sys_write_file("both", a, SIZE, NULL);
	pid_t writer = fork();
	if (writer == 0) {
		while (sys_write_file("both", b, SIZE, NULL) == 0 && sys_write_file("both", a, SIZE, NULL) == 0)
			continue;
		_exit(1);
	}
	for (int i = 0; i < 300 || (i < 20000 && !(versions[0] && versions[1])); i++) {
		size_t size = 0;
		char *data = sys_read_file("both", SIZE, &size, NULL);
		bool is_b = data && size == SIZE && memcmp(data, b, SIZE) == 0;
		half += !is_b && !(data && size == SIZE && memcmp(data, a, SIZE) == 0);
		versions[is_b]++;
		free(data);
	}
	int status = kill(writer, SIGKILL);
	waitpid(writer, &status, 0);
	ok(half == 0, "a reader sees a whole version (%d and %d times)", versions[0], versions[1]);
	ok(WIFSIGNALED(status), "the writer wrote without an error");
}

static int temporary(const char *name, time_t age, bool held) {
	int fd = open(name, O_CREAT | O_WRONLY, 0600);
	if (held)
		flock(fd, LOCK_EX);
	futimens(fd, (const struct timespec[]){{.tv_sec = time(NULL) - age}, {.tv_sec = time(NULL) - age}});
	return fd;
}

static void test_leftovers(void) {
	sys_make_dirs("left", NULL);
	int fds[] = {temporary("left/.sweetspot-1-0.tmp", 3600, false), temporary("left/.sweetspot-1-1.tmp", 3600, true),
	             temporary("left/.sweetspot-1-2.tmp", 0, false), temporary("left/sweetspot-1-3.tmp", 3600, false)};
	ok(sys_write_file("left/file", "x", 1, NULL) == 0 && access("left/.sweetspot-1-0.tmp", F_OK) != 0,
	   "the temporary file of a killed process goes with the next write");
	ok(access("left/.sweetspot-1-1.tmp", F_OK) == 0 && access("left/.sweetspot-1-2.tmp", F_OK) == 0 &&
	       access("left/sweetspot-1-3.tmp", F_OK) == 0,
	   "one that is being written, one that is young and the user's own stay");
	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
		close(fds[i]);
}

static int count_temporaries(const char *folder) {
	DIR *dir = opendir(folder);
	int count = 0;
	for (const struct dirent *entry; dir && (entry = readdir(dir));)
		count += strncmp(entry->d_name, ".sweetspot-", 11) == 0;
	if (dir)
		closedir(dir);
	return count;
}

/* A limit kills it in the middle of the file. */
static void test_killed(void) {
	enum { SIZE = 100000 };
	static char data[SIZE];
	sys_make_dirs("killed", NULL);
	pid_t writer = fork();
	if (writer == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){SIZE / 2, SIZE / 2});
		signal(SIGXFSZ, SIG_DFL);
		sys_write_file("killed/file", data, SIZE, NULL);
		_exit(1);
	}
	int status = 0;
	bool was_killed = waitpid(writer, &status, 0) == writer && WIFSIGNALED(status);
	ok(was_killed && count_temporaries("killed") == 1 && access("killed/file", F_OK) != 0,
	   "a process that is killed while it writes leaves a temporary file");
	ok(sys_write_file("killed/file", data, SIZE, NULL) == 0 && count_temporaries("killed") == 0,
	   "the temporary file of a killed writer goes with the next write, however young it is");
}

static void test_folders(void) {
	struct err err;
	struct stat st;
	ok(sys_make_dirs("x/y//z/", &err) == 0 && stat("x/y/z", &st) == 0 && S_ISDIR(st.st_mode),
	   "folders are made with their parents");
	ok(sys_make_dirs("x/y/z", &err) == 0, "existing folders are not an error");
	ok(sys_make_dirs("plain/y", &err) < 0 && err.hint[0] && strstr(err.what, "plain"), "a file in the way is an error");
	ok(sys_make_dirs("/proc/nope/x", &err) < 0 && err.code == ERR_FAILED, "a place that takes no folders is an error");
	setenv("HOME", "/home/x", 1);
	setenv("XDG_DATA_HOME", "/data", 1);
	char *first = sys_data_dir(&err);
	setenv("XDG_DATA_HOME", "relative", 1);
	char *second = sys_data_dir(&err);
	is_text(first, "/data/sweetspot", "XDG_DATA_HOME counts");
	is_text(second, "/home/x/.local/share/sweetspot", "a relative XDG_DATA_HOME does not count");
	free(first);
	free(second);
	unsetenv("XDG_DATA_HOME");
	unsetenv("HOME");
	ok(!sys_data_dir(&err) && err.hint[0], "a hint is given where HOME is not set");
}

static bool has_limit(const char *groups, uint64_t want) {
	sys_write_file("root/proc/self/cgroup", groups, strlen(groups), NULL);
	uint64_t got = sys_cgroup_memory("root");
	if (got != want)
		printf("# got %llu\n", (unsigned long long)got);
	return got == want;
}

static bool has_quota(const char *groups, double want) {
	sys_write_file("root/proc/self/cgroup", groups, strlen(groups), NULL);
	double got = sys_cgroup_processors("root");
	if (got != want)
		printf("# got %g\n", got);
	return got == want;
}

static void file_make(const char *path, const char *text) {
	sys_write_file(path, text, strlen(text), NULL);
}

static void test_quotas(void) {
	sys_make_dirs("root/sys/fs/cgroup/job/step", NULL);
	sys_make_dirs("root/sys/fs/cgroup/cpu/job", NULL);
	ok(has_quota("0::/job/step\n", INFINITY), "processor time is unlimited without a file of quotas");
	file_make("root/sys/fs/cgroup/job/cpu.max", "50000 100000\n");
	file_make("root/sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
	ok(has_quota("0::/job/step\n", 0.5), "the quota of a group above counts");
	file_make("root/sys/fs/cgroup/job/step/cpu.max", "20000 100000\n");
	ok(has_quota("0::/job/step\n", 0.2), "the smallest quota counts");
	ok(has_quota("0::/job\n", 0.5), "the quota of a group below does not count");
	file_make("root/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
	file_make("root/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
	ok(has_quota("3:cpuacct,cpu:/job\n", INFINITY), "-1 of version 1 is no quota");
	file_make("root/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "150000\n");
	ok(has_quota("4:memory:/x\n3:cpuacct,cpu:/job\n", 1.5), "version 1 has its quota in two files");
	ok(has_quota("nonsense\n", INFINITY), "nonsense is no quota");
}

static void test_memory_limits(void) {
	sys_make_dirs("root/proc/self", NULL);
	sys_make_dirs("root/sys/fs/cgroup/a/b", NULL);
	sys_make_dirs("root/sys/fs/cgroup/memory/docker/1", NULL);
	ok(sys_cgroup_memory("root") == UINT64_MAX, "no cgroup limits nothing");
	sys_write_file("root/sys/fs/cgroup/a/memory.max", "5000\n", 5, NULL);
	sys_write_file("root/sys/fs/cgroup/a/b/memory.max", "max\n", 4, NULL);
	sys_write_file("root/sys/fs/cgroup/memory/memory.limit_in_bytes", "7000\n", 5, NULL);
	sys_write_file("root/sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "6000\n", 5, NULL);
	ok(has_limit("0::/a/b\n", 5000), "version 2: a group above limits, too");
	ok(has_limit("0::/\n", UINT64_MAX), "version 2: the root is unlimited");
	ok(has_limit("3:cpu,memory:/docker/1\n2:pids:/a\n", 6000), "version 1: the smaller of group and root");
	ok(has_limit("3:memory:/not/seen/here\n", 7000), "version 1: in a container the root counts");
	ok(has_limit("3:cpu,memoryx:/docker/1\n", UINT64_MAX), "another controller does not");
	ok(has_limit("nonsense\n:\n0:\n0::\n9:memory:\n", UINT64_MAX), "nonsense limits nothing");
	uint64_t total = sys_memory_total();
	ok(total > 1 << 20 && total <= (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
	   "this machine has memory");
	double before = sys_now();
	usleep(1000);
	ok(sys_now() > before && sys_wall() > 1.7e9, "clocks go forward");
}

static void test_self(void) {
	struct err err = {0};
	struct stat running, found;
	char path[4096], tight[8];
	ok(sys_self_path(path, sizeof path, &err) == 0 && path[0] == '/' && stat(path, &found) == 0 &&
	       stat("/proc/self/exe", &running) == 0 && found.st_ino == running.st_ino,
	   "the running program knows its own path");
	size_t length = strlen(path);
	memset(path, 'x', sizeof path);
	ok(sys_self_path(path, length, &err) && path[0] == '\0' && err.code == ERR_FAILED && err.hint[0],
	   "a path that lacks room for its end is refused");
	ok(sys_self_path(tight, sizeof tight, NULL) && tight[0] == '\0', "a path that is much too long is refused");
	ok(sys_self_path(path, length + 1, &err) == 0 && strlen(path) == length, "one that just fits is not");
}

static void test_hash(void) {
	static const size_t sizes[] = {0, 1, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, 1 << 18};
	char *bytes = mem_alloc(1 << 18, 1), file[SHA256_TEXT], text[SHA256_TEXT];
	bool same = true;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		memset(bytes, 'a' + (int)i, sizes[i]);
		sha256_text(bytes, sizes[i], text);
		same = same && sys_write_file("hashed", bytes, sizes[i], NULL) == 0 &&
		       file_hash("hashed", O_NOFOLLOW, sizes[i], file) && strcmp(file, text) == 0;
	}
	ok(same, "a file's hash is that of its bytes, whatever its size");
	ok(!file_hash("hashed", 0, (1 << 18) - 1, file) && errno == EFBIG, "a larger file than allowed has none");
	ok(!file_hash(".", 0, 100, file) && mkfifo("pipe", 0600) == 0 && !file_hash("pipe", 0, 100, file) &&
	       errno == EINVAL && !file_hash("absent", 0, 100, file) && errno == ENOENT,
	   "what is not a regular file has no hash");
	ok(symlink("hashed", "symbolic") == 0 && file_hash("symbolic", 0, 1 << 18, file) &&
	       !file_hash("symbolic", O_NOFOLLOW, 1 << 18, file) && errno == ELOOP,
	   "a link is followed where that is asked for");
	free(bytes);
}

int main(void) {
	char folder[] = "/tmp/sweetspot-files-XXXXXX", command[64];
	if (!mkdtemp(folder) || chdir(folder) < 0)
		return 99;
	test_memory();
	test_large();
	test_arena();
	test_read();
	test_hash();
	test_write();
	test_atomic();
	test_leftovers();
	test_killed();
	test_folders();
	test_memory_limits();
	test_quotas();
	test_self();
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ok(chdir("/") == 0 && system(command) == 0, "all is cleaned up");
	return tap_done();
}
