/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings of a search: what they gain, and the table that the library reads. */
#include <math.h>

#include "tuner/regions/regions_impl.h"

void regions_settings_finish(const struct regions_search *search) {
	struct regions_found *found = search->found;
	found->effects = search->effects;
	found->teams = search->teams;
	found->team_count = search->team_count;
	found->changed = 0;
	for (size_t i = 0; i < search->baseline->count; i++) {
		const struct regions_setting *setting = &found->settings[i];
		double log = search->effects[i * search->team_count + search->level[i]].log;
		if (search->seen && isfinite(search->seen[i]))
			log = search->seen[i];
		found->gain[i] = isfinite(log) && setting->threads ? exp(-log) : NAN;
		found->changed += regions_setting_changes(setting);
	}
}
