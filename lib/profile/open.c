/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/profile/machine_impl.h"

enum { PLACES = 6 };
typedef char place[PATH_MAX];

/* The XDG Base Directory Specification says to ignore relative paths. False if the path does not fit or is unknown. */
static bool user_place(place path, const char *variable, const char *under_home) {
	const char *set = secure_getenv(variable), *home = secure_getenv("HOME");
	if (set && set[0] == '/')
		return snprintf(path, PATH_MAX, "%s/sweetspot", set) < PATH_MAX;
	return home && home[0] == '/' && snprintf(path, PATH_MAX, "%s/%s/sweetspot", home, under_home) < PATH_MAX;
}

static size_t places_list(place *places) {
	size_t count = 0;
	count += user_place(places[count], "XDG_CONFIG_HOME", ".config");
	count += user_place(places[count], "XDG_DATA_HOME", ".local/share");
	static const char *const sites[] = {SSP_SYSCONFDIR, "/etc"};
	for (size_t i = 0; i < (strcmp(SSP_SYSCONFDIR, "/etc") ? 2 : 1); i++) {
		count += snprintf(places[count], PATH_MAX, "%s/sweetspot", sites[i]) < PATH_MAX;
		count += snprintf(places[count], PATH_MAX, "%s/sweetspot/profiles.d", sites[i]) < PATH_MAX;
	}
	return count;
}

/* A file in a default place may belong to another machine; then try the next place. */
static struct sweetspot_profile *places_load(const struct ssp_machine *here, const struct ssp_message *message) {
	struct sweetspot_profile *found = NULL;
	char *why = calloc(1, SWEETSPOT_MESSAGE);
	place *places = calloc(PLACES, sizeof *places);
	size_t count = places && why ? places_list(places) : 0;
	ssp_message_set(message, "no profile found: tune something first (sweetspot tune), or set SWEETSPOT_PROFILE");
	for (size_t i = 0; i < count && !found; i++) {
		struct ssp_message inner = {why, SWEETSPOT_MESSAGE};
		if (access(places[i], F_OK) != 0)
			continue;
		found = ssp_load(places[i], here, &inner);
		if (found && !found->foreign)
			break;
		sweetspot_close(found);
		found = NULL;
		ssp_message_set(message, "%s", why);
	}
	free(places);
	free(why);
	return found;
}

sweetspot_profile *sweetspot_open(const char *path, char *text, size_t size) {
	struct ssp_message message = {text, size};
	struct ssp_arena *arena = ssp_arena_new();
	struct ssp_machine here;
	struct sweetspot_profile *profile = NULL;
	int before = errno;
	if (!arena) {
		ssp_message_set(&message, "out of memory");
		return NULL;
	}
	ssp_message_set(&message, "%s", "");
	ssp_machine_read("", arena, &here);
	const char *set = path ? path : secure_getenv("SWEETSPOT_PROFILE");
	profile = set && *set ? ssp_load(set, &here, &message) : places_load(&here, &message);
	if (profile && !profile->foreign)
		ssp_message_set(&message, "%s", "");
	ssp_arena_free(arena);
	errno = before;
	return profile;
}

const char *sweetspot_about(const sweetspot_profile *profile, const char *what) {
	static const struct {
		const char *name;
		size_t at;
	} known[] = {
		{"path", offsetof(struct sweetspot_profile, path)},
		{"fingerprint", offsetof(struct sweetspot_profile, fingerprint)},
		{"created", offsetof(struct sweetspot_profile, created)},
		{"generator", offsetof(struct sweetspot_profile, generator)},
		{"compiler", offsetof(struct sweetspot_profile, compiler)},
		{"cflags", offsetof(struct sweetspot_profile, cflags)},
		{"foreign", offsetof(struct sweetspot_profile, foreign)},
		{"cpu", offsetof(struct sweetspot_profile, machine.cpu)},
		{"gpu", offsetof(struct sweetspot_profile, machine.gpu)},
	};
	for (size_t i = 0; profile && what && i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].name, what) == 0)
			return *(const char *const *)((const char *)profile + known[i].at);
	return NULL;
}

const char *sweetspot_kernel(const sweetspot_profile *profile, size_t i) {
	for (size_t k = 0; profile && k < profile->kernel_count; k++)
		if (!profile->kernels[k].again && i-- == 0)
			return profile->kernels[k].name;
	return NULL;
}
