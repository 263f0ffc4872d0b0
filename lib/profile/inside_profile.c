/* SPDX-License-Identifier: BSD-3-Clause */
/* The profile of this machine, for contexts: opened once, and never closed. */
#include <pthread.h>
#include <string.h>

#include "lib/inside/inside.h"

static sweetspot_profile *profile;

static void profile_open(void) {
	profile = sweetspot_open(NULL, NULL, 0);
}

static bool profile_has(const char *kernel) {
	const char *name;
	for (size_t i = 0; (name = sweetspot_kernel(profile, i)); i++)
		if (strcmp(name, kernel) == 0)
			return true;
	return false;
}

bool ssi_profile_find(const char *kernel, const struct sweetspot_value *problem, size_t count,
                      inside_setting_fn *setting, void *ctx) {
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct sweetspot_value value;
	struct sweetspot_match match;
	pthread_once(&once, profile_open);
	if (!setting)
		return profile_has(kernel);
	const sweetspot_config *config = sweetspot_lookup(profile, kernel, NULL, problem, count, &match);
	if (!config || match.status == SWEETSPOT_STALE || match.status == SWEETSPOT_FOREIGN)
		return false;
	for (size_t i = 0; sweetspot_setting(config, i, &value); i++)
		setting(ctx, &value);
	return true;
}
