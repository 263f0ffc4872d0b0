/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiled objects by a hash of what they are made from, in the build folder: many tests compile the same programs with
 * caches of their own. A file is complete or absent, `make clean` removes all, and without the folder nothing is kept.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "tests/gpu/emulator/nvrtc/program.h"

enum { PATH = 400 };

uint64_t object_key(const struct text *translated, const char *folder, const char *const *words) {
	uint64_t hash = hash_add(HASH_START, EMULATOR_STAMP, sizeof EMULATOR_STAMP);
	for (; *words; words++)
		hash = hash_add(hash, *words, strlen(*words) + 1);
	for (const char *at = translated->bytes; at;) {
		const char *found = strstr(at, folder);
		hash = hash_add(hash, at, found ? (size_t)(found - at) : strlen(at));
		at = found ? found + strlen(folder) : NULL;
	}
	return hash;
}

static bool object_path(char *path, const char *name) {
	return snprintf(path, PATH, "%s/%s", EMULATOR_OBJECTS, name) < PATH;
}

bool object_find(uint64_t key, struct text *object) {
	char path[PATH], name[32];
	snprintf(name, sizeof name, "%016llx", (unsigned long long)key);
	return object_path(path, name) && text_read(object, path);
}

void object_keep(uint64_t key, const struct text *object) {
	char path[PATH], temporary[PATH], name[32];
	snprintf(name, sizeof name, "%016llx", (unsigned long long)key);
	if (!object_path(path, name) || !object_path(temporary, "new-XXXXXX"))
		return;
	mkdir(EMULATOR_OBJECTS, 0777);
	int fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return;
	bool whole = write(fd, object->bytes, object->size) == (ssize_t)object->size;
	if ((close(fd) != 0) | !whole || rename(temporary, path) != 0)
		unlink(temporary);
}
