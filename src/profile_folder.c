/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/profile_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"

enum { FILES_MAX = 4096 };

/* A second name of a profile in the same folder (tuner/profile_folder.h). */
static bool is_link(const char *name) {
	static const char start[] = "machine-";
	enum { DIGITS = 12 };
	return strncmp(name, start, sizeof start - 1) == 0 &&
	       strspn(name + sizeof start - 1, "0123456789abcdef") == DIGITS &&
	       strcmp(name + sizeof start - 1 + DIGITS, ".json") == 0;
}

static int is_profile(const struct dirent *one) {
	size_t length = strlen(one->d_name);
	return one->d_name[0] != '.' && length > 5 && strcmp(one->d_name + length - 5, ".json") == 0 &&
	       !is_link(one->d_name);
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
		if (files <= FILES_MAX)
			paths[(*count)++] = mem_printf("%s/%s", folder, found[i]->d_name);
		free(found[i]);
	}
	free(found);
	if (*count)
		return paths;
	free(paths);
	err_set(err, files ? ERR_USAGE : ERR_NOTHING, "a profile's name ends in .json",
	        files ? "%s holds more than 4096 files" : "%s holds no profile", folder);
	return NULL;
}

char *profile_folder_name(const char *folder, const char *fingerprint, bool whole) {
	const char *digits = strchr(fingerprint, ':') ? strchr(fingerprint, ':') + 1 : fingerprint;
	return mem_printf("%s/profile-%.*s.json", folder, whole ? 64 : 12, digits);
}
