/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Walks near the path of one configuration through the diagram. */
#ifndef TUNER_SPACE_WALK_H
#define TUNER_SPACE_WALK_H
#include "tuner/space/impl.h"

struct walk {
	const struct space *space;
	int config[SPACE_PARAMS_MAX], position[SPACE_PARAMS_MAX]; /* position: of each parameter in the diagram */
	uint32_t path[SPACE_PARAMS_MAX + 1];                      /* nodes by depth */
	uint64_t before[SPACE_PARAMS_MAX + 1]; /* by depth: the configuration's number as far as earlier depths give it */
	uint64_t index, *out;
	size_t count, max, effort;
};

void walk_start(struct walk *walk, const struct space *space, uint64_t index, uint64_t *out, size_t max);
/* From a node on with the configuration's own branches; adds to the number. */
bool walk_rest(const struct walk *walk, uint32_t node, size_t depth, uint64_t *index);
/* Adds the strictly adjacent neighbours. */
void walk_strict(struct walk *walk);

#endif
