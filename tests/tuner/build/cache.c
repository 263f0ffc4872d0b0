/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kept folders of builds: found by those who may use them, checked, shared by no two tuners, and tidied. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/hash.h"
#include "base/tree.h"
#include "tests/tap.h"
#include "tuner/build/cache.h"

static char key[SHA256_TEXT], other_key[SHA256_TEXT];

static bool sh(const char *line) {
	return system(line) == 0;
}

/* The fact that the caller wants. */
static bool fits(void *ctx, const json_t *facts) {
	return json_integer_value(json_object_get(facts, "version")) == *(int *)ctx;
}

static struct build_folder *find(struct build_cache *cache, int version) {
	return build_cache_find(cache, key, fits, &version);
}

/* A folder with a program, a folder and a link. */
static struct build_folder *build(struct build_cache *cache, const char *text) {
	struct err err = {0};
	struct build_folder *folder = build_cache_make(cache, key, &err);
	if (!folder)
		return NULL;
	char *line = mem_printf("mkdir -p %s/sub && cd %s && echo %s >app && chmod +x app && ln -s ../app sub/link",
	                        build_folder_tree(folder), build_folder_tree(folder), text);
	ok(sh(line), "%s is built", text);
	free(line);
	return folder;
}

static void keep(struct build_folder *folder, int version) {
	json_t *facts = json_pack("{s:i}", "version", version);
	build_folder_keep(folder, facts, 1.5);
	json_decref(facts);
}

static bool file_says(const struct build_folder *folder, const char *name, const char *text) {
	char *line = mem_printf("test \"$(cat %s/%s)\" = %s", build_folder_tree(folder), name, text);
	bool same = sh(line);
	free(line);
	return same;
}

static void in_tree(const struct build_folder *folder, const char *command) {
	char *line = mem_printf("cd %s && %s", build_folder_tree(folder), command);
	ok(sh(line), "%s", command);
	free(line);
}

static size_t folders(void) {
	FILE *out = popen("ls -d cache/sweetspot/build/*-* 2>/dev/null | wc -l", "r");
	int count = -1;
	if (!out || fscanf(out, "%d", &count) != 1)
		count = -1;
	if (out)
		pclose(out);
	return (size_t)count;
}

static void test_keep(void) {
	struct build_cache *cache = build_cache_new(NULL);
	ok(access("cache", F_OK) != 0, "nothing is created before the first folder");
	ok(!find(cache, 1), "nothing is there yet");
	struct build_folder *one = build(cache, "one");
	struct stat info = {0};
	ok(stat(build_cache_base(cache), &info) == 0 && S_ISDIR(info.st_mode), "the base is there");
	keep(one, 1);
	ok(!find(cache, 1), "a folder in use is nobody else's");
	build_folder_free(one);
	build_folder_free(build(cache, "two"));
	ok(folders() == 1, "a folder that is not kept goes");
	one = find(cache, 1);
	ok(one && file_says(one, "sub/link", "one"), "the other one is found");
	ok(one && build_folder_seconds(one) == 1.5, "a folder that is found has the seconds that it took");
	if (one)
		in_tree(one, "echo 7 >output && mkdir more && echo 8 >more/output");
	build_folder_free(one);
	one = find(cache, 1);
	ok(one && access(build_folder_tree(one), F_OK) == 0 && !file_says(one, "output", "7"),
	   "what a run adds is removed");
	build_folder_free(one);
	ok(!find(cache, 2), "where the facts do not fit, nothing is found");
	ok(!build_cache_find(cache, other_key, fits, &(int){1}), "another key finds nothing");
	ok(folders() == 1, "a folder that does not fit stays");
	build_cache_free(cache);
}

/* Each change makes the folder useless. */
static void test_damage(void) {
	static const char *const damage[] = {"echo three >app", "chmod -x app", "rm sub/link", "ln -sf /bin/sh sub/link",
	                                     "truncate -s 0 app"};
	for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
		struct build_cache *cache = build_cache_new(NULL);
		struct build_folder *folder = build(cache, "right");
		keep(folder, 10 + (int)i);
		in_tree(folder, damage[i]);
		build_folder_free(folder);
		ok(!find(cache, 10 + (int)i), "what is damaged is not used");
		ok(folders() == 1, "a damaged folder is removed");
		build_cache_free(cache);
	}
	ok(sh("for f in cache/sweetspot/build/*/record; do echo '{' >$f; done"), "a record that cannot be read");
	struct build_cache *cache = build_cache_new(NULL);
	ok(!find(cache, 1), "a record that cannot be read is none");
	build_cache_free(cache);
	ok(sh("rm -r cache/sweetspot/build/*-*"), "all is removed");
}

/* A tuner that is killed while it builds leaves nothing that another one would use. */
static void test_killed(void) {
	int ends[2];
	char byte;
	if (pipe(ends))
		return;
	fflush(stdout); /* The child would write it once more. */
	pid_t child = fork();
	if (child == 0) {
		if (!freopen("/dev/null", "w", stdout)) /* Its checks are not part of this test's. */
			_exit(1);
		struct build_cache *theirs = build_cache_new(NULL);
		struct build_folder *kept = build(theirs, "kept");
		keep(kept, 1);
		struct build_folder *half = build(theirs, "half");
		ssize_t put = write(ends[1], half ? "1" : "0", 1);
		pause();
		_exit(put < 0);
	}
	ok(read(ends[0], &byte, 1) == 1 && byte == '1', "another tuner builds");
	ok(sh("mkdir cache/sweetspot/build/run-old cache/sweetspot/build/mine"), "beside other folders");
	struct build_cache *cache = build_cache_new(NULL);
	ok(!find(cache, 1) && folders() == 2 + 0 && access("cache/sweetspot/build/run-old", F_OK),
	   "folders of another tuner are left alone, and a broken one is removed");
	build_cache_free(cache);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	cache = build_cache_new(NULL);
	struct build_folder *found = find(cache, 1);
	ok(found && file_says(found, "app", "kept"), "once it is killed, what it had kept is used");
	ok(folders() == 1 && access("cache/sweetspot/build/mine", F_OK) == 0,
	   "folders that a killed tuner had not kept are removed");
	build_folder_free(found);
	build_cache_free(cache);
	close(ends[0]);
	close(ends[1]);
}

/* The records are larger than what they describe. */
static double record_bytes(void) {
	struct stat info = {0};
	ok(sh("cp $(ls cache/sweetspot/build/*/record | head -1) record") && stat("record", &info) == 0, "a record");
	return (double)info.st_size;
}

static void test_trim(void) {
	struct build_cache *cache = build_cache_new(NULL);
	struct build_folder *old = build(cache, "old"), *used = build(cache, "used");
	keep(old, 31);
	keep(used, 32);
	build_folder_free(old);
	ok(sh("touch -d 2001-01-01 cache/sweetspot/build/*/record"), "all are old");
	build_folder_free(used);
	used = find(cache, 32);
	build_folder_free(used);
	build_cache_trim(cache, 1 << 20);
	ok((used = find(cache, 31)), "a small cache is left alone");
	build_cache_trim(cache, 0);
	ok(folders() == 1, "a cache over its limit is cleared, except for what is in use");
	build_folder_free(used);
	build_cache_trim(cache, 0);
	ok(folders() == 0, "a folder that was in use goes the next time");
	struct build_folder *first = build(cache, "first"), *second = build(cache, "second");
	keep(first, 41);
	keep(second, 42);
	build_folder_free(first);
	build_folder_free(second);
	ok(sh("touch -d 2001-01-01 cache/sweetspot/build/*/record"), "both are old");
	build_folder_free(find(cache, 41));
	build_cache_trim(cache, (uint64_t)(1.5 * record_bytes()));
	ok(folders() == 1, "only as many go as must");
	ok((first = find(cache, 41)) && !find(cache, 42), "the least recently used ones");
	build_folder_free(first);
	build_cache_free(cache);
	setenv("XDG_CACHE_HOME", "/dev/null/x", 1);
	struct err err = {0};
	cache = build_cache_new(NULL);
	ok(!build_cache_make(cache, key, &err) && *err.what, "no folder can be created: %s", err.what);
	build_cache_free(cache);
}

static unsigned files_open(void) {
	unsigned count = 0;
	for (int fd = 0; fd < 4096; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* A search of a whole evening makes more builds than a process may have open files. */
static void test_many(void) {
	enum { MANY = 300, LOCKS = 256, SPARE = 20 };
	struct build_cache *cache = build_cache_new("many");
	struct build_folder *folders[MANY];
	struct err err = {0};
	unsigned before = files_open();
	int made = 0;
	for (int i = 0; i < MANY; i++) {
		char text[16], hash[SHA256_TEXT];
		snprintf(text, sizeof text, "many %d", i);
		sha256_text(text, strlen(text), hash);
		folders[i] = build_cache_make(cache, hash, &err);
		if (folders[i] && mkdir(build_folder_tree(folders[i]), 0700) == 0)
			keep(folders[i], 1), made++;
	}
	ok(made == MANY, "%d folders are kept %s", made, err.what);
	ok(files_open() - before <= LOCKS + SPARE, "folders that are kept leave %u files open", files_open() - before);
	int there = 0;
	for (int i = 0; i < MANY; i++)
		there += access(build_folder_tree(folders[i]), F_OK) == 0;
	ok(there == MANY, "all of them stay (%d)", there);
	for (int i = 0; i < MANY; i++)
		build_folder_free(folders[i]);
	ok(files_open() == before, "no file stays open");
	build_cache_free(cache);
}

int main(void) {
	char top[] = "/tmp/sweetspot-cache-XXXXXX";
	if (!mkdtemp(top) || chdir(top)) {
		printf("Bail out! no folder\n");
		return 99;
	}
	char *cache = mem_printf("%s/cache", top);
	setenv("XDG_CACHE_HOME", cache, 1);
	sha256_text("key", 3, key);
	sha256_text("other", 5, other_key);
	test_keep();
	test_damage();
	test_killed();
	test_trim();
	test_many();
	tree_remove(top);
	free(cache);
	return tap_done();
}
