/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Walks near the path of a configuration through the diagram. */
#ifndef TUNER_SPACE_WALK_H
#define TUNER_SPACE_WALK_H
#include "tuner/space/impl.h"

struct walk {
	const struct space *space;
	int config[SPACE_PARAMS_MAX], position[SPACE_PARAMS_MAX]; /* position: the depth of each parameter */
	uint32_t path[SPACE_PARAMS_MAX + 1];                      /* the node at each depth */
	uint64_t before[SPACE_PARAMS_MAX +
	                1]; /* at each depth: the part of the configuration's number that earlier depths contribute */
	uint64_t index, *out;
	size_t count, max, effort;
};

void walk_start(struct walk *walk, const struct space *space, uint64_t index, uint64_t *out, size_t max);
/* Follows the configuration's own branches from a node on, and adds to the number. */
bool walk_rest(const struct walk *walk, uint32_t node, size_t depth, uint64_t *index);
/* Adds the strictly adjacent neighbours. */
void walk_strict(struct walk *walk);

#endif
