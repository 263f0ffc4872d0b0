/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings of a search: what they gain, and the table that the library reads. */
#include <math.h>

#include "base/mem.h"
#include "base/sys.h"
#include "tuner/regions/search_impl.h"

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

static int rows_write(const struct regions_search *search, const struct regions_setting *rows, bool force,
                      struct err *err) {
	const struct regions_table table = {
		.force = force, .rows = rows, .columns = 1, .sizes = search->sizes, .sizes_count = search->sizes_count};
	mem_auto char *text = regions_table_text(&table, search->baseline);
	return sys_write_file(search->runs->options->table, text, strlen(text), err);
}

int regions_settings_write(const struct regions_search *search, struct err *err) {
	return rows_write(search, search->found->settings, search->runs->options->force, err);
}

int regions_settings_write_none(const struct regions_search *search, struct err *err) {
	mem_auto struct regions_setting *none = mem_alloc(search->baseline->count + 1, sizeof *none);
	return rows_write(search, none, false, err);
}
