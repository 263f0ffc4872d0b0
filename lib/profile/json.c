/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "lib/profile/json.h"

#include <string.h>

#include "lib/profile/profile_impl.h"

static bool find_range(const struct ssp_sizes *sizes, const sweetspot_config *config, size_t *range) {
	for (*range = 0; *range < sizes->range_count; (*range)++)
		if (&sizes->ranges[*range].config == config)
			return true;
	return false;
}

struct ssp_place ssp_place_of(const sweetspot_profile *profile, const sweetspot_config *config) {
	struct ssp_place place = {0};
	for (size_t i = 0; i < profile->entry_count; i++)
		if (&profile->entries[i].config == config)
			return (struct ssp_place){.is_entry = true, .at = i};
	while (place.at < profile->sizes_count && !find_range(&profile->sizes[place.at], config, &place.range))
		place.at++;
	return place;
}

/* Without "proven", as in older profiles, the verdict stands, and an entry that somebody wrote without a verdict is
 * meant to be used. Where the baseline fails, any setting that works is better. */
enum ssp_use ssp_use_of(const json_t *entry) {
	const json_t *said = json_object_get(entry, "verdict");
	const char *verdict = said ? json_string_value(said) : "faster";
	bool open = !verdict || json_is_false(json_object_get(entry, "proven"));
	if (!open && (strcmp(verdict, "faster") == 0 || strcmp(verdict, "no baseline") == 0))
		return SSP_PROVEN;
	return !open && (strcmp(verdict, "tie") == 0 || strcmp(verdict, "slower") == 0) ? SSP_KEEPS : SSP_OPEN;
}
