/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cache of compiled code: reading returns the stored code or nothing, whatever happens to the files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/backend.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/hash.h"
#include "tests/tap.h"

enum { SIZES = 40 };

/* The content follows from the key, so that a reader can verify it. */
static struct code code_of(const char *key) {
	struct rng rng;
	rng_split(&rng, 7, key);
	struct code code = {.size = 1 + rng_below(&rng, 9000), .count = rng_below(&rng, 5)};
	code.image = mem_alloc(code.size + 1, 1);
	code.functions = mem_alloc(code.count + 1, sizeof *code.functions);
	for (size_t i = 0; i < code.size; i++)
		code.image[i] = (char)rng_below(&rng, 256);
	for (size_t i = 0; i < code.count; i++) {
		snprintf(code.functions[i].name, sizeof code.functions[i].name, "f%zu", i);
		code.functions[i].facts.registers = (int)rng_below(&rng, 256);
	}
	return code;
}

static bool is_same(const struct code *a, const struct code *b) {
	return a->size == b->size && a->count == b->count && memcmp(a->image, b->image, a->size) == 0 &&
	       memcmp(a->functions, b->functions, a->count * sizeof *a->functions) == 0;
}

static void key_of(int number, char key[CACHE_KEY]) {
	sha256_text(&number, sizeof number, key);
}

static char *path_of(const char *folder, const char *key) {
	return mem_printf("%s/%s.cubin", folder, key + 7);
}

static void put(const char *folder, const char *key) {
	struct code code = code_of(key);
	cache_store(folder, key, &code);
	code_free(&code);
}

/* 1: the stored code, 0: nothing, -1: something else. */
static int got(const char *folder, const char *key) {
	struct code want = code_of(key), code = {.image = NULL};
	int answer = !cache_load(folder, key, &code) ? 0 : is_same(&want, &code) ? 1 : -1;
	code_free(&want);
	code_free(&code);
	return answer;
}

static void check_kept(const char *folder) {
	char key[CACHE_KEY];
	int right = 0;
	struct stat st;
	for (int i = 0; i < SIZES; i++) {
		key_of(i, key);
		right += got(folder, key) == 0;
		put(folder, key);
		right += got(folder, key) == 1;
	}
	ok(right == 2 * SIZES, "stored code comes back, and nothing did before");
	char *path = path_of(folder, key);
	ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600, "files are the owner's alone");
	ok(stat(folder, &st) == 0 && (st.st_mode & 0777) == 0700, "the folder is the owner's alone");
	cache_remove(folder, key);
	ok(access(path, F_OK) != 0 && got(folder, key) == 0, "removed code is gone");
	free(path);
}

static void byte_change(const char *path, off_t at) {
	int fd = open(path, O_RDWR);
	unsigned char byte = 0;
	if (pread(fd, &byte, 1, at) == 1) {
		byte ^= 0x40;
		if (pwrite(fd, &byte, 1, at) != 1)
			perror("pwrite");
	}
	close(fd);
}

static void check_damaged(const char *folder) {
	char key[CACHE_KEY];
	struct rng rng;
	struct stat st;
	int refused = 0, removed = 0, tries = 200;
	rng_split(&rng, 3, "damage");
	key_of(1, key);
	char *path = path_of(folder, key);
	for (int i = 0; i < tries; i++) {
		put(folder, key);
		if (stat(path, &st) != 0)
			break;
		off_t at = i < 100 ? i : (off_t)rng_below(&rng, (uint64_t)st.st_size);
		if (i % 3 == 2 && truncate(path, at) != 0)
			perror("truncate");
		if (i % 3 != 2)
			byte_change(path, at);
		refused += got(folder, key) == 0;
		removed += access(path, F_OK) != 0;
	}
	ok(refused == tries && removed == refused, "%d of %d damaged files are refused and removed", refused, tries);
	put(folder, key);
	ok(got(folder, key) == 1, "damaged code can be put in again");
	free(path);
}

static void check_strange(const char *folder) {
	char key[CACHE_KEY];
	key_of(2, key);
	char *path = path_of(folder, key);
	unlink(path);
	bool linked = symlink("/etc/passwd", path) == 0;
	ok(linked && got(folder, key) == 0, "a link is not followed");
	unlink(path);
	ok(mkfifo(path, 0600) == 0 && got(folder, key) == 0 && access(path, F_OK) != 0, "a pipe is not code");
	ok(mkdir(path, 0700) == 0 && got(folder, key) == 0, "a folder is not code");
	rmdir(path);
	free(path);
}

static uint64_t bytes_in(const char *folder, int *files) {
	DIR *dir = opendir(folder);
	uint64_t sum = 0;
	struct stat st;
	*files = 0;
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 && S_ISREG(st.st_mode)) {
			sum += (uint64_t)st.st_size;
			++*files;
		}
	closedir(dir);
	return sum;
}

static void age(const char *path, time_t seconds) {
	const struct timespec times[2] = {{.tv_sec = 1000000000 - seconds}, {.tv_sec = 1000000000 - seconds}};
	utimensat(AT_FDCWD, path, times, 0);
}

static void file_make(const char *folder, const char *name, time_t old) {
	char *path = mem_printf("%s/%s", folder, name);
	FILE *file = fopen(path, "w");
	if (file)
		fclose(file);
	if (old)
		age(path, old);
	free(path);
}

static bool is_there(const char *folder, const char *name) {
	char *path = mem_printf("%s/%s", folder, name);
	bool there = access(path, F_OK) == 0;
	free(path);
	return there;
}

static void check_bound(const char *folder) {
	char key[CACHE_KEY];
	int files, fewer;
	for (int i = 0; i < SIZES; i++) {
		key_of(i, key);
		put(folder, key);
		char *path = path_of(folder, key);
		age(path, 1000 + i);
		free(path);
	}
	key_of(SIZES - 1, key);
	ok(got(folder, key) == 1, "the oldest one is used");
	file_make(folder, "mine.txt", 10);
	file_make(folder, ".abandoned.tmp", 10);
	file_make(folder, ".now.tmp", 0);
	uint64_t all = bytes_in(folder, &files), bound = all / 3;
	cache_trim(folder, bound);
	uint64_t rest = bytes_in(folder, &fewer);
	ok(rest <= bound && rest > 0 && fewer < files, "%d files are trimmed to %d", files, fewer);
	ok(got(folder, key) == 1, "the most recently used code stays");
	key_of(SIZES - 2, key);
	ok(got(folder, key) == 0, "the least recently used code is gone");
	ok(is_there(folder, "mine.txt") && !is_there(folder, ".abandoned.tmp") && is_there(folder, ".now.tmp"),
	   "abandoned temporary files go, others' and new ones stay");
}

/* Puts, gets and trims at random; the exit status is whether something wrong came back. */
static int one_of_two(const char *folder, const char *name) {
	struct rng rng;
	char key[CACHE_KEY];
	rng_split(&rng, 5, name);
	for (int i = 0; i < 400; i++) {
		key_of((int)rng_below(&rng, 4), key);
		switch (rng_below(&rng, 8)) {
		case 0:
			cache_trim(folder, 8192);
			break;
		case 1:
			cache_remove(folder, key);
			break;
		case 2:
		case 3:
			put(folder, key);
			break;
		default:
			if (got(folder, key) < 0)
				return 1;
		}
	}
	return 0;
}

static void check_two(const char *folder) {
	static const char *const names[] = {"one", "two", "three"};
	int wrong = 0, status;
	for (size_t i = 0; i < 3; i++)
		if (fork() == 0)
			_exit(one_of_two(folder, names[i]));
	for (size_t i = 0; i < 3; i++)
		wrong += wait(&status) < 0 || status != 0;
	ok(wrong == 0, "three processes at once only get stored code");
}

static void check_folder(const char *folder) {
	struct stat st;
	chmod(folder, 0777);
	char *found = cache_folder();
	ok(!found, "a folder that others may write to is not used");
	free(found);
	chmod(folder, 0700);
	setenv("XDG_CACHE_HOME", "/proc/none", 1);
	found = cache_folder();
	ok(!found && stat("/proc/none", &st) != 0, "the cache is off without a folder");
	free(found);
}

int main(void) {
	char home[] = "/tmp/sweetspot-cache-XXXXXX";
	if (!mkdtemp(home))
		return 99;
	setenv("XDG_CACHE_HOME", home, 1);
	char *folder = cache_folder();
	if (!ok(folder && strncmp(folder, home, strlen(home)) == 0, "there is a folder"))
		return tap_done();
	check_kept(folder);
	check_damaged(folder);
	check_strange(folder);
	check_bound(folder);
	check_two(folder);
	check_folder(folder);
	free(folder);
	char *command = mem_printf("rm -rf '%s'", home);
	int removed = system(command);
	free(command);
	return tap_done() | (removed != 0);
}
