/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "tuner/profile/profile.h"

enum { LISTED_MAX = 4096, SEARCHED_MAX = 1 << 16 };

static int is_profile(const struct dirent *one) {
	return profile_is_file(one->d_name);
}

char **profile_folder_files(const char *folder, size_t *count, struct err *err) {
	struct dirent **found = NULL;
	int files = scandir(folder, &found, is_profile, alphasort);
	*count = 0;
	if (files < 0) {
		err_set(err, ERR_USAGE, NULL, "%s: %s", folder, strerror(errno));
		return NULL;
	}
	char **paths = mem_alloc((size_t)files + 1, sizeof *paths);
	for (int i = 0; i < files; i++) {
		if (files <= LISTED_MAX)
			paths[(*count)++] = mem_printf("%s/%s", folder, found[i]->d_name);
		free(found[i]);
	}
	free(found);
	if (*count)
		return paths;
	free(paths);
	err_set(err, files ? ERR_USAGE : ERR_NOTHING, "the name of a profile ends in .json",
	        files ? "%s holds more than 4096 files" : "%s does not hold any profile", folder);
	return NULL;
}

static bool is_of(const json_t *profile, const char *fingerprint) {
	return strcmp(js_string_or(json_object_get(profile, "machine"), "fingerprint", ""), fingerprint) == 0;
}

/* Searches files of any name, and skips those that cannot be read. */
static json_t *folder_search(const char *folder, const char *fingerprint) {
	json_t *best = NULL;
	DIR *dir = opendir(folder);
	struct dirent *one;
	for (int seen = 0; dir && seen < SEARCHED_MAX && (one = readdir(dir));) {
		if (!profile_is_file(one->d_name))
			continue;
		struct err ignored = {0};
		mem_auto char *path = mem_printf("%s/%s", folder, one->d_name);
		js_auto json_t *profile = sys_is_plain_file(path) ? profile_load(path, &ignored) : NULL;
		bool newer = !best || strcmp(js_string_or(profile, "created", ""), js_string_or(best, "created", "")) > 0;
		seen++;
		if (profile && is_of(profile, fingerprint) && newer) {
			json_decref(best);
			best = json_incref(profile);
		}
	}
	if (dir)
		closedir(dir);
	return best;
}

static json_t *folder_at(const char *folder, const char *fingerprint, struct err *err) {
	mem_auto char *path = profile_file_name(folder, fingerprint);
	json_t *profile = sys_is_plain_file(path) ? profile_load(path, err) : folder_search(folder, fingerprint);
	if (profile && !is_of(profile, fingerprint)) {
		json_decref(profile);
		profile = folder_search(folder, fingerprint);
	}
	if (!profile && err->code == ERR_OK)
		err_set(err, ERR_NOTHING, "tune on this machine; `sweetspot machine` shows its properties",
		        "%s does not hold a profile of this machine", folder);
	return profile;
}

json_t *profile_at(const char *path, const char *fingerprint, struct err *err) {
	struct stat info;
	if (!fingerprint)
		return NULL;
	if (strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return folder_at(path, fingerprint, err);
	json_t *profile = profile_load(path, err);
	if (!profile || is_of(profile, fingerprint))
		return profile;
	err_set(err, ERR_NOTHING, "tune on this machine; `sweetspot machine` shows its properties",
	        "%s comes from another machine", path);
	json_decref(profile);
	return NULL;
}

/* Frees the folder, which may be NULL. */
static json_t *place_at(char *folder, const char *fingerprint) {
	struct err ignored = {0};
	json_t *profile = folder && access(folder, F_OK) == 0 ? profile_at(folder, fingerprint, &ignored) : NULL;
	free(folder);
	return profile;
}

json_t *profile_find(const char *fingerprint, struct err *err) {
	const char *set = getenv("SWEETSPOT_PROFILE");
	struct err ignored = {0};
	if (!fingerprint)
		return NULL;
	if (set && *set)
		return profile_at(set, fingerprint, err);
	json_t *profile = place_at(sys_config_dir(&ignored), fingerprint);
	if (!profile)
		profile = place_at(sys_data_dir(&ignored), fingerprint);
	const char *const sites[] = {sys_site_dir(), "/etc/sweetspot"};
	for (size_t i = 0; i < 2 && !profile; i++) {
		profile = place_at(mem_strdup(sites[i]), fingerprint);
		if (!profile)
			profile = place_at(mem_printf("%s/profiles.d", sites[i]), fingerprint);
	}
	if (!profile)
		err_set(err, ERR_NOTHING, "tune on this machine, or name a profile or a folder of them in SWEETSPOT_PROFILE",
		        "no profile of this machine was found");
	return profile;
}
