/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Converts numbers to configurations and back in one walk down the diagram. */
#include <config.h>

#include "tuner/space/keys.h"

/* The edge that contains completion number `rank`. */
static uint32_t edge_of(const struct diagram *d, const struct diagram_node *node, uint64_t rank) {
	uint32_t low = 0, high = node->edges;
	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;
		if (d->edges[node->first + middle].before <= rank)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void space_config(const struct space *space, uint64_t index, int *config) {
	const struct diagram *d = space->diagram;
	if (d->keys) {
		for (int param = 0; param < (int)space->param_count; param++)
			config[param] = space_place(space, param, keys_branch(d->keys, index, param));
		return;
	}
	uint32_t at = d->root;
	for (size_t depth = 0; depth < d->depth; depth++) {
		const struct diagram_node *node = &d->nodes[at];
		const struct diagram_edge *edge = &d->edges[node->first + edge_of(d, node, index)];
		uint64_t own = d->nodes[edge->child].count, past = 0;
		int param = d->order[depth];
		index -= edge->before;
		if (index >= own) { /* most edges have one branch, and a division would cost more than everything else here */
			past = index / own;
			index %= own;
		}
		config[param] = space_place(space, param, edge->branch + (uint32_t)past);
		at = edge->child;
	}
}

bool space_index(const struct space *space, const int *config, uint64_t *index) {
	const struct diagram *d = space->diagram;
	uint32_t at = d->root;
	uint64_t sum = 0, before = 0;
	if (d->keys)
		return keys_find(d->keys, space, config, index);
	for (size_t depth = 0; depth < d->depth; depth++) {
		int param = d->order[depth], level = config[param];
		if (level != SPACE_ABSENT && (level < 0 || (size_t)level >= space->params[param].count))
			return false;
		at = diagram_child(d, at, space_branch(space, param, level), &before);
		if (at == DIAGRAM_DEAD)
			return false;
		sum += before;
	}
	*index = sum;
	return true;
}

uint64_t space_sample(const struct space *space, struct rng *rng) {
	return rng_below(rng, space_valid(space));
}
