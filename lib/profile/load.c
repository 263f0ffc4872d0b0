/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/profile/machine_impl.h"

/* Lists a folder's contents for the error message of a search that finds nothing. */
struct survey {
	size_t seen, foreign, bad;
	char why[200]; /* the first one that cannot be read */
};

/* Content of a regular file; devices and pipes are refused, because they could block. */
static char *file_read(const char *path, size_t *size, const struct ssp_message *message) {
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat about;
	char *text = NULL;
	ssize_t got = 1;
	*size = 0;
	if (fd < 0 || fstat(fd, &about) != 0) {
		ssp_message_set(message, "%.200s: %s", path, strerror(errno));
	} else if (!S_ISREG(about.st_mode) || about.st_size > SSP_FILE_MAX) {
		ssp_message_set(message, "%.200s: not a regular file of at most 16 MiB", path);
	} else if (!(text = malloc((size_t)about.st_size + 1))) {
		ssp_message_set(message, "out of memory");
	} else {
		while (*size < (size_t)about.st_size && got > 0) {
			got = read(fd, text + *size, (size_t)about.st_size - *size);
			*size += got > 0 ? (size_t)got : 0;
		}
	}
	if (fd >= 0)
		close(fd);
	return text;
}

static struct sweetspot_profile *file_load(const char *path, const struct ssp_machine *here,
                                           const struct ssp_message *message) {
	char why[SWEETSPOT_MESSAGE] = "";
	struct ssp_message inner = {why, sizeof why};
	size_t size;
	char *text = file_read(path, &size, message);
	struct sweetspot_profile *profile = text ? ssp_parse(text, size, &inner) : NULL;
	free(text);
	if (text && !profile)
		ssp_message_set(message, "%.200s: %s", path, why);
	if (!profile)
		return NULL;
	profile->path = ssp_arena_text(profile->arena, path);
	const char *differs = ssp_machine_differs(&profile->machine, here, profile->arena);
	if (differs)
		ssp_foreign_set(profile, differs);
	return profile;
}

/* Profiles of a CPU come before those of a GPU, which name the same kernels; then the newest. */
static bool is_better(const struct sweetspot_profile *a, const struct sweetspot_profile *b) {
	if (!b || !a->machine.gpu != !b->machine.gpu)
		return !b || !a->machine.gpu;
	int order = strcmp(a->created, b->created);
	return order > 0 || (order == 0 && strcmp(a->path, b->path) < 0);
}

static void candidate_consider(const char *path, const struct ssp_machine *here, struct sweetspot_profile **best,
                               struct survey *survey) {
	struct ssp_message why = {survey->why, survey->bad ? 0 : sizeof survey->why};
	struct sweetspot_profile *profile = file_load(path, here, &why);
	survey->bad += !profile;
	survey->foreign += profile && profile->foreign;
	if (profile && profile->path && !profile->foreign && is_better(profile, *best)) {
		sweetspot_close(*best);
		*best = profile;
	} else {
		sweetspot_close(profile);
	}
}

static bool is_json(const char *name) {
	size_t length = strlen(name);
	return name[0] != '.' && length > 5 && strcmp(name + length - 5, ".json") == 0;
}

static struct sweetspot_profile *link_load(const char *folder, const struct ssp_machine *here, const char *gpu,
                                           size_t gpu_size) {
	struct ssp_message none = {NULL, 0};
	char path[PATH_MAX], name[SSP_LINK_SIZE];
	ssp_machine_link(here, gpu, gpu_size, name);
	if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path || access(path, R_OK) != 0)
		return NULL;
	struct sweetspot_profile *profile = file_load(path, here, &none);
	if (profile && !profile->foreign)
		return profile;
	sweetspot_close(profile);
	return NULL;
}

/* Try the names first, because a fleet may have thousands of profiles: the CPU's, then the GPUs'. */
static struct sweetspot_profile *links_load(const char *folder, const struct ssp_machine *here) {
	struct sweetspot_profile *found = link_load(folder, here, "", 0);
	for (const char *gpu = here->gpu; !found && gpu && *gpu;) {
		size_t size = strcspn(gpu, "\n");
		found = link_load(folder, here, gpu, size);
		gpu += size + (gpu[size] == '\n');
	}
	return found;
}

static struct sweetspot_profile *folder_load(const char *path, const struct ssp_machine *here,
                                             const struct ssp_message *message) {
	struct sweetspot_profile *best = NULL;
	struct survey survey = {.seen = 0};
	struct dirent *one;
	char name[PATH_MAX];
	DIR *folder = opendir(path);
	while (folder && survey.seen < SSP_FOLDER_MAX && (one = readdir(folder))) {
		if (!is_json(one->d_name) || snprintf(name, sizeof name, "%s/%s", path, one->d_name) >= (int)sizeof name)
			continue;
		survey.seen++;
		candidate_consider(name, here, &best, &survey);
	}
	if (folder)
		closedir(folder);
	else
		ssp_message_set(message, "%.200s: %s", path, strerror(errno));
	if (folder && !best)
		ssp_message_set(message, "%.200s: no profile of this machine: %zu of other machines, %zu unreadable%s%s", path,
		                survey.foreign, survey.bad, survey.bad ? "; " : "", survey.bad ? survey.why : "");
	return best;
}

struct sweetspot_profile *ssp_load(const char *path, const struct ssp_machine *here,
                                   const struct ssp_message *message) {
	struct stat about;
	bool folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
	struct sweetspot_profile *profile = folder ? links_load(path, here) : file_load(path, here, message);
	if (folder)
		return profile ? profile : folder_load(path, here, message);
	if (profile && profile->foreign)
		ssp_message_set(message, "%.200s is not a profile of this machine: %s", path, profile->foreign);
	return profile;
}
