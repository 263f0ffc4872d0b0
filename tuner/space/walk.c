/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/space/repair.h"
#include "tuner/space/walk.h"

enum { EFFORT_MAX = 1 << 18 };

void walk_start(struct walk *walk, const struct space *space, uint64_t index, uint64_t *out, size_t max) {
	const struct diagram *d = space->diagram;
	*walk = (struct walk){.space = space, .index = index, .out = out, .max = max};
	space_config(space, index, walk->config);
	walk->path[0] = d->root;
	for (size_t depth = 0; depth < d->depth; depth++) {
		int param = d->order[depth];
		uint64_t before = 0;
		walk->position[param] = (int)depth;
		walk->path[depth + 1] =
			diagram_child(d, walk->path[depth], space_branch(space, param, walk->config[param]), &before);
		walk->before[depth + 1] = walk->before[depth] + before;
	}
}

bool walk_rest(const struct walk *walk, uint32_t node, size_t depth, uint64_t *index) {
	const struct diagram *d = walk->space->diagram;
	for (; node != walk->path[depth]; depth++) {
		int param = d->order[depth];
		uint64_t before = 0;
		node = diagram_child(d, node, space_branch(walk->space, param, walk->config[param]), &before);
		if (node == DIAGRAM_DEAD)
			return false;
		*index += before;
	}
	*index += walk->index - walk->before[depth];
	return true;
}

static void strict_node(struct walk *walk, uint32_t node, size_t depth, size_t changes, uint64_t index);

static void strict_branch(struct walk *walk, uint32_t node, size_t depth, uint32_t branch, size_t changes,
                          uint64_t index) {
	const struct diagram *d = walk->space->diagram;
	uint64_t before = 0;
	uint32_t child = diagram_child(d, node, branch, &before);
	if (child != DIAGRAM_DEAD)
		strict_node(walk, child, depth + 1, changes, index + before);
}

/* Adds the completions of this node with this many more changes. */
static void strict_node(struct walk *walk, uint32_t node, size_t depth, size_t changes, uint64_t index) {
	const struct diagram *d = walk->space->diagram;
	if (changes > d->depth - depth || walk->count == walk->max || ++walk->effort > EFFORT_MAX)
		return;
	if (changes == 0 && node == walk->path[depth]) {
		walk->out[walk->count++] = index + walk->index - walk->before[depth];
		return;
	}
	if (depth == d->depth)
		return;
	int param = d->order[depth];
	const struct space_param *p = &walk->space->params[param];
	bool absent = walk->config[param] == SPACE_ABSENT;
	uint32_t want = space_wanted(walk->space, walk->config, param);
	for (uint32_t branch = want ? want - 1 : 0; branch <= want + 1 && branch < p->count; branch++) {
		bool change = !absent && branch != want;
		if (!change || changes > 0)
			strict_branch(walk, node, depth, branch, changes - change, index);
	}
	if (p->when)
		strict_branch(walk, node, depth, (uint32_t)p->count, changes, index);
}

void walk_strict(struct walk *walk) {
	for (size_t changes = 1; changes <= walk->space->param_count; changes++)
		strict_node(walk, walk->space->diagram->root, 0, changes, 0);
}
