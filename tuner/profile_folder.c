/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/profile_folder.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/js.h"
#include "src/base/mem.h"
#include "src/base/sys.h"
#include "tuner/profile.h"

enum { DIGITS = 12, FILES_MAX = 1 << 16 };

char *profile_file_name(const char *folder, const char *fingerprint) {
	const char *colon = strchr(fingerprint, ':');
	size_t size = strlen(folder);
	return mem_printf("%s%sprofile-%.*s.json", folder, size && folder[size - 1] != '/' ? "/" : "", DIGITS,
	                  colon ? colon + 1 : fingerprint);
}

/* FNV-1a (G. Fowler, L. Noll, K.-P. Vo; IETF draft-eastlake-fnv). lib/profile_key.c makes the same of what the system
 * tells, and a test holds them together. */
static uint64_t byte_add(uint64_t hash, char byte) {
	return (hash ^ (unsigned char)byte) * 0x100000001b3u;
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
	uint64_t hash = words_add(0xcbf29ce484222325u, js_string_or(machine, "cpu", ""));
	char text[32];
	for (size_t i = 0; i < 7; i++) {
		int64_t number =
			i < 4 ? js_int_or(machine, numbers[i], 0) : js_int_or(json_object_get(machine, "caches"), caches[i - 4], 0);
		snprintf(text, sizeof text, "%" PRIi64, number);
		hash = words_add(hash, text);
	}
	hash = words_add(hash, js_string_or(json_object_get(machine, "gpu"), "name", ""));
	return mem_printf("machine-%012" PRIx64 ".json", hash & 0xffffffffffffu);
}

/* A new link takes the place of the old one at once. */
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

static bool is_of(const json_t *profile, const char *fingerprint) {
	return strcmp(js_string_or(json_object_get(profile, "machine"), "fingerprint", ""), fingerprint) == 0;
}

static bool is_json(const char *name) {
	size_t length = strlen(name);
	return name[0] != '.' && length > 5 && strcmp(name + length - 5, ".json") == 0 && strncmp(name, "machine-", 8) != 0;
}

/* Files of other names; what can't be read is none of ours. */
static json_t *folder_search(const char *folder, const char *fingerprint) {
	json_t *best = NULL;
	DIR *dir = opendir(folder);
	struct dirent *one;
	for (int seen = 0; dir && seen < FILES_MAX && (one = readdir(dir));) {
		if (!is_json(one->d_name))
			continue;
		struct err ignored = {0};
		char *path = mem_printf("%s/%s", folder, one->d_name);
		struct stat info;
		bool plain = stat(path, &info) == 0 && S_ISREG(info.st_mode);
		json_t *profile = plain ? profile_load(path, &ignored) : NULL;
		bool newer = !best || strcmp(js_string_or(profile, "created", ""), js_string_or(best, "created", "")) > 0;
		seen++;
		if (profile && is_of(profile, fingerprint) && newer) {
			json_decref(best);
			best = json_incref(profile);
		}
		json_decref(profile);
		free(path);
	}
	if (dir)
		closedir(dir);
	return best;
}

static json_t *folder_at(const char *folder, const char *fingerprint, struct err *err) {
	char *path = profile_file_name(folder, fingerprint);
	json_t *profile = access(path, F_OK) == 0 ? profile_load(path, err) : folder_search(folder, fingerprint);
	if (profile && !is_of(profile, fingerprint)) {
		json_decref(profile);
		profile = folder_search(folder, fingerprint);
	}
	if (!profile && err->code == ERR_OK)
		err_set(err, ERR_NOTHING, "tune on this machine; `sweetspot machine` shows what makes it another",
		        "%s has no profile of this machine", folder);
	free(path);
	return profile;
}

json_t *profile_at(const char *path, const char *fingerprint, struct err *err) {
	struct stat info;
	if (strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return folder_at(path, fingerprint, err);
	json_t *profile = profile_load(path, err);
	if (!profile || is_of(profile, fingerprint))
		return profile;
	err_set(err, ERR_NOTHING, "tune on this machine; `sweetspot machine` shows what makes it another",
	        "%s was made on another machine", path);
	json_decref(profile);
	return NULL;
}

/* Takes the folder, which may be NULL. */
static json_t *place_at(char *folder, const char *fingerprint) {
	struct err ignored = {0};
	json_t *profile = folder && access(folder, F_OK) == 0 ? profile_at(folder, fingerprint, &ignored) : NULL;
	free(folder);
	return profile;
}

json_t *profile_find(const char *fingerprint, struct err *err) {
	const char *set = getenv("SWEETSPOT_PROFILE");
	struct err ignored = {0};
	if (set && *set)
		return profile_at(set, fingerprint, err);
	json_t *profile = place_at(sys_config_dir(&ignored), fingerprint);
	if (!profile)
		profile = place_at(sys_data_dir(&ignored), fingerprint);
	if (!profile)
		profile = place_at(mem_strdup(sys_site_dir()), fingerprint);
	if (!profile)
		profile = place_at(mem_strdup("/etc/sweetspot"), fingerprint);
	if (!profile)
		err_set(err, ERR_NOTHING, "tune on this machine, or name a profile or a folder of them in SWEETSPOT_PROFILE",
		        "there is no profile of this machine");
	return profile;
}
