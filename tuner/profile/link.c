/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of profiles in a folder, and the links that lead to them. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/profile/folder.h"

static const char LINK[] = "machine-";
enum { DIGITS = 12, DIGITS_WHOLE = 64 };

static char *file_name(const char *folder, const char *fingerprint, int digits) {
	const char *colon = strchr(fingerprint, ':');
	size_t size = strlen(folder);
	return mem_printf("%s%sprofile-%.*s.json", folder, size && folder[size - 1] != '/' ? "/" : "", digits,
	                  colon ? colon + 1 : fingerprint);
}

char *profile_file_name(const char *folder, const char *fingerprint) {
	return file_name(folder, fingerprint, DIGITS);
}

char *profile_file_name_whole(const char *folder, const char *fingerprint) {
	return file_name(folder, fingerprint, DIGITS_WHOLE);
}

static bool is_link(const char *name) {
	const char *digits = name + sizeof LINK - 1;
	return strncmp(name, LINK, sizeof LINK - 1) == 0 && strspn(digits, "0123456789abcdef") == DIGITS &&
	       strcmp(digits + DIGITS, ".json") == 0;
}

bool profile_is_file(const char *name) {
	size_t length = strlen(name);
	return name[0] != '.' && length > 5 && strcmp(name + length - 5, ".json") == 0 && !is_link(name);
}

/* lib/profile/key.c computes the same key from /proc and /sys; a test compares them. */
static uint64_t byte_add(uint64_t hash, char byte) {
	return hash_add(hash, &byte, 1);
}

static uint64_t words_add(uint64_t hash, const char *text) {
	bool begun = false;
	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
		if (begun)
			hash = byte_add(hash, ' ');
		for (begun = true; *text && *text != ' ' && *text != '\t'; text++)
			hash = byte_add(hash, *text > ' ' && *text < 127 ? *text : '?');
	}
	return byte_add(hash, '\n');
}

static char *link_name(const json_t *machine) {
	static const char *const numbers[] = {"threads", "cores", "packages", "numa_nodes"};
	static const char *const caches[] = {"l1d", "l2", "l3"};
	uint64_t hash = words_add(HASH_START, js_string_or(machine, "cpu", ""));
	char text[32];
	for (size_t i = 0; i < 7; i++) {
		int64_t number =
			i < 4 ? js_int_or(machine, numbers[i], 0) : js_int_or(json_object_get(machine, "caches"), caches[i - 4], 0);
		snprintf(text, sizeof text, "%" PRIi64, number);
		hash = words_add(hash, text);
	}
	hash = words_add(hash, js_string_or(json_object_get(machine, "gpu"), "name", ""));
	return mem_printf("%s%012" PRIx64 ".json", LINK, hash & 0xffffffffffffu);
}

/* rename() replaces the old link atomically. */
static void link_make(const char *folder, const char *name, const char *file) {
	char *path = mem_printf("%s%s", folder, name), *made = mem_printf("%s.%ld", path, (long)getpid());
	struct stat info;
	bool ours = lstat(path, &info) != 0 || S_ISLNK(info.st_mode);
	unlink(made);
	if (ours && symlink(file, made) == 0 && rename(made, path) != 0)
		unlink(made);
	free(made);
	free(path);
}

void profile_link(const json_t *profile, const char *path) {
	const json_t *machine = json_object_get(profile, "machine");
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
	char *folder = mem_printf("%.*s", (int)(file - path), path);
	char *expected = profile_file_name("", js_string_or(machine, "fingerprint", ""));
	if (strcmp(file, expected) == 0 && !js_bool_or(machine, "synthetic", false)) {
		char *name = link_name(machine);
		link_make(folder, name, file);
		free(name);
	}
	free(expected);
	free(folder);
}
