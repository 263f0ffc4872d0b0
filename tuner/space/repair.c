/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shortest paths through the diagram, depth by depth: of the paths to a node only the cheapest is kept. The number of
 * changes is bounded, and the bound is raised until a path reaches the end, because few changes keep the layers small.
 */
#include <config.h>

#include "tuner/space/repair.h"

#include <stdlib.h>

enum { EFFORT_MAX = 1 << 17 };

/* A path to a node; cost: changes << REPAIR_SHIFT | steps. */
struct reach {
	uint64_t cost, index;
	uint32_t node;
};

struct layer {
	struct reach *at;
	size_t count, room;
};

struct search {
	const struct space *space;
	const int *from, *fixed;
	uint64_t changes_max;
	size_t effort;
};

static void push(struct layer *layer, struct reach reach) {
	if (layer->count == layer->room) {
		layer->room = layer->room * 2 + 64;
		layer->at = mem_grow(layer->at, layer->room, sizeof *layer->at);
	}
	layer->at[layer->count++] = reach;
}

static int order(const void *left, const void *right) {
	const struct reach *a = left, *b = right;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->cost != b->cost)
		return a->cost < b->cost ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static void keep_cheapest(struct layer *layer) {
	size_t kept = 0;
	if (layer->count > 1)
		qsort(layer->at, layer->count, sizeof *layer->at, order);
	for (size_t i = 0; i < layer->count; i++)
		if (kept == 0 || layer->at[kept - 1].node != layer->at[i].node)
			layer->at[kept++] = layer->at[i];
	layer->count = kept;
}

uint32_t space_wanted(const struct space *space, const int *from, int param) {
	const struct space_param *p = &space->params[param];
	if (from[param] != SPACE_ABSENT)
		return (uint32_t)from[param];
	return p->ordered ? (uint32_t)(p->count - 1) / 2 : 0;
}

uint64_t repair_cost(const struct space *space, const int *from, int param, uint32_t branch) {
	const struct space_param *p = &space->params[param];
	uint32_t want = space_wanted(space, from, param);
	if (branch == p->count)
		return 0;
	uint64_t steps = branch > want ? branch - want : want - branch;
	if (!p->ordered && from[param] != SPACE_ABSENT)
		steps = steps > 0;
	return from[param] == SPACE_ABSENT ? steps : (uint64_t)(steps > 0) << REPAIR_SHIFT | steps;
}

static void follow(struct search *s, const struct reach *reach, int param, uint32_t branch, struct layer *next) {
	uint64_t before, own = s->fixed[param] != REPAIR_FREE ? 0 : repair_cost(s->space, s->from, param, branch);
	uint64_t cost = reach->cost + own;
	s->effort++;
	if (cost >> REPAIR_SHIFT > s->changes_max)
		return;
	uint32_t child = diagram_child(s->space->diagram, reach->node, branch, &before);
	if (child != DIAGRAM_DEAD)
		push(next, (struct reach){cost, reach->index + before, child});
}

/* All branches of an edge lead to the same child, so that the nearest one is enough. */
static void follow_all(struct search *s, const struct reach *reach, int param, struct layer *next) {
	const struct diagram *d = s->space->diagram;
	const struct diagram_node *node = &d->nodes[reach->node];
	uint32_t want = space_wanted(s->space, s->from, param);
	for (uint32_t i = 0; i < node->edges; i++) {
		uint32_t first = d->edges[node->first + i].branch, last = first + diagram_run(d, node, i) - 1;
		follow(s, reach, param, want < first ? first : want > last ? last : want, next);
	}
}

static void expand(struct search *s, const struct reach *reach, int param, struct layer *next) {
	const struct space_param *p = &s->space->params[param];
	if (s->fixed[param] != REPAIR_FREE) {
		follow(s, reach, param, space_branch(s->space, param, s->fixed[param]), next);
	} else if (s->from[param] == SPACE_ABSENT || reach->cost >> REPAIR_SHIFT < s->changes_max) {
		follow_all(s, reach, param, next);
	} else {
		follow(s, reach, param, (uint32_t)s->from[param], next);
		if (p->when)
			follow(s, reach, param, (uint32_t)p->count, next);
	}
}

static bool run(struct search *s, uint64_t *index) {
	const struct diagram *d = s->space->diagram;
	struct layer now = {0}, next = {0};
	push(&now, (struct reach){.node = d->root});
	for (size_t depth = 0; depth < d->depth && s->effort < EFFORT_MAX; depth++) {
		next.count = 0;
		for (size_t i = 0; i < now.count && s->effort < EFFORT_MAX; i++)
			expand(s, &now.at[i], d->order[depth], &next);
		keep_cheapest(&next);
		struct layer swap = now;
		now = next;
		next = swap;
	}
	bool found = now.count > 0 && s->effort < EFFORT_MAX;
	if (found)
		*index = now.at[0].index;
	free(now.at);
	free(next.at);
	return found;
}

bool space_repair(const struct space *space, const int *from, const int *fixed, size_t changes_max, uint64_t *index) {
	struct search search = {.space = space, .from = from, .fixed = fixed};
	for (size_t i = 0; i < space->param_count; i++)
		if (fixed[i] != REPAIR_FREE && !space->diagram->used[i][space_branch(space, (int)i, fixed[i])])
			return false;
	/* The bounds are 0, 1, 2, 4, ..: cost counts changes first, so that a larger bound than needed finds the same path.
	 */
	for (uint64_t bound = 0;; bound = bound ? bound * 2 : 1) {
		search.changes_max = bound < changes_max ? bound : changes_max;
		search.effort = 0;
		if (run(&search, index))
			return true;
		if (bound >= changes_max || search.effort >= EFFORT_MAX)
			return false;
	}
}
