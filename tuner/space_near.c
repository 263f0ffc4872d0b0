/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Neighbours: first those that differ in one parameter and nothing else, then those that need a repair. */
#include <config.h>

#include "tuner/space_repair.h"

struct near {
	const struct space *space;
	int config[SPACE_PARAMS_MAX], fixed[SPACE_PARAMS_MAX];
	uint64_t *out;
	size_t count, max, plain; /* plain ones are distinct by nature */
};

static bool plain_index(struct near *near, int param, int place, uint64_t *index) {
	int was = near->config[param];
	near->config[param] = place;
	bool valid = space_index(near->space, near->config, index);
	near->config[param] = was;
	return valid;
}

static bool repaired_index(struct near *near, int param, int place, uint64_t *index) {
	near->fixed[param] = place;
	bool found = space_repair(near->space, near->config, near->fixed, near->space->param_count, index);
	near->fixed[param] = REPAIR_FREE;
	for (size_t i = near->plain; found && i < near->count; i++)
		found = near->out[i] != *index;
	return found;
}

static void add(struct near *near, int param, int place, bool plain) {
	uint64_t index;
	bool valid = plain_index(near, param, place, &index);
	if (!plain)
		valid = !valid && repaired_index(near, param, place, &index);
	if (valid && near->count < near->max)
		near->out[near->count++] = index;
}

/* The next value that the parameter has in any valid configuration. */
static void add_next(struct near *near, int param, int step, bool plain) {
	int count = (int)near->space->params[param].count, place = near->config[param] + step;
	while (place >= 0 && place < count && !near->space->diagram->used[param][place])
		place += step;
	if (place >= 0 && place < count)
		add(near, param, place, plain);
}

static void add_all(struct near *near, enum space_near kind, bool plain) {
	for (int param = 0; param < (int)near->space->param_count && near->count < near->max; param++) {
		const struct space_param *p = &near->space->params[param];
		if (near->config[param] == SPACE_ABSENT)
			continue;
		if (kind == SPACE_ADJACENT && p->ordered) {
			add_next(near, param, -1, plain);
			add_next(near, param, 1, plain);
			continue;
		}
		for (int place = 0; place < (int)p->count && near->count < near->max; place++)
			if (place != near->config[param])
				add(near, param, place, plain);
	}
}

size_t space_near(const struct space *space, uint64_t index, enum space_near kind, uint64_t *out, size_t max) {
	struct near near = {.space = space, .out = out, .max = max};
	space_config(space, index, near.config);
	for (size_t i = 0; i < space->param_count; i++)
		near.fixed[i] = REPAIR_FREE;
	add_all(&near, kind, true);
	near.plain = near.count;
	add_all(&near, kind, false);
	return near.count;
}
