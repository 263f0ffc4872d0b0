/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Neighbours: first those that differ in one parameter and nothing else, then those that need a repair. */
#include <config.h>

#include <stdlib.h>

#include "tuner/space/repair.h"
#include "tuner/space/walk.h"

struct near {
	struct walk walk;
	enum space_near kind;
	size_t plain;      /* neighbours that differ in one parameter only, which are distinct by construction */
	uint64_t deciders; /* parameters on which conditions depend */
	int fixed[SPACE_PARAMS_MAX];
	struct repairs *repairs; /* NULL: each repair is a search of its own */
};

static bool plain_index(const struct near *near, int param, int level, uint64_t *index) {
	const struct walk *walk = &near->walk;
	size_t depth = (size_t)walk->position[param];
	uint64_t before = 0;
	uint32_t child = diagram_child(walk->space->diagram, walk->path[depth], (uint32_t)level, &before);
	*index = walk->before[depth] + before;
	return child != DIAGRAM_DEAD && walk_rest(walk, child, depth + 1, index);
}

static bool repaired_index(struct near *near, int param, int level, uint64_t *index) {
	const struct space *space = near->walk.space;
	size_t changes_max = near->kind == SPACE_PLAIN ? 0 : space->param_count;
	if (near->repairs)
		return repairs_find(near->repairs, param, (uint32_t)level, changes_max, index);
	near->fixed[param] = level;
	bool found = space_repair(space, near->walk.config, near->fixed, changes_max, index);
	near->fixed[param] = REPAIR_FREE;
	return found;
}

static bool is_known(const struct near *near, uint64_t index) {
	for (size_t i = near->plain; i < near->walk.count; i++)
		if (near->walk.out[i] == index)
			return true;
	return false;
}

static void add(struct near *near, int param, int level, bool plain) {
	uint64_t index;
	bool valid = plain_index(near, param, level, &index);
	if (!plain)
		valid = !valid && repaired_index(near, param, level, &index) && !is_known(near, index);
	if (valid && near->walk.count < near->walk.max)
		near->walk.out[near->walk.count++] = index;
}

/* Adds the next value that the parameter has in any valid configuration. */
static void add_next(struct near *near, int param, int step, bool plain) {
	const struct space *space = near->walk.space;
	int count = (int)space->params[param].count, level = near->walk.config[param] + step;
	while (level >= 0 && level < count && !space->diagram->used[param][level])
		level += step;
	if (level >= 0 && level < count)
		add(near, param, level, plain);
}

static void add_param(struct near *near, int param, bool plain) {
	const struct space_param *p = &near->walk.space->params[param];
	const uint8_t *used = near->walk.space->diagram->used[param];
	if (near->kind == SPACE_ADJACENT && p->ordered) {
		add_next(near, param, -1, plain);
		add_next(near, param, 1, plain);
		return;
	}
	for (int level = 0; level < (int)p->count && near->walk.count < near->walk.max; level++)
		if (used[level] && level != near->walk.config[param])
			add(near, param, level, plain);
}

static void add_all(struct near *near, bool plain) {
	for (int param = 0; param < (int)near->walk.space->param_count && near->walk.count < near->walk.max; param++) {
		bool hopeless = !plain && near->kind == SPACE_PLAIN && !(near->deciders >> param & 1);
		if (near->walk.config[param] != SPACE_ABSENT && !hopeless)
			add_param(near, param, plain);
	}
}

static void add_repaired(struct near *near) {
	const struct space *space = near->walk.space;
	for (size_t i = 0; i < space->param_count; i++) {
		near->fixed[i] = REPAIR_FREE;
		near->deciders |= space->whens[i].mask;
	}
	if (near->kind == SPACE_PLAIN && !near->deciders)
		return;
	near->plain = near->walk.count;
	if (near->kind != SPACE_PLAIN)
		near->repairs = repairs_new(space, near->walk.config);
	add_all(near, false);
	repairs_free(near->repairs);
}

size_t space_near(const struct space *space, uint64_t index, enum space_near kind, uint64_t *out, size_t max) {
	struct near near = {.kind = kind};
	walk_start(&near.walk, space, index, out, max);
	if (kind == SPACE_STRICT) {
		walk_strict(&near.walk);
		return near.walk.count;
	}
	add_all(&near, true);
	if (near.walk.count < max)
		add_repaired(&near);
	return near.walk.count;
}
